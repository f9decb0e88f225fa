"""AlterReplicaLogDirs v1–v2 (KIP-113): move replicas of this broker to other log directories.

Answered when a move has begun; DescribeLogDirs shows how far it is. A replica that is not here yet comes into
the directory when it does, and is answered with REPLICA_NOT_AVAILABLE until then, as in Kafka.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node

_NAME_BYTES_MAX = 255
_FUTURE = "-%d.%032d-future"


def handle(node: Node, _context: Context, request: AlterReplicaLogDirsRequest) -> AlterReplicaLogDirsResponse:
    wanted = {
        TopicPartition(topic.name, index): row.path
        for row in request.dirs
        for topic in row.topics
        for index in topic.partitions
    }
    results: dict[str, list[AlterReplicaLogDirPartitionResult]] = {}
    for place, path in wanted.items():
        code = ErrorCode.NONE
        try:
            _move(node, place, path)
        except ApiError as error:
            code = error.code
        results.setdefault(place.topic, []).append(AlterReplicaLogDirPartitionResult(place.partition, code))
    return AlterReplicaLogDirsResponse(
        results=[AlterReplicaLogDirTopicResult(name, rows) for name, rows in results.items()]
    )


def _move(node: Node, place: TopicPartition, path: str) -> None:
    if len(place.topic) + len(_FUTURE % (place.partition, 0)) > _NAME_BYTES_MAX:
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION)
    directory = node.logs.find_directory(path)
    if directory is None:
        raise ApiError(ErrorCode.LOG_DIR_NOT_FOUND)
    if not directory.online:
        raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR)
    partition = node.replicas.find(*place)
    if partition is None:
        if node.image.partition(*place) is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        node.logs.futures.preferred[place] = directory
        raise ApiError(ErrorCode.REPLICA_NOT_AVAILABLE)
    node.log_moves.begin(partition, directory)
