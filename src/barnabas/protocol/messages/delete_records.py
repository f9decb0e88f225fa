"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class DeleteRecordsPartition(Message):
    __slots__ = ('partition_index', 'offset')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition_index', 'int32', 0),
        Field('offset', 'int64', 0),
    )

    def __init__(
        self,
        partition_index: int = 0,
        offset: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.offset = offset


class DeleteRecordsTopic(Message):
    __slots__ = ('name', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', ''),
        Field('partitions', 'struct', (), array=True, struct=DeleteRecordsPartition),
    )

    def __init__(
        self,
        name: str = '',
        partitions: Sequence[DeleteRecordsPartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class DeleteRecordsRequest(Message):
    __slots__ = ('topics', 'timeout_ms')
    API_KEY: ClassVar[int] = 21
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topics', 'struct', (), array=True, struct=DeleteRecordsTopic),
        Field('timeout_ms', 'int32', 0),
    )

    def __init__(
        self,
        topics: Sequence[DeleteRecordsTopic] = (),
        timeout_ms: int = 0,
    ) -> None:
        self.topics = topics
        self.timeout_ms = timeout_ms


class DeleteRecordsPartitionResult(Message):
    __slots__ = ('partition_index', 'low_watermark', 'error_code')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition_index', 'int32', 0),
        Field('low_watermark', 'int64', 0),
        Field('error_code', 'int16', 0),
    )

    def __init__(
        self,
        partition_index: int = 0,
        low_watermark: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.low_watermark = low_watermark
        self.error_code = error_code


class DeleteRecordsTopicResult(Message):
    __slots__ = ('name', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', ''),
        Field('partitions', 'struct', (), array=True, struct=DeleteRecordsPartitionResult),
    )

    def __init__(
        self,
        name: str = '',
        partitions: Sequence[DeleteRecordsPartitionResult] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class DeleteRecordsResponse(Message):
    __slots__ = ('throttle_time_ms', 'topics')
    API_KEY: ClassVar[int] = 21
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0),
        Field('topics', 'struct', (), array=True, struct=DeleteRecordsTopicResult),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[DeleteRecordsTopicResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics
