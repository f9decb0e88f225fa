"""The partitions that this broker holds, led or followed, and how records reach their replicas."""
