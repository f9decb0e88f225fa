"""What groups have committed: read it, set it, delete it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages import offset_commit, offset_delete
from barnabas.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from barnabas.wire.cluster import Cluster
from barnabas.wire.codes import known
from barnabas.wire.coordinators import Coordinator, KeyType, from_coordinator, from_coordinators

_BATCHED_SINCE = 8
# Newer versions name topics by id, which a topic deleted long ago does not have any more.
_NAMES_UNTIL = 9
_OFFSET_FETCH = 9
_NO_OFFSET = -1


class Committed(NamedTuple):
    offset: int
    leader_epoch: int | None
    metadata: str


def committed(cluster: Cluster, group_id: str) -> dict[TopicPartition, Committed]:
    """Every offset the group has committed, in the order of topics and partitions."""
    found = committed_by_group(cluster, [group_id])[group_id]
    if isinstance(found, ApiError):
        raise found
    return found


def committed_by_group(
    cluster: Cluster, group_ids: Iterable[str]
) -> dict[str, dict[TopicPartition, Committed] | ApiError]:
    """The same of many groups, with one question for all that share a coordinator."""

    def ask(coordinator: Coordinator, keys: list[str]) -> Iterator[tuple[str, _Answer]]:
        batched = cluster.connection(coordinator.node_id).version_of(_OFFSET_FETCH) >= _BATCHED_SINCE
        if not batched:
            for key in keys:
                answer = _fetch(cluster, coordinator, OffsetFetchRequest(group_id=key, topics=None))
                yield key, _result(answer.error_code, answer.topics)
            return
        rows = [OffsetFetchRequestGroup(key, topics=None) for key in keys]
        for row in _fetch(cluster, coordinator, OffsetFetchRequest(rows)).groups:
            yield row.group_id, _result(row.error_code, row.topics)

    return from_coordinators(cluster, group_ids, KeyType.GROUP, ask)


def _fetch(cluster: Cluster, coordinator: Coordinator, request: OffsetFetchRequest) -> OffsetFetchResponse:
    return cluster.call_once(request, OffsetFetchResponse, coordinator.node_id, version_max=_NAMES_UNTIL)


_Topics: TypeAlias = Iterable[OffsetFetchResponseTopics | OffsetFetchResponseTopic]
_Answer: TypeAlias = dict[TopicPartition, Committed] | ApiError


def _result(error_code: int, topics: _Topics) -> _Answer:
    return ApiError(known(error_code)) if error_code else _found(topics)


def _found(topics: _Topics) -> dict[TopicPartition, Committed]:
    found = {}
    for topic in topics:
        for row in topic.partitions:
            if row.error_code == ErrorCode.NONE and row.committed_offset != _NO_OFFSET:
                epoch = row.committed_leader_epoch
                found[TopicPartition(topic.name, row.partition_index)] = Committed(
                    row.committed_offset, None if epoch < 0 else epoch, row.metadata or ""
                )
    return dict(sorted(found.items()))


def commit(cluster: Cluster, group_id: str, offsets: Mapping[TopicPartition, int]) -> None:
    """Set offsets of a group without members. What the coordinator refuses is raised."""

    def ask(coordinator: Coordinator) -> ApiError | None:
        answer = cluster.call_once(
            _commit_request(group_id, offsets),
            offset_commit.OffsetCommitResponse,
            coordinator.node_id,
            version_max=_NAMES_UNTIL,
        )
        codes = [row.error_code for topic in answer.topics for row in topic.partitions if row.error_code]
        return ApiError(known(codes[0])) if codes else None

    if offsets:
        from_coordinator(cluster, group_id, KeyType.GROUP, ask)


def _commit_request(
    group_id: str, offsets: Mapping[TopicPartition, int]
) -> offset_commit.OffsetCommitRequest:
    topics: dict[str, list[offset_commit.OffsetCommitRequestPartition]] = {}
    for partition, offset in offsets.items():
        row = offset_commit.OffsetCommitRequestPartition(partition.partition, offset)
        topics.setdefault(partition.topic, []).append(row)
    return offset_commit.OffsetCommitRequest(
        group_id,
        topics=[
            offset_commit.OffsetCommitRequestTopic(name=name, partitions=rows)
            for name, rows in topics.items()
        ],
    )


def delete(
    cluster: Cluster, group_id: str, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, ApiError | None]:
    """Forget the offsets of these partitions; why not, for each that stays. What concerns the whole group is
    raised."""
    topics: dict[str, list[offset_delete.OffsetDeleteRequestPartition]] = {}
    for partition in partitions:
        row = offset_delete.OffsetDeleteRequestPartition(partition.partition)
        topics.setdefault(partition.topic, []).append(row)
    request = offset_delete.OffsetDeleteRequest(
        group_id, [offset_delete.OffsetDeleteRequestTopic(name, rows) for name, rows in topics.items()]
    )

    def ask(coordinator: Coordinator) -> dict[TopicPartition, ApiError | None] | ApiError:
        answer = cluster.call_once(request, offset_delete.OffsetDeleteResponse, coordinator.node_id)
        if answer.error_code:
            return ApiError(known(answer.error_code))
        return {
            TopicPartition(topic.name, row.partition_index): (
                ApiError(known(row.error_code)) if row.error_code else None
            )
            for topic in answer.topics
            for row in topic.partitions
        }

    return from_coordinator(cluster, group_id, KeyType.GROUP, ask)
