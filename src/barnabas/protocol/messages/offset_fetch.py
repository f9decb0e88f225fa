"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class OffsetFetchRequestTopic(Message):
    __slots__ = ('name', 'partition_indexes')
    FLEXIBLE_SINCE: ClassVar[int] = 6
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', '', since=1, until=7),
        Field('partition_indexes', 'int32', (), array=True, since=1, until=7),
    )

    def __init__(
        self,
        name: str = '',
        partition_indexes: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.partition_indexes = partition_indexes


class OffsetFetchRequestTopics(Message):
    __slots__ = ('topic_id', 'name', 'partition_indexes')
    FLEXIBLE_SINCE: ClassVar[int] = 6
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_id', 'uuid', _ZERO, since=10),
        Field('name', 'string', '', since=8, until=9),
        Field('partition_indexes', 'int32', (), array=True, since=8),
    )

    def __init__(
        self,
        topic_id: bytes = _ZERO,
        name: str = '',
        partition_indexes: Sequence[int] = (),
    ) -> None:
        self.topic_id = topic_id
        self.name = name
        self.partition_indexes = partition_indexes


class OffsetFetchRequestGroup(Message):
    __slots__ = ('group_id', 'member_id', 'member_epoch', 'topics')
    FLEXIBLE_SINCE: ClassVar[int] = 6
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('group_id', 'string', '', since=8),
        Field('member_id', 'string', None, since=9, nullable_since=9),
        Field('member_epoch', 'int32', -1, since=9),
        Field('topics', 'struct', (), array=True, struct=OffsetFetchRequestTopics, since=8, nullable_since=8),
    )

    def __init__(
        self,
        group_id: str = '',
        member_id: str | None = None,
        member_epoch: int = -1,
        topics: Sequence[OffsetFetchRequestTopics] | None = (),
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.topics = topics


class OffsetFetchRequest(Message):
    __slots__ = ('groups', 'group_id', 'topics', 'require_stable')
    API_KEY: ClassVar[int] = 9
    FLEXIBLE_SINCE: ClassVar[int] = 6
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('groups', 'struct', (), array=True, struct=OffsetFetchRequestGroup, since=8),
        Field('group_id', 'string', '', since=1, until=7),
        Field('topics', 'struct', (), array=True, struct=OffsetFetchRequestTopic, since=1, until=7, nullable_since=2),
        Field('require_stable', 'bool', False, since=7),
    )

    def __init__(
        self,
        groups: Sequence[OffsetFetchRequestGroup] = (),
        group_id: str = '',
        topics: Sequence[OffsetFetchRequestTopic] | None = (),
        require_stable: bool = False,
    ) -> None:
        self.groups = groups
        self.group_id = group_id
        self.topics = topics
        self.require_stable = require_stable


class OffsetFetchResponsePartition(Message):
    __slots__ = ('partition_index', 'committed_offset', 'committed_leader_epoch', 'metadata', 'error_code')
    FLEXIBLE_SINCE: ClassVar[int] = 6
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition_index', 'int32', 0, since=1, until=7),
        Field('committed_offset', 'int64', 0, since=1, until=7),
        Field('committed_leader_epoch', 'int32', -1, since=5, until=7),
        Field('metadata', 'string', '', since=1, until=7, nullable_since=1),
        Field('error_code', 'int16', 0, since=1, until=7),
    )

    def __init__(
        self,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        metadata: str | None = '',
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.metadata = metadata
        self.error_code = error_code


class OffsetFetchResponseTopic(Message):
    __slots__ = ('name', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 6
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', '', since=1, until=7),
        Field('partitions', 'struct', (), array=True, struct=OffsetFetchResponsePartition, since=1, until=7),
    )

    def __init__(
        self,
        name: str = '',
        partitions: Sequence[OffsetFetchResponsePartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class OffsetFetchResponsePartitions(Message):
    __slots__ = ('partition_index', 'committed_offset', 'committed_leader_epoch', 'metadata', 'error_code')
    FLEXIBLE_SINCE: ClassVar[int] = 6
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition_index', 'int32', 0, since=8),
        Field('committed_offset', 'int64', 0, since=8),
        Field('committed_leader_epoch', 'int32', -1, since=8),
        Field('metadata', 'string', '', since=8, nullable_since=8),
        Field('error_code', 'int16', 0, since=8),
    )

    def __init__(
        self,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        metadata: str | None = '',
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.metadata = metadata
        self.error_code = error_code


class OffsetFetchResponseTopics(Message):
    __slots__ = ('topic_id', 'name', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 6
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_id', 'uuid', _ZERO, since=10),
        Field('name', 'string', '', since=8, until=9),
        Field('partitions', 'struct', (), array=True, struct=OffsetFetchResponsePartitions, since=8),
    )

    def __init__(
        self,
        topic_id: bytes = _ZERO,
        name: str = '',
        partitions: Sequence[OffsetFetchResponsePartitions] = (),
    ) -> None:
        self.topic_id = topic_id
        self.name = name
        self.partitions = partitions


class OffsetFetchResponseGroup(Message):
    __slots__ = ('group_id', 'topics', 'error_code')
    FLEXIBLE_SINCE: ClassVar[int] = 6
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('group_id', 'string', '', since=8),
        Field('topics', 'struct', (), array=True, struct=OffsetFetchResponseTopics, since=8),
        Field('error_code', 'int16', 0, since=8),
    )

    def __init__(
        self,
        group_id: str = '',
        topics: Sequence[OffsetFetchResponseTopics] = (),
        error_code: int = 0,
    ) -> None:
        self.group_id = group_id
        self.topics = topics
        self.error_code = error_code


class OffsetFetchResponse(Message):
    __slots__ = ('throttle_time_ms', 'groups', 'topics', 'error_code')
    API_KEY: ClassVar[int] = 9
    FLEXIBLE_SINCE: ClassVar[int] = 6
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0, since=3),
        Field('groups', 'struct', (), array=True, struct=OffsetFetchResponseGroup, since=8),
        Field('topics', 'struct', (), array=True, struct=OffsetFetchResponseTopic, since=1, until=7),
        Field('error_code', 'int16', 0, since=2, until=7),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        groups: Sequence[OffsetFetchResponseGroup] = (),
        topics: Sequence[OffsetFetchResponseTopic] = (),
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = groups
        self.topics = topics
        self.error_code = error_code
