"""The records of Kafka's internal topics, which kio does not have: one class per row, one table per topic."""
