"""DeleteRecords v0–v2 (KIP-107): move the log start offset forward; -1 means the high watermark. The answer
waits until every replica that is alive has followed: the records are gone everywhere then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.broker.replication.partition import Partition
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
_NO_OFFSET = -1


class _Deletion:
    """Records that are gone here, and perhaps not yet elsewhere."""

    __slots__ = ("offset", "partition", "result")

    def __init__(self, partition: Partition, offset: int) -> None:
        self.partition = partition
        self.offset = offset
        self.result = DeleteRecordsPartitionResult(partition.index, _NO_OFFSET, ErrorCode.REQUEST_TIMED_OUT)

    def is_settled(self) -> bool:
        try:
            low_watermark = self.partition.low_watermark()
        except ApiError as error:
            self.result.error_code = error.code
            return True
        if low_watermark < self.offset:
            return False
        self.result.low_watermark, self.result.error_code = low_watermark, ErrorCode.NONE
        return True


def handle(node: Node, context: Context, request: DeleteRecordsRequest) -> DeleteRecordsResponse | None:
    wanted: dict[str, dict[int, DeleteRecordsPartition]] = {}
    for topic in request.topics:
        for asked in topic.partitions:  # what is named twice is done once, as the last one says
            wanted.setdefault(topic.name, {})[asked.partition_index] = asked
    waiting: list[_Deletion] = []
    response = DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(name, [_one(node, name, asked, waiting) for asked in rows.values()])
            for name, rows in wanted.items()
        ]
    )
    if not waiting:
        return response

    def satisfied(_moved: Partition) -> bool:
        waiting[:] = [each for each in waiting if not each.is_settled()]
        return not waiting

    node.purgatory.park(
        context.session,
        [each.partition for each in waiting],
        node.now_ms + max(request.timeout_ms, 0),
        satisfied,
        lambda: context.reply(response),
    )
    return None


def _one(
    node: Node, topic: str, asked: DeleteRecordsPartition, waiting: list[_Deletion]
) -> DeleteRecordsPartitionResult:
    try:
        deletion = _delete(node, topic, asked)
    except ApiError as error:
        return DeleteRecordsPartitionResult(asked.partition_index, _NO_OFFSET, error.code)
    if not deletion.is_settled():
        waiting.append(deletion)
    return deletion.result


def _delete(node: Node, topic: str, asked: DeleteRecordsPartition) -> _Deletion:
    partition = node.replicas.get(topic, asked.partition_index)
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
    partition.start_has_moved()
    return _Deletion(partition, offset)
