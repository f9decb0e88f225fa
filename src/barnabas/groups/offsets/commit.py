"""OffsetCommit and TxnOffsetCommit: the check, the records, the answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from barnabas.coordination.outcome import Entry, Outcome, Producer, ShardHost, Ticket
from barnabas.groups.classic.group import ClassicGroup
from barnabas.groups.classic.rebalance import Rebalancer
from barnabas.groups.classic.states import CompletingRebalance
from barnabas.groups.group import Caller, Group, PartitionCheck
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import ZERO_UUID
from barnabas.protocol.internal.groups import OffsetCommitKey, OffsetCommitValue
from barnabas.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from barnabas.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

GROUP_ID_NOT_FOUND_SINCE = 9
NO_RETENTION_OF_ITS_OWN = -1
NO_EXPIRY_OF_ITS_OWN = -1

P = TypeVar("P", OffsetCommitResponsePartition, TxnOffsetCommitResponsePartition)


class Commits:
    def __init__(self, host: ShardHost, groups: dict[str, Group], rebalancer: Rebalancer) -> None:
        self._host = host
        self._groups = groups
        self._rebalancer = rebalancer

    def commit(self, request: OffsetCommitRequest, caller: Caller, ticket: Ticket) -> Outcome:
        check = self._check(request, caller.version)
        now_ms = self._host.wall_ms
        retention_ms = request.retention_time_ms
        batch = _Batch(
            self._host.settings.integer("offset.metadata.max.bytes"),
            request.group_id,
            check,
            now_ms,
            NO_EXPIRY_OF_ITS_OWN if retention_ms == NO_RETENTION_OF_ITS_OWN else now_ms + retention_ms,
        )
        topics = [
            OffsetCommitResponseTopic(
                topic.topic_id,
                topic.name,
                batch.add(topic.name, topic.topic_id, topic.partitions, OffsetCommitResponsePartition),
            )
            for topic in request.topics
        ]
        return Outcome(batch.entries, [(ticket, OffsetCommitResponse(topics=topics))])

    def commit_transactional(
        self, request: TxnOffsetCommitRequest, caller: Caller, ticket: Ticket
    ) -> Outcome:
        """They count when their transaction's marker says so."""
        check = self._check_transactional(request, caller.version)
        limit = self._host.settings.integer("offset.metadata.max.bytes")
        batch = _Batch(limit, request.group_id, check, self._host.wall_ms, NO_EXPIRY_OF_ITS_OWN)
        topics = [
            TxnOffsetCommitResponseTopic(
                topic.name,
                batch.add(topic.name, ZERO_UUID, topic.partitions, TxnOffsetCommitResponsePartition),
            )
            for topic in request.topics
        ]
        return Outcome(
            batch.entries,
            [(ticket, TxnOffsetCommitResponse(topics=topics))],
            Producer(request.producer_id, request.producer_epoch),
        )

    def _check(self, request: OffsetCommitRequest, version: int) -> PartitionCheck | None:
        group = self._groups.get(request.group_id)
        generation = request.generation_id_or_member_epoch
        if group is None:
            if generation < 0:
                return None  # offsets without membership: replaying them makes the group
            known = version >= GROUP_ID_NOT_FOUND_SINCE
            raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND if known else ErrorCode.ILLEGAL_GENERATION)
        member_id = request.member_id
        check = group.check_offset_commit(
            member_id, request.group_instance_id, generation, transactional=False, version=version
        )
        # Whoever commits is alive.
        if isinstance(group, ClassicGroup) and not isinstance(group.status, CompletingRebalance):
            member = group.members.get(member_id)
            if member is not None:
                self._rebalancer.extend_session(group, member)
        return check

    def _check_transactional(self, request: TxnOffsetCommitRequest, version: int) -> PartitionCheck | None:
        group = self._groups.get(request.group_id)
        if group is None:
            if request.generation_id < 0:
                return None
            raise ApiError(ErrorCode.ILLEGAL_GENERATION)
        try:
            return group.check_offset_commit(
                request.member_id,
                request.group_instance_id,
                request.generation_id,
                transactional=True,
                version=version,
            )
        except ApiError as error:
            if error.code is ErrorCode.STALE_MEMBER_EPOCH:  # transactions know no such error
                raise ApiError(ErrorCode.ILLEGAL_GENERATION) from error
            raise


class _Batch:
    """The entries of one request, and a row of its answer for each partition."""

    __slots__ = ("_check", "_expires_ms", "_group_id", "_metadata_max", "_now_ms", "entries")

    def __init__(
        self,
        metadata_max: int,
        group_id: str,
        check: PartitionCheck | None,
        now_ms: int,
        expires_ms: int,
    ) -> None:
        self._metadata_max = metadata_max
        self._group_id = group_id
        self._check = check
        self._now_ms = now_ms
        self._expires_ms = expires_ms
        self.entries: list[Entry] = []

    def add(
        self,
        topic: str,
        topic_id: bytes,
        partitions: Iterable[OffsetCommitRequestPartition | TxnOffsetCommitRequestPartition],
        row: type[P],
    ) -> list[P]:
        return [
            row(partition.partition_index, self._add(topic, topic_id, partition)) for partition in partitions
        ]

    def _add(
        self,
        topic: str,
        topic_id: bytes,
        partition: OffsetCommitRequestPartition | TxnOffsetCommitRequestPartition,
    ) -> ErrorCode:
        index = partition.partition_index
        if self._check is not None:
            self._check(topic, topic_id, index)
        metadata = partition.committed_metadata or ""
        if metadata and _is_longer(metadata, self._metadata_max):
            return ErrorCode.OFFSET_METADATA_TOO_LARGE
        value = OffsetCommitValue(
            partition.committed_offset,
            partition.committed_leader_epoch,
            metadata,
            self._now_ms,
            self._expires_ms,
            topic_id,
        )
        self.entries.append(Entry(OffsetCommitKey(self._group_id, topic, index), value))
        return ErrorCode.NONE


def _is_longer(metadata: str, limit: int) -> bool:
    """In Java's characters."""
    if metadata.isascii():
        return len(metadata) > limit
    return len(metadata.encode("utf-16-le")) // 2 > limit
