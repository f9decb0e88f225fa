"""Offsets of partitions: look them up, and delete what lies before one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import NamedTuple

from barnabas.model.errors import ApiError, ErrorCode
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
    found: dict[TopicPartition, Found | ApiError] = {}

    def attempt() -> None:
        missing = {key: spec for key, spec in wanted.items() if key not in found}
        for node_id, partitions in cluster.leaders(missing).items():
            request = _list_request(cluster, partitions, missing, read_committed)
            answer = cluster.call_once(request, ListOffsetsResponse, node_id)
            for topic in answer.topics:
                for row in topic.partitions:
                    if not known(row.error_code).retriable:
                        found[TopicPartition(topic.name, row.partition_index)] = _found(row)
        for partition in wanted:
            if partition not in found:
                raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER, f"{partition} has moved to another leader.")

    cluster.retrying(attempt)
    return found


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
    done: dict[TopicPartition, int | ApiError] = {}

    def attempt() -> None:
        missing = [partition for partition in before if partition not in done]
        for node_id, partitions in cluster.leaders(missing).items():
            request = _delete_request(cluster, partitions, before)
            for topic in cluster.call_once(request, DeleteRecordsResponse, node_id).topics:
                for row in topic.partitions:
                    code = known(row.error_code)
                    key = TopicPartition(topic.name, row.partition_index)
                    if code.retriable:
                        raise ApiError(code)
                    done[key] = ApiError(code) if code else row.low_watermark

    cluster.retrying(attempt)
    return done


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
