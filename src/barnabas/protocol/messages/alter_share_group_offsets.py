"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class AlterShareGroupOffsetsRequestPartition(Message):
    __slots__ = ('partition_index', 'start_offset')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition_index', 'int32', 0),
        Field('start_offset', 'int64', 0),
    )

    def __init__(
        self,
        partition_index: int = 0,
        start_offset: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.start_offset = start_offset


class AlterShareGroupOffsetsRequestTopic(Message):
    __slots__ = ('topic_name', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_name', 'string', ''),
        Field('partitions', 'struct', (), array=True, struct=AlterShareGroupOffsetsRequestPartition),
    )

    def __init__(
        self,
        topic_name: str = '',
        partitions: Sequence[AlterShareGroupOffsetsRequestPartition] = (),
    ) -> None:
        self.topic_name = topic_name
        self.partitions = partitions


class AlterShareGroupOffsetsRequest(Message):
    __slots__ = ('group_id', 'topics')
    API_KEY: ClassVar[int] = 91
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('group_id', 'string', ''),
        Field('topics', 'struct', (), array=True, struct=AlterShareGroupOffsetsRequestTopic),
    )

    def __init__(
        self,
        group_id: str = '',
        topics: Sequence[AlterShareGroupOffsetsRequestTopic] = (),
    ) -> None:
        self.group_id = group_id
        self.topics = topics


class AlterShareGroupOffsetsResponsePartition(Message):
    __slots__ = ('partition_index', 'error_code', 'error_message')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition_index', 'int32', 0),
        Field('error_code', 'int16', 0),
        Field('error_message', 'string', None, nullable_since=0),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message


class AlterShareGroupOffsetsResponseTopic(Message):
    __slots__ = ('topic_name', 'topic_id', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_name', 'string', ''),
        Field('topic_id', 'uuid', _ZERO),
        Field('partitions', 'struct', (), array=True, struct=AlterShareGroupOffsetsResponsePartition),
    )

    def __init__(
        self,
        topic_name: str = '',
        topic_id: bytes = _ZERO,
        partitions: Sequence[AlterShareGroupOffsetsResponsePartition] = (),
    ) -> None:
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.partitions = partitions


class AlterShareGroupOffsetsResponse(Message):
    __slots__ = ('throttle_time_ms', 'error_code', 'error_message', 'responses')
    API_KEY: ClassVar[int] = 91
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0),
        Field('error_code', 'int16', 0),
        Field('error_message', 'string', None, nullable_since=0),
        Field('responses', 'struct', (), array=True, struct=AlterShareGroupOffsetsResponseTopic),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        responses: Sequence[AlterShareGroupOffsetsResponseTopic] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.responses = responses
