"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class PartitionData(Message):
    __slots__ = ('partition',)
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition', 'int32', 0),
    )

    def __init__(
        self,
        partition: int = 0,
    ) -> None:
        self.partition = partition


class DeleteStateData(Message):
    __slots__ = ('topic_id', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_id', 'uuid', _ZERO),
        Field('partitions', 'struct', (), array=True, struct=PartitionData),
    )

    def __init__(
        self,
        topic_id: bytes = _ZERO,
        partitions: Sequence[PartitionData] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


class DeleteShareGroupStateRequest(Message):
    __slots__ = ('group_id', 'topics')
    API_KEY: ClassVar[int] = 86
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('group_id', 'string', ''),
        Field('topics', 'struct', (), array=True, struct=DeleteStateData),
    )

    def __init__(
        self,
        group_id: str = '',
        topics: Sequence[DeleteStateData] = (),
    ) -> None:
        self.group_id = group_id
        self.topics = topics


class PartitionResult(Message):
    __slots__ = ('partition', 'error_code', 'error_message')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition', 'int32', 0),
        Field('error_code', 'int16', 0),
        Field('error_message', 'string', None, nullable_since=0),
    )

    def __init__(
        self,
        partition: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.partition = partition
        self.error_code = error_code
        self.error_message = error_message


class DeleteStateResult(Message):
    __slots__ = ('topic_id', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_id', 'uuid', _ZERO),
        Field('partitions', 'struct', (), array=True, struct=PartitionResult),
    )

    def __init__(
        self,
        topic_id: bytes = _ZERO,
        partitions: Sequence[PartitionResult] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


class DeleteShareGroupStateResponse(Message):
    __slots__ = ('results',)
    API_KEY: ClassVar[int] = 86
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('results', 'struct', (), array=True, struct=DeleteStateResult),
    )

    def __init__(
        self,
        results: Sequence[DeleteStateResult] = (),
    ) -> None:
        self.results = results
