"""Three brokers beside three brokers: replication, fail-over, and what many partitions cost."""
