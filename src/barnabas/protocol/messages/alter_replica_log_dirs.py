"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class AlterReplicaLogDirTopic(Message):
    __slots__ = ('name', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', '', since=1),
        Field('partitions', 'int32', (), array=True, since=1),
    )

    def __init__(
        self,
        name: str = '',
        partitions: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class AlterReplicaLogDir(Message):
    __slots__ = ('path', 'topics')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('path', 'string', '', since=1),
        Field('topics', 'struct', (), array=True, struct=AlterReplicaLogDirTopic, since=1),
    )

    def __init__(
        self,
        path: str = '',
        topics: Sequence[AlterReplicaLogDirTopic] = (),
    ) -> None:
        self.path = path
        self.topics = topics


class AlterReplicaLogDirsRequest(Message):
    __slots__ = ('dirs',)
    API_KEY: ClassVar[int] = 34
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('dirs', 'struct', (), array=True, struct=AlterReplicaLogDir, since=1),
    )

    def __init__(
        self,
        dirs: Sequence[AlterReplicaLogDir] = (),
    ) -> None:
        self.dirs = dirs


class AlterReplicaLogDirPartitionResult(Message):
    __slots__ = ('partition_index', 'error_code')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition_index', 'int32', 0, since=1),
        Field('error_code', 'int16', 0, since=1),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code


class AlterReplicaLogDirTopicResult(Message):
    __slots__ = ('topic_name', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_name', 'string', '', since=1),
        Field('partitions', 'struct', (), array=True, struct=AlterReplicaLogDirPartitionResult, since=1),
    )

    def __init__(
        self,
        topic_name: str = '',
        partitions: Sequence[AlterReplicaLogDirPartitionResult] = (),
    ) -> None:
        self.topic_name = topic_name
        self.partitions = partitions


class AlterReplicaLogDirsResponse(Message):
    __slots__ = ('throttle_time_ms', 'results')
    API_KEY: ClassVar[int] = 34
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0, since=1),
        Field('results', 'struct', (), array=True, struct=AlterReplicaLogDirTopicResult, since=1),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: Sequence[AlterReplicaLogDirTopicResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = results
