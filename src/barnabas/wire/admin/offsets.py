"""Offsets of partitions: look them up, and delete what lies before one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum
from typing import NamedTuple

from barnabas.model.errors import ApiError
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from barnabas.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from barnabas.wire.cluster import Cluster
from barnabas.wire.codes import known
from barnabas.wire.routing import from_leaders

LIST_OFFSETS = 2
CONSUMER = -1  # replica id of everyone who is not a broker


class Spec(IntEnum):
    """Timestamps below zero ask for a place, not a time."""

    LATEST = -1
    EARLIEST = -2
    MAX_TIMESTAMP = -3
    EARLIEST_LOCAL = -4
    LATEST_TIERED = -5
    EARLIEST_PENDING_UPLOAD = -6


class Found(NamedTuple):
    offset: int  # -1: no record is as young as the timestamp asked for
    timestamp: int
    leader_epoch: int


def list_offsets(
    cluster: Cluster, wanted: Mapping[TopicPartition, int], read_committed: bool = False
) -> dict[TopicPartition, Found | ApiError]:
    """The offset for each partition's timestamp or `Spec`; a partition that fails for good says why."""

    def ask(
        node_id: int, partitions: list[TopicPartition]
    ) -> Iterator[tuple[TopicPartition, Found | ApiError]]:
        request = _list_request(cluster, partitions, wanted, read_committed)
        for topic in cluster.call_once(request, ListOffsetsResponse, node_id).topics:
            for row in topic.partitions:
                yield TopicPartition(topic.name, row.partition_index), _found(row)

    return from_leaders(cluster, wanted, ask)


def _found(row: ListOffsetsPartitionResponse) -> Found | ApiError:
    if row.error_code:
        return ApiError(known(row.error_code))
    return Found(row.offset, row.timestamp, row.leader_epoch)


def _list_request(
    cluster: Cluster,
    partitions: Iterable[TopicPartition],
    wanted: Mapping[TopicPartition, int],
    read_committed: bool,
) -> ListOffsetsRequest:
    topics: dict[str, list[ListOffsetsPartition]] = {}
    for partition in partitions:
        row = ListOffsetsPartition(partition.partition, timestamp=wanted[partition])
        topics.setdefault(partition.topic, []).append(row)
    return ListOffsetsRequest(
        CONSUMER,
        int(read_committed),
        [ListOffsetsTopic(name, rows) for name, rows in topics.items()],
        cluster.settings.request_timeout_ms,
    )


def delete_records(
    cluster: Cluster, before: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int | ApiError]:
    """Delete everything before the given offsets (-1: everything); the new low watermarks."""

    def ask(
        node_id: int, partitions: list[TopicPartition]
    ) -> Iterator[tuple[TopicPartition, int | ApiError]]:
        request = _delete_request(cluster, partitions, before)
        for topic in cluster.call_once(request, DeleteRecordsResponse, node_id).topics:
            for row in topic.partitions:
                failed = ApiError(known(row.error_code)) if row.error_code else None
                yield TopicPartition(topic.name, row.partition_index), failed or row.low_watermark

    return from_leaders(cluster, before, ask)


def _delete_request(
    cluster: Cluster, partitions: Iterable[TopicPartition], before: Mapping[TopicPartition, int]
) -> DeleteRecordsRequest:
    topics: dict[str, list[DeleteRecordsPartition]] = {}
    for partition in partitions:
        row = DeleteRecordsPartition(partition.partition, before[partition])
        topics.setdefault(partition.topic, []).append(row)
    return DeleteRecordsRequest(
        [DeleteRecordsTopic(name, rows) for name, rows in topics.items()],
        cluster.settings.request_timeout_ms,
    )
