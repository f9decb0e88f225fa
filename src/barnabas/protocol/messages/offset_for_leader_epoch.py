"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class OffsetForLeaderPartition(Message):
    __slots__ = ('partition', 'current_leader_epoch', 'leader_epoch')
    FLEXIBLE_SINCE: ClassVar[int] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition', 'int32', 0, since=2),
        Field('current_leader_epoch', 'int32', -1, since=2),
        Field('leader_epoch', 'int32', 0, since=2),
    )

    def __init__(
        self,
        partition: int = 0,
        current_leader_epoch: int = -1,
        leader_epoch: int = 0,
    ) -> None:
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.leader_epoch = leader_epoch


class OffsetForLeaderTopic(Message):
    __slots__ = ('topic', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic', 'string', '', since=2),
        Field('partitions', 'struct', (), array=True, struct=OffsetForLeaderPartition, since=2),
    )

    def __init__(
        self,
        topic: str = '',
        partitions: Sequence[OffsetForLeaderPartition] = (),
    ) -> None:
        self.topic = topic
        self.partitions = partitions


class OffsetForLeaderEpochRequest(Message):
    __slots__ = ('replica_id', 'topics')
    API_KEY: ClassVar[int] = 23
    FLEXIBLE_SINCE: ClassVar[int] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('replica_id', 'int32', -2, since=3),
        Field('topics', 'struct', (), array=True, struct=OffsetForLeaderTopic, since=2),
    )

    def __init__(
        self,
        replica_id: int = -2,
        topics: Sequence[OffsetForLeaderTopic] = (),
    ) -> None:
        self.replica_id = replica_id
        self.topics = topics


class EpochEndOffset(Message):
    __slots__ = ('error_code', 'partition', 'leader_epoch', 'end_offset')
    FLEXIBLE_SINCE: ClassVar[int] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('error_code', 'int16', 0, since=2),
        Field('partition', 'int32', 0, since=2),
        Field('leader_epoch', 'int32', -1, since=2),
        Field('end_offset', 'int64', -1, since=2),
    )

    def __init__(
        self,
        error_code: int = 0,
        partition: int = 0,
        leader_epoch: int = -1,
        end_offset: int = -1,
    ) -> None:
        self.error_code = error_code
        self.partition = partition
        self.leader_epoch = leader_epoch
        self.end_offset = end_offset


class OffsetForLeaderTopicResult(Message):
    __slots__ = ('topic', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic', 'string', '', since=2),
        Field('partitions', 'struct', (), array=True, struct=EpochEndOffset, since=2),
    )

    def __init__(
        self,
        topic: str = '',
        partitions: Sequence[EpochEndOffset] = (),
    ) -> None:
        self.topic = topic
        self.partitions = partitions


class OffsetForLeaderEpochResponse(Message):
    __slots__ = ('throttle_time_ms', 'topics')
    API_KEY: ClassVar[int] = 23
    FLEXIBLE_SINCE: ClassVar[int] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0, since=2),
        Field('topics', 'struct', (), array=True, struct=OffsetForLeaderTopicResult, since=2),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[OffsetForLeaderTopicResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics
