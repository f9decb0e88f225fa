"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class ListOffsetsPartition(Message):
    __slots__ = ('partition_index', 'current_leader_epoch', 'timestamp')
    FLEXIBLE_SINCE: ClassVar[int] = 6
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition_index', 'int32', 0, since=1),
        Field('current_leader_epoch', 'int32', -1, since=4),
        Field('timestamp', 'int64', 0, since=1),
    )

    def __init__(
        self,
        partition_index: int = 0,
        current_leader_epoch: int = -1,
        timestamp: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.current_leader_epoch = current_leader_epoch
        self.timestamp = timestamp


class ListOffsetsTopic(Message):
    __slots__ = ('name', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 6
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', '', since=1),
        Field('partitions', 'struct', (), array=True, struct=ListOffsetsPartition, since=1),
    )

    def __init__(
        self,
        name: str = '',
        partitions: Sequence[ListOffsetsPartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class ListOffsetsRequest(Message):
    __slots__ = ('replica_id', 'isolation_level', 'topics', 'timeout_ms')
    API_KEY: ClassVar[int] = 2
    FLEXIBLE_SINCE: ClassVar[int] = 6
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('replica_id', 'int32', 0, since=1),
        Field('isolation_level', 'int8', 0, since=2),
        Field('topics', 'struct', (), array=True, struct=ListOffsetsTopic, since=1),
        Field('timeout_ms', 'int32', 0, since=10),
    )

    def __init__(
        self,
        replica_id: int = 0,
        isolation_level: int = 0,
        topics: Sequence[ListOffsetsTopic] = (),
        timeout_ms: int = 0,
    ) -> None:
        self.replica_id = replica_id
        self.isolation_level = isolation_level
        self.topics = topics
        self.timeout_ms = timeout_ms


class ListOffsetsPartitionResponse(Message):
    __slots__ = ('partition_index', 'error_code', 'timestamp', 'offset', 'leader_epoch')
    FLEXIBLE_SINCE: ClassVar[int] = 6
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition_index', 'int32', 0, since=1),
        Field('error_code', 'int16', 0, since=1),
        Field('timestamp', 'int64', -1, since=1),
        Field('offset', 'int64', -1, since=1),
        Field('leader_epoch', 'int32', -1, since=4),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        timestamp: int = -1,
        offset: int = -1,
        leader_epoch: int = -1,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.timestamp = timestamp
        self.offset = offset
        self.leader_epoch = leader_epoch


class ListOffsetsTopicResponse(Message):
    __slots__ = ('name', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 6
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', '', since=1),
        Field('partitions', 'struct', (), array=True, struct=ListOffsetsPartitionResponse, since=1),
    )

    def __init__(
        self,
        name: str = '',
        partitions: Sequence[ListOffsetsPartitionResponse] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class ListOffsetsResponse(Message):
    __slots__ = ('throttle_time_ms', 'topics')
    API_KEY: ClassVar[int] = 2
    FLEXIBLE_SINCE: ClassVar[int] = 6
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0, since=2),
        Field('topics', 'struct', (), array=True, struct=ListOffsetsTopicResponse, since=1),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[ListOffsetsTopicResponse] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics
