"""One record as a consumer sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from barnabas.client.serialise import Deserialiser

if TYPE_CHECKING:
    from confluent_kafka import Message


@dataclass(frozen=True, slots=True)
class Record:
    """`key` and `value` are bytes, or what the consumer's deserialisers made of them; None is a missing key
    and a tombstone."""

    topic: str
    partition: int
    offset: int
    key: Any
    value: Any
    headers: tuple[tuple[str, bytes | None], ...]
    timestamp_ms: int


def record_of(message: Message, key_deserialiser: Deserialiser, value_deserialiser: Deserialiser) -> Record:
    key, value = message.key(), message.value()
    topic, partition, offset = message.topic(), message.partition(), message.offset()
    assert topic is not None
    assert partition is not None
    assert offset is not None
    headers: Any = message.headers() or ()
    return Record(
        topic,
        partition,
        offset,
        None if key is None else key_deserialiser(key),
        None if value is None else value_deserialiser(value),
        tuple(headers),
        message.timestamp()[1],
    )
