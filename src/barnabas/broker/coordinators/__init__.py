"""Where this broker hosts the shards of groups and transactions, and what they ask of other brokers."""
