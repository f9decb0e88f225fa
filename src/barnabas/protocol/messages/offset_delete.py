"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class OffsetDeleteRequestPartition(Message):
    __slots__ = ('partition_index',)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition_index', 'int32', 0),
    )

    def __init__(
        self,
        partition_index: int = 0,
    ) -> None:
        self.partition_index = partition_index


class OffsetDeleteRequestTopic(Message):
    __slots__ = ('name', 'partitions')
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', ''),
        Field('partitions', 'struct', (), array=True, struct=OffsetDeleteRequestPartition),
    )

    def __init__(
        self,
        name: str = '',
        partitions: Sequence[OffsetDeleteRequestPartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class OffsetDeleteRequest(Message):
    __slots__ = ('group_id', 'topics')
    API_KEY: ClassVar[int] = 47
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('group_id', 'string', ''),
        Field('topics', 'struct', (), array=True, struct=OffsetDeleteRequestTopic),
    )

    def __init__(
        self,
        group_id: str = '',
        topics: Sequence[OffsetDeleteRequestTopic] = (),
    ) -> None:
        self.group_id = group_id
        self.topics = topics


class OffsetDeleteResponsePartition(Message):
    __slots__ = ('partition_index', 'error_code')
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition_index', 'int32', 0),
        Field('error_code', 'int16', 0),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code


class OffsetDeleteResponseTopic(Message):
    __slots__ = ('name', 'partitions')
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', ''),
        Field('partitions', 'struct', (), array=True, struct=OffsetDeleteResponsePartition),
    )

    def __init__(
        self,
        name: str = '',
        partitions: Sequence[OffsetDeleteResponsePartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class OffsetDeleteResponse(Message):
    __slots__ = ('error_code', 'throttle_time_ms', 'topics')
    API_KEY: ClassVar[int] = 47
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('error_code', 'int16', 0),
        Field('throttle_time_ms', 'int32', 0),
        Field('topics', 'struct', (), array=True, struct=OffsetDeleteResponseTopic),
    )

    def __init__(
        self,
        error_code: int = 0,
        throttle_time_ms: int = 0,
        topics: Sequence[OffsetDeleteResponseTopic] = (),
    ) -> None:
        self.error_code = error_code
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics
