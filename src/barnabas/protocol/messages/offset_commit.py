"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class OffsetCommitRequestPartition(Message):
    __slots__ = ('partition_index', 'committed_offset', 'committed_leader_epoch', 'committed_metadata')
    FLEXIBLE_SINCE: ClassVar[int] = 8
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition_index', 'int32', 0, since=2),
        Field('committed_offset', 'int64', 0, since=2),
        Field('committed_leader_epoch', 'int32', -1, since=6),
        Field('committed_metadata', 'string', '', since=2, nullable_since=2),
    )

    def __init__(
        self,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        committed_metadata: str | None = '',
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.committed_metadata = committed_metadata


class OffsetCommitRequestTopic(Message):
    __slots__ = ('topic_id', 'name', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 8
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_id', 'uuid', _ZERO, since=10),
        Field('name', 'string', '', since=2, until=9),
        Field('partitions', 'struct', (), array=True, struct=OffsetCommitRequestPartition, since=2),
    )

    def __init__(
        self,
        topic_id: bytes = _ZERO,
        name: str = '',
        partitions: Sequence[OffsetCommitRequestPartition] = (),
    ) -> None:
        self.topic_id = topic_id
        self.name = name
        self.partitions = partitions


class OffsetCommitRequest(Message):
    __slots__ = ('group_id', 'generation_id_or_member_epoch', 'member_id', 'group_instance_id', 'retention_time_ms', 'topics')
    API_KEY: ClassVar[int] = 8
    FLEXIBLE_SINCE: ClassVar[int] = 8
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('group_id', 'string', '', since=2),
        Field('generation_id_or_member_epoch', 'int32', -1, since=2),
        Field('member_id', 'string', '', since=2),
        Field('group_instance_id', 'string', None, since=7, nullable_since=7),
        Field('retention_time_ms', 'int64', -1, since=2, until=4),
        Field('topics', 'struct', (), array=True, struct=OffsetCommitRequestTopic, since=2),
    )

    def __init__(
        self,
        group_id: str = '',
        generation_id_or_member_epoch: int = -1,
        member_id: str = '',
        group_instance_id: str | None = None,
        retention_time_ms: int = -1,
        topics: Sequence[OffsetCommitRequestTopic] = (),
    ) -> None:
        self.group_id = group_id
        self.generation_id_or_member_epoch = generation_id_or_member_epoch
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.retention_time_ms = retention_time_ms
        self.topics = topics


class OffsetCommitResponsePartition(Message):
    __slots__ = ('partition_index', 'error_code')
    FLEXIBLE_SINCE: ClassVar[int] = 8
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition_index', 'int32', 0, since=2),
        Field('error_code', 'int16', 0, since=2),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code


class OffsetCommitResponseTopic(Message):
    __slots__ = ('topic_id', 'name', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 8
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_id', 'uuid', _ZERO, since=10),
        Field('name', 'string', '', since=2, until=9),
        Field('partitions', 'struct', (), array=True, struct=OffsetCommitResponsePartition, since=2),
    )

    def __init__(
        self,
        topic_id: bytes = _ZERO,
        name: str = '',
        partitions: Sequence[OffsetCommitResponsePartition] = (),
    ) -> None:
        self.topic_id = topic_id
        self.name = name
        self.partitions = partitions


class OffsetCommitResponse(Message):
    __slots__ = ('throttle_time_ms', 'topics')
    API_KEY: ClassVar[int] = 8
    FLEXIBLE_SINCE: ClassVar[int] = 8
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0, since=3),
        Field('topics', 'struct', (), array=True, struct=OffsetCommitResponseTopic, since=2),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[OffsetCommitResponseTopic] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics
