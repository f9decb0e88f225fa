"""DescribeTopicPartitions v0 (KIP-966): topics page by page, eligible leader replicas included."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker import operations
from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.model.ids import INTERNAL_TOPICS, topic_name_problem
from barnabas.model.image import NO_LEADER, ClusterImage, PartitionImage, TopicImage
from barnabas.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
    ResponseCursor,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(
    node: Node, context: Context, request: DescribeTopicPartitionsRequest
) -> DescribeTopicPartitionsResponse:
    if _has_bad_cursor(request):
        code = ErrorCode.INVALID_REQUEST
        return DescribeTopicPartitionsResponse(
            topics=[DescribeTopicPartitionsResponseTopic(code, topic.name) for topic in request.topics]
        )
    limit = min(request.response_partition_limit, node.settings.integer("max.request.partition.size.limit"))
    if limit <= 0:
        limit = 1
    response = DescribeTopicPartitionsResponse()
    topics: list[DescribeTopicPartitionsResponseTopic] = []
    for name, start in _wanted(node.image, request):
        if limit == 0:
            response.next_cursor = ResponseCursor(name, start)
            break
        topic = node.image.topics.get(name)
        if topic is None:
            topics.append(_missing(name))
            continue
        shown = topic.partitions[start : start + limit]
        limit -= len(shown)
        topics.append(_topic(node.image, topic, shown))
        if start + len(shown) < len(topic.partitions):
            response.next_cursor = ResponseCursor(name, start + len(shown))
            break
    response.topics = topics
    return response


def _has_bad_cursor(request: DescribeTopicPartitionsRequest) -> bool:
    """A cursor names a partition, and one of the topics that are asked for."""
    cursor = request.cursor
    if cursor is None:
        return False
    foreign = bool(request.topics) and all(topic.name != cursor.topic_name for topic in request.topics)
    return foreign or cursor.partition_index < 0


def _wanted(image: ClusterImage, request: DescribeTopicPartitionsRequest) -> list[tuple[str, int]]:
    """Names in order with the first partition to show; a cursor says where the last page ended."""
    names = sorted({topic.name for topic in request.topics}) if request.topics else image.sorted_topic_names
    cursor = request.cursor
    if cursor is None:
        return [(name, 0) for name in names]
    first = cursor.partition_index
    return [(name, first if name == cursor.topic_name else 0) for name in names if name >= cursor.topic_name]


def _missing(name: str) -> DescribeTopicPartitionsResponseTopic:
    bad = topic_name_problem(name) is not None
    code = ErrorCode.INVALID_TOPIC_EXCEPTION if bad else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return DescribeTopicPartitionsResponseTopic(
        code, name, is_internal=name in INTERNAL_TOPICS, topic_authorized_operations=operations.TOPIC
    )


def _topic(
    image: ClusterImage, topic: TopicImage, shown: tuple[PartitionImage, ...]
) -> DescribeTopicPartitionsResponseTopic:
    partitions = [
        DescribeTopicPartitionsResponsePartition(
            ErrorCode.NONE if image.is_active(partition.leader) else ErrorCode.LEADER_NOT_AVAILABLE,
            partition.index,
            partition.leader if image.is_active(partition.leader) else NO_LEADER,
            partition.leader_epoch,
            partition.replicas,
            partition.isr,
            partition.elr,
            partition.last_known_elr,
            [replica for replica in partition.replicas if not image.is_active(replica)],
        )
        for partition in shown
    ]
    return DescribeTopicPartitionsResponseTopic(
        0, topic.name, topic.id, topic.is_internal, partitions, operations.TOPIC
    )
