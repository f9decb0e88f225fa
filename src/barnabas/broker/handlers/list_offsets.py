"""ListOffsets v1–v11 (KIP-79, KIP-207, KIP-320, KIP-734, KIP-405, KIP-1005, KIP-1023).

Earliest, latest, by timestamp (the first record at or after it), the record with the largest timestamp,
earliest local (the same as earliest: there is no tier below the local disk), latest tiered (none). Followers
ask where a leader's log begins and ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.broker.replication.partition import Partition
from barnabas.log.log import Log
from barnabas.log.results import TimestampOffset
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node

_LATEST, _EARLIEST, _MAX_TIMESTAMP, _EARLIEST_LOCAL, _LATEST_TIERED, _EARLIEST_PENDING = (
    -1,
    -2,
    -3,
    -4,
    -5,
    -6,
)
_SINCE = {_MAX_TIMESTAMP: 7, _EARLIEST_LOCAL: 8, _LATEST_TIERED: 9, _EARLIEST_PENDING: 11}
_READ_COMMITTED = 1
_NOT_AVAILABLE_SINCE = 5
_NONE = TimestampOffset(-1, -1, -1)


def handle(node: Node, context: Context, request: ListOffsetsRequest) -> ListOffsetsResponse:
    wanted: dict[str, dict[int, ListOffsetsPartition]] = {}
    twice: set[tuple[str, int]] = set()  # refused, once
    for topic in request.topics:
        for partition in topic.partitions:
            rows = wanted.setdefault(topic.name, {})
            if partition.partition_index in rows:
                twice.add((topic.name, partition.partition_index))
            rows[partition.partition_index] = partition

    def answer(name: str, asked: ListOffsetsPartition) -> ListOffsetsPartitionResponse:
        try:
            if (name, asked.partition_index) in twice:
                raise ApiError(ErrorCode.INVALID_REQUEST)
            found = _find(node, context.version, request, name, asked)
        except ApiError as error:
            return ListOffsetsPartitionResponse(asked.partition_index, error.code)
        return ListOffsetsPartitionResponse(asked.partition_index, 0, *found)

    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(name, [answer(name, asked) for asked in rows.values()])
            for name, rows in wanted.items()
        ]
    )


def _find(
    node: Node, version: int, request: ListOffsetsRequest, topic: str, asked: ListOffsetsPartition
) -> TimestampOffset:
    timestamp = asked.timestamp
    if timestamp < 0 and version < _SINCE.get(timestamp, 0 if timestamp >= _EARLIEST else 1000):
        raise ApiError(ErrorCode.UNSUPPORTED_VERSION)
    partition = node.replicas.get(topic, asked.partition_index)
    log = partition.leader_log(asked.current_leader_epoch)
    upper = _upper(log, request)
    try:
        found = _look_up(log, timestamp, upper)
        if _is_unsettled(partition, request, timestamp, found):
            raise ApiError(
                ErrorCode.OFFSET_NOT_AVAILABLE
                if version >= _NOT_AVAILABLE_SINCE
                else ErrorCode.LEADER_NOT_AVAILABLE
            )
    except OSError as error:
        node.disk_failed(partition, error)
        raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR) from error
    if version < 4:
        return found._replace(leader_epoch=-1)
    return found


def _upper(log: Log, request: ListOffsetsRequest) -> int:
    """A follower goes on to the end of the log, a consumer to what is committed."""
    if request.replica_id >= 0:
        return log.log_end_offset
    return log.last_stable_offset if request.isolation_level == _READ_COMMITTED else log.high_watermark


def _is_unsettled(
    partition: Partition, request: ListOffsetsRequest, timestamp: int, found: TimestampOffset
) -> bool:
    """KIP-207: a new leader may not know yet how far its log is committed, and a consumer must not see the
    end go back."""
    if request.replica_id >= 0 or partition.knows_what_is_committed:
        return False
    by_time = timestamp >= 0 or timestamp == _MAX_TIMESTAMP
    return timestamp == _LATEST or (by_time and found is _NONE)


def _look_up(log: Log, timestamp: int, upper: int) -> TimestampOffset:
    if timestamp == _LATEST:
        return log.latest_offset(upper)
    if timestamp in {_EARLIEST, _EARLIEST_LOCAL}:
        return log.earliest_offset()
    if timestamp in {_LATEST_TIERED, _EARLIEST_PENDING}:
        return _NONE
    found = (
        log.offset_of_max_timestamp() if timestamp == _MAX_TIMESTAMP else log.offset_for_timestamp(timestamp)
    )
    return found if found is not None and found.offset < upper else _NONE
