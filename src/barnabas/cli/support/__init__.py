"""What several tools share: command lines, connections, log lines, failures in Kafka's words."""
