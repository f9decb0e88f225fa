"""Spark's own Kafka connector beside ours: the same Spark, the same broker, the same topics."""
