"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class DescribableLogDirTopic(Message):
    __slots__ = ('topic', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic', 'string', '', since=1),
        Field('partitions', 'int32', (), array=True, since=1),
    )

    def __init__(
        self,
        topic: str = '',
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic = topic
        self.partitions = partitions


class DescribeLogDirsRequest(Message):
    __slots__ = ('topics',)
    API_KEY: ClassVar[int] = 35
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topics', 'struct', (), array=True, struct=DescribableLogDirTopic, since=1, nullable_since=1),
    )

    def __init__(
        self,
        topics: Sequence[DescribableLogDirTopic] | None = (),
    ) -> None:
        self.topics = topics


class DescribeLogDirsPartition(Message):
    __slots__ = ('partition_index', 'partition_size', 'offset_lag', 'is_future_key')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition_index', 'int32', 0, since=1),
        Field('partition_size', 'int64', 0, since=1),
        Field('offset_lag', 'int64', 0, since=1),
        Field('is_future_key', 'bool', False, since=1),
    )

    def __init__(
        self,
        partition_index: int = 0,
        partition_size: int = 0,
        offset_lag: int = 0,
        is_future_key: bool = False,
    ) -> None:
        self.partition_index = partition_index
        self.partition_size = partition_size
        self.offset_lag = offset_lag
        self.is_future_key = is_future_key


class DescribeLogDirsTopic(Message):
    __slots__ = ('name', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', '', since=1),
        Field('partitions', 'struct', (), array=True, struct=DescribeLogDirsPartition, since=1),
    )

    def __init__(
        self,
        name: str = '',
        partitions: Sequence[DescribeLogDirsPartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class DescribeLogDirsResult(Message):
    __slots__ = ('error_code', 'log_dir', 'topics', 'total_bytes', 'usable_bytes', 'is_cordoned')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('error_code', 'int16', 0, since=1),
        Field('log_dir', 'string', '', since=1),
        Field('topics', 'struct', (), array=True, struct=DescribeLogDirsTopic, since=1),
        Field('total_bytes', 'int64', -1, since=4),
        Field('usable_bytes', 'int64', -1, since=4),
        Field('is_cordoned', 'bool', False, since=5),
    )

    def __init__(
        self,
        error_code: int = 0,
        log_dir: str = '',
        topics: Sequence[DescribeLogDirsTopic] = (),
        total_bytes: int = -1,
        usable_bytes: int = -1,
        is_cordoned: bool = False,
    ) -> None:
        self.error_code = error_code
        self.log_dir = log_dir
        self.topics = topics
        self.total_bytes = total_bytes
        self.usable_bytes = usable_bytes
        self.is_cordoned = is_cordoned


class DescribeLogDirsResponse(Message):
    __slots__ = ('throttle_time_ms', 'error_code', 'results')
    API_KEY: ClassVar[int] = 35
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0, since=1),
        Field('error_code', 'int16', 0, since=3),
        Field('results', 'struct', (), array=True, struct=DescribeLogDirsResult, since=1),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        results: Sequence[DescribeLogDirsResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.results = results
