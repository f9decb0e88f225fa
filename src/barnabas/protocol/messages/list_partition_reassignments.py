"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class ListPartitionReassignmentsTopics(Message):
    __slots__ = ('name', 'partition_indexes')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', ''),
        Field('partition_indexes', 'int32', (), array=True),
    )

    def __init__(
        self,
        name: str = '',
        partition_indexes: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.partition_indexes = partition_indexes


class ListPartitionReassignmentsRequest(Message):
    __slots__ = ('timeout_ms', 'topics')
    API_KEY: ClassVar[int] = 46
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('timeout_ms', 'int32', 60000),
        Field('topics', 'struct', (), array=True, struct=ListPartitionReassignmentsTopics, nullable_since=0),
    )

    def __init__(
        self,
        timeout_ms: int = 60000,
        topics: Sequence[ListPartitionReassignmentsTopics] | None = (),
    ) -> None:
        self.timeout_ms = timeout_ms
        self.topics = topics


class OngoingPartitionReassignment(Message):
    __slots__ = ('partition_index', 'replicas', 'adding_replicas', 'removing_replicas')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition_index', 'int32', 0),
        Field('replicas', 'int32', (), array=True),
        Field('adding_replicas', 'int32', (), array=True),
        Field('removing_replicas', 'int32', (), array=True),
    )

    def __init__(
        self,
        partition_index: int = 0,
        replicas: Sequence[int] = (),
        adding_replicas: Sequence[int] = (),
        removing_replicas: Sequence[int] = (),
    ) -> None:
        self.partition_index = partition_index
        self.replicas = replicas
        self.adding_replicas = adding_replicas
        self.removing_replicas = removing_replicas


class OngoingTopicReassignment(Message):
    __slots__ = ('name', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', ''),
        Field('partitions', 'struct', (), array=True, struct=OngoingPartitionReassignment),
    )

    def __init__(
        self,
        name: str = '',
        partitions: Sequence[OngoingPartitionReassignment] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class ListPartitionReassignmentsResponse(Message):
    __slots__ = ('throttle_time_ms', 'error_code', 'error_message', 'topics')
    API_KEY: ClassVar[int] = 46
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0),
        Field('error_code', 'int16', 0),
        Field('error_message', 'string', '', nullable_since=0),
        Field('topics', 'struct', (), array=True, struct=OngoingTopicReassignment),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = '',
        topics: Sequence[OngoingTopicReassignment] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.topics = topics
