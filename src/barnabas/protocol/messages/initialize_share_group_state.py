"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class PartitionData(Message):
    __slots__ = ('partition', 'state_epoch', 'start_offset')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition', 'int32', 0),
        Field('state_epoch', 'int32', 0),
        Field('start_offset', 'int64', 0),
    )

    def __init__(
        self,
        partition: int = 0,
        state_epoch: int = 0,
        start_offset: int = 0,
    ) -> None:
        self.partition = partition
        self.state_epoch = state_epoch
        self.start_offset = start_offset


class InitializeStateData(Message):
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


class InitializeShareGroupStateRequest(Message):
    __slots__ = ('group_id', 'topics')
    API_KEY: ClassVar[int] = 83
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('group_id', 'string', ''),
        Field('topics', 'struct', (), array=True, struct=InitializeStateData),
    )

    def __init__(
        self,
        group_id: str = '',
        topics: Sequence[InitializeStateData] = (),
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


class InitializeStateResult(Message):
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


class InitializeShareGroupStateResponse(Message):
    __slots__ = ('results',)
    API_KEY: ClassVar[int] = 83
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('results', 'struct', (), array=True, struct=InitializeStateResult),
    )

    def __init__(
        self,
        results: Sequence[InitializeStateResult] = (),
    ) -> None:
        self.results = results
