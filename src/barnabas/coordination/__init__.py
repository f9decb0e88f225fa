"""What every coordinator shares: a shard turns a request into records and answers, and changes its state only
when records are replayed. `broker/coordinators/coordinator_host.py` is what appends, replays and answers."""
