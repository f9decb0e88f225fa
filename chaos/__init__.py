"""A real cluster under load from real clients, and a fault every few seconds: `make chaos MINUTES=5`.

`faults.py` chooses what happens from a seed, `load.py` and `transactional.py` write, `verdict.py` says if
every acknowledged record is there once and in order, `outages.py` how long nobody could write.
"""
