"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class TopicPartition(Message):
    __slots__ = ('topic', 'partitions')
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic', 'string', ''),
        Field('partitions', 'int32', (), array=True),
    )

    def __init__(
        self,
        topic: str = '',
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic = topic
        self.partitions = partitions


class ConsumerProtocolAssignment(Message):
    __slots__ = ('assigned_partitions', 'user_data')
    API_KEY: ClassVar[int] = -1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('assigned_partitions', 'struct', (), array=True, struct=TopicPartition),
        Field('user_data', 'bytes', None, nullable_since=0),
    )

    def __init__(
        self,
        assigned_partitions: Sequence[TopicPartition] = (),
        user_data: bytes | None = None,
    ) -> None:
        self.assigned_partitions = assigned_partitions
        self.user_data = user_data
