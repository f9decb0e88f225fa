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


class ConsumerProtocolSubscription(Message):
    __slots__ = ('topics', 'user_data', 'owned_partitions', 'generation_id', 'rack_id')
    API_KEY: ClassVar[int] = -1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topics', 'string', (), array=True),
        Field('user_data', 'bytes', None, nullable_since=0),
        Field('owned_partitions', 'struct', (), array=True, struct=TopicPartition, since=1),
        Field('generation_id', 'int32', -1, since=2),
        Field('rack_id', 'string', None, since=3, nullable_since=3),
    )

    def __init__(
        self,
        topics: Sequence[str] = (),
        user_data: bytes | None = None,
        owned_partitions: Sequence[TopicPartition] = (),
        generation_id: int = -1,
        rack_id: str | None = None,
    ) -> None:
        self.topics = topics
        self.user_data = user_data
        self.owned_partitions = owned_partitions
        self.generation_id = generation_id
        self.rack_id = rack_id
