"""DescribeLogDirs v1–v5 (KIP-113, KIP-827): every log directory, its partitions and the room left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(node: Node, context: Context, request: DescribeLogDirsRequest) -> DescribeLogDirsResponse:
    wanted = None
    if request.topics is not None:
        wanted = {
            TopicPartition(topic.topic, index) for topic in request.topics for index in topic.partitions
        }
    return DescribeLogDirsResponse(results=[_one(node, path, wanted) for path in node.logs.directories()])


def _one(node: Node, path: str, wanted: set[TopicPartition] | None) -> DescribeLogDirsResult:
    if node.logs.is_offline(path):
        return DescribeLogDirsResult(ErrorCode.KAFKA_STORAGE_ERROR, path)
    topics: dict[str, list[DescribeLogDirsPartition]] = {}
    for log in node.logs.in_directory(path):
        place = log.topic_partition
        if wanted is None or place in wanted:
            row = DescribeLogDirsPartition(place.partition, log.size, 0, False)
            topics.setdefault(place.topic, []).append(row)
    total, usable = node.logs.space(path)
    return DescribeLogDirsResult(
        0, path, [DescribeLogDirsTopic(name, rows) for name, rows in topics.items()], total, usable
    )
