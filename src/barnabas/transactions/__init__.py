"""The transaction coordinator: which producer owns a transactional id, what its transaction has touched, and
how it ended. `states.py` has every transition, `shard.py` the operations."""
