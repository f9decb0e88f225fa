"""DescribeLogDirs v1–v5 (KIP-113, KIP-827): every log directory, its partitions, those on their way
there, and the room left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.log.directory import LogDirectory
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
    return DescribeLogDirsResponse(
        results=[_one(node, directory, wanted) for directory in node.logs.directories]
    )


def _one(node: Node, directory: LogDirectory, wanted: set[TopicPartition] | None) -> DescribeLogDirsResult:
    path = directory.path
    if not directory.online:
        return DescribeLogDirsResult(ErrorCode.KAFKA_STORAGE_ERROR, path)
    topics: dict[str, list[DescribeLogDirsPartition]] = {}
    for log in directory.logs.values():
        place = log.topic_partition
        if wanted is None or place in wanted:
            lag = max(0, log.high_watermark - log.log_end_offset)
            row = DescribeLogDirsPartition(place.partition, log.size, lag, False)
            topics.setdefault(place.topic, []).append(row)
    for future in node.logs.futures.within(directory):
        place = future.topic_partition
        current = node.logs.logs.get(place)
        if current is not None and (wanted is None or place in wanted):
            lag = max(0, current.log_end_offset - future.log_end_offset)
            row = DescribeLogDirsPartition(place.partition, future.size, lag, True)
            topics.setdefault(place.topic, []).append(row)
    total, usable = node.filesystem.space(path)
    return DescribeLogDirsResult(
        0, path, [DescribeLogDirsTopic(name, rows) for name, rows in topics.items()], total, usable
    )
