"""Side by side with Apache Kafka."""
