"""DeleteRecords v0–v2 (KIP-107): move the log start offset forward; -1 means the high watermark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import INTERNAL_TOPICS
from barnabas.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node

_HIGH_WATERMARK = -1


def handle(node: Node, context: Context, request: DeleteRecordsRequest) -> DeleteRecordsResponse:
    wanted: dict[str, dict[int, DeleteRecordsPartition]] = {}
    for topic in request.topics:
        for asked in topic.partitions:  # what is named twice is done once, as the last one says
            wanted.setdefault(topic.name, {})[asked.partition_index] = asked
    return DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(name, [_one(node, name, asked) for asked in rows.values()])
            for name, rows in wanted.items()
        ]
    )


def _one(node: Node, topic: str, asked: DeleteRecordsPartition) -> DeleteRecordsPartitionResult:
    try:
        low_watermark = _delete(node, topic, asked)
    except ApiError as error:
        return DeleteRecordsPartitionResult(asked.partition_index, -1, error.code)
    return DeleteRecordsPartitionResult(asked.partition_index, low_watermark, 0)


def _delete(node: Node, topic: str, asked: DeleteRecordsPartition) -> int:
    partition = node.replicas.find(topic, asked.partition_index)
    if partition is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if topic in INTERNAL_TOPICS:
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION)
    log = partition.leader_log()
    if log.config.compact and not log.config.delete:
        raise ApiError(ErrorCode.POLICY_VIOLATION)
    offset = log.high_watermark if asked.offset == _HIGH_WATERMARK else asked.offset
    if not 0 <= offset <= log.high_watermark:
        raise ApiError(ErrorCode.OFFSET_OUT_OF_RANGE)
    try:
        log.delete_records_before(offset)
    except OSError as error:
        node.disk_failed(partition, error)
        raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR) from error
    return log.log_start_offset
