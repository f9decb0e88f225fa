"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class TopicRequest(Message):
    __slots__ = ('name',)
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', ''),
    )

    def __init__(
        self,
        name: str = '',
    ) -> None:
        self.name = name


class Cursor(Message):
    __slots__ = ('topic_name', 'partition_index')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_name', 'string', ''),
        Field('partition_index', 'int32', 0),
    )

    def __init__(
        self,
        topic_name: str = '',
        partition_index: int = 0,
    ) -> None:
        self.topic_name = topic_name
        self.partition_index = partition_index


class DescribeTopicPartitionsRequest(Message):
    __slots__ = ('topics', 'response_partition_limit', 'cursor')
    API_KEY: ClassVar[int] = 75
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topics', 'struct', (), array=True, struct=TopicRequest),
        Field('response_partition_limit', 'int32', 2000),
        Field('cursor', 'struct', None, struct=Cursor, nullable_since=0),
    )

    def __init__(
        self,
        topics: Sequence[TopicRequest] = (),
        response_partition_limit: int = 2000,
        cursor: Cursor | None = None,
    ) -> None:
        self.topics = topics
        self.response_partition_limit = response_partition_limit
        self.cursor = cursor


class DescribeTopicPartitionsResponsePartition(Message):
    __slots__ = ('error_code', 'partition_index', 'leader_id', 'leader_epoch', 'replica_nodes', 'isr_nodes', 'eligible_leader_replicas', 'last_known_elr', 'offline_replicas')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('error_code', 'int16', 0),
        Field('partition_index', 'int32', 0),
        Field('leader_id', 'int32', 0),
        Field('leader_epoch', 'int32', -1),
        Field('replica_nodes', 'int32', (), array=True),
        Field('isr_nodes', 'int32', (), array=True),
        Field('eligible_leader_replicas', 'int32', None, array=True, nullable_since=0),
        Field('last_known_elr', 'int32', None, array=True, nullable_since=0),
        Field('offline_replicas', 'int32', (), array=True),
    )

    def __init__(
        self,
        error_code: int = 0,
        partition_index: int = 0,
        leader_id: int = 0,
        leader_epoch: int = -1,
        replica_nodes: Sequence[int] = (),
        isr_nodes: Sequence[int] = (),
        eligible_leader_replicas: Sequence[int] | None = None,
        last_known_elr: Sequence[int] | None = None,
        offline_replicas: Sequence[int] = (),
    ) -> None:
        self.error_code = error_code
        self.partition_index = partition_index
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.replica_nodes = replica_nodes
        self.isr_nodes = isr_nodes
        self.eligible_leader_replicas = eligible_leader_replicas
        self.last_known_elr = last_known_elr
        self.offline_replicas = offline_replicas


class DescribeTopicPartitionsResponseTopic(Message):
    __slots__ = ('error_code', 'name', 'topic_id', 'is_internal', 'partitions', 'topic_authorized_operations')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('error_code', 'int16', 0),
        Field('name', 'string', '', nullable_since=0),
        Field('topic_id', 'uuid', _ZERO),
        Field('is_internal', 'bool', False),
        Field('partitions', 'struct', (), array=True, struct=DescribeTopicPartitionsResponsePartition),
        Field('topic_authorized_operations', 'int32', -2147483648),
    )

    def __init__(
        self,
        error_code: int = 0,
        name: str | None = '',
        topic_id: bytes = _ZERO,
        is_internal: bool = False,
        partitions: Sequence[DescribeTopicPartitionsResponsePartition] = (),
        topic_authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.name = name
        self.topic_id = topic_id
        self.is_internal = is_internal
        self.partitions = partitions
        self.topic_authorized_operations = topic_authorized_operations


class ResponseCursor(Message):
    __slots__ = ('topic_name', 'partition_index')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_name', 'string', ''),
        Field('partition_index', 'int32', 0),
    )

    def __init__(
        self,
        topic_name: str = '',
        partition_index: int = 0,
    ) -> None:
        self.topic_name = topic_name
        self.partition_index = partition_index


class DescribeTopicPartitionsResponse(Message):
    __slots__ = ('throttle_time_ms', 'topics', 'next_cursor')
    API_KEY: ClassVar[int] = 75
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0),
        Field('topics', 'struct', (), array=True, struct=DescribeTopicPartitionsResponseTopic),
        Field('next_cursor', 'struct', None, struct=ResponseCursor, nullable_since=0),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[DescribeTopicPartitionsResponseTopic] = (),
        next_cursor: ResponseCursor | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics
        self.next_cursor = next_cursor
