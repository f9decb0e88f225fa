"""The broker in a world where chance comes from a seed: clock, disk, store, workers and network.

If you are debugging a failing seed, read in this order: `promises.py` (what is promised and which faults may
come), `faults.py` (when they come), `checkers.py` (what was found wrong). `python -m barnabas.sim --promise
NAME --seed N --verbose` prints everything that happened.

Of groups and transactions: `coordination_promises.py`, then `crews.py` (who comes and goes), `staff.py` and
`transactional_producers.py` (what they do all day), `classic_member.py`, `consumer_member.py` and
`transaction_versions.py` (what they say), `group_checkers.py` and `transaction_checkers.py`.

Of clusters: `cluster/promises.py`, `cluster/faults.py`, `cluster/checkers.py`; `cluster/door.py` is how
clients find leaders and coordinators, `cluster/store.py` how brokers see ZooKeeper, `cluster/overview.py`
what only somebody who sees all machines can know.
"""
