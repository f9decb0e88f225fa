"""Whether something that was appended is still ours to answer for."""

from __future__ import annotations

from barnabas.broker.replication.partition import Partition


def leads_since(partition: Partition, leader_epoch: int) -> bool:
    """Whether we have led it all the time since that epoch: what we appended then is still in the log."""
    image = partition.image
    return image.leader == partition.broker_id and image.leader_epoch == leader_epoch
