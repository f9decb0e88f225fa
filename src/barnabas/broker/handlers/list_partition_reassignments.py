"""ListPartitionReassignments v0 (KIP-455): which partitions move, all of them or those asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.controller.reassignment import is_moving
from barnabas.model.image import ClusterImage, PartitionImage, TopicImage
from barnabas.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(
    node: Node, _context: Context, request: ListPartitionReassignmentsRequest
) -> ListPartitionReassignmentsResponse:
    """What is asked for and does not move, or does not exist, is left out."""
    found = [
        OngoingTopicReassignment(topic.name, rows)
        for topic, partitions in _asked(node.image, request)
        if (rows := [_row(partition) for partition in partitions if is_moving(partition)])
    ]
    return ListPartitionReassignmentsResponse(error_message=None, topics=found)


def _asked(
    image: ClusterImage, request: ListPartitionReassignmentsRequest
) -> Iterable[tuple[TopicImage, Iterable[PartitionImage]]]:
    if request.topics is None:
        for topic in image.topics.values():
            yield topic, topic.partitions
        return
    for asked in request.topics:
        known = image.topics.get(asked.name)
        if known is not None:
            places = (known.partition(index) for index in asked.partition_indexes)
            yield known, (partition for partition in places if partition is not None)


def _row(partition: PartitionImage) -> OngoingPartitionReassignment:
    return OngoingPartitionReassignment(
        partition.index, partition.replicas, partition.adding, partition.removing
    )
