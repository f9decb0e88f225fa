"""When a record counts as done: one argument of a consumer in a group, `delivery=`.

    at-most-once     committed before the records are handed out: a crash skips them, none comes twice
    at-least-once    committed after the caller has processed them: a crash repeats them, none is skipped
    exactly-once     committed in a producer's transaction, together with what was made of them

Each is a class with the same three moments; the consumer calls them and knows no more about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeAlias

from barnabas.client.errors import TransactionError, consume_error
from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition

if TYPE_CHECKING:
    from confluent_kafka import Message
    from confluent_kafka import TopicPartition as Position

Guarantee: TypeAlias = Literal["at-most-once", "at-least-once", "exactly-once"]

# The group has moved on without us: whoever has the partition now will read from the last commit.
_NO_LONGER_OURS = frozenset(
    {
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.REBALANCE_IN_PROGRESS,
        ErrorCode.FENCED_MEMBER_EPOCH,
        ErrorCode.STALE_MEMBER_EPOCH,
    }
)


class Delivery(Protocol):
    settings: ClassVar[dict[str, Any]]

    def fetched(self, messages: list[Message]) -> list[Message]:
        """Before they are handed out; returns those that may be."""
        ...

    def processed(self, messages: Sequence[Message]) -> None:
        """The caller asks for more, so it is done with these."""
        ...

    def revoked(self, partitions: Iterable[Position]) -> None:
        """The group gives them to another member."""
        ...


class AtLeastOnce:
    """librdkafka commits what was stored, every few seconds and when the partition or the group is left."""

    settings: ClassVar[dict[str, Any]] = {"enable.auto.commit": True}

    def __init__(self, consumer: Any) -> None:
        self._consumer = consumer

    def fetched(self, messages: list[Message]) -> list[Message]:
        return messages

    def processed(self, messages: Sequence[Message]) -> None:
        if messages:
            self._consumer.store_offsets(offsets=_positions(_after(messages)))

    def revoked(self, partitions: Iterable[Position]) -> None:
        """Stored offsets are committed by librdkafka before the partitions go."""


class AtMostOnce:
    """One commit for what is handed out together: a record, or a batch."""

    settings: ClassVar[dict[str, Any]] = {"enable.auto.commit": False}

    def __init__(self, consumer: Any) -> None:
        self._consumer = consumer

    def fetched(self, messages: list[Message]) -> list[Message]:
        if not messages or self._commit(_after(messages)):
            return messages
        # Not committed, so not ours to hand out; where we still own them they are read again.
        rewind(self._consumer, first_offsets(messages))
        return []

    def _commit(self, offsets: dict[TopicPartition, int]) -> bool:
        import confluent_kafka

        try:
            self._consumer.commit(offsets=_positions(offsets), asynchronous=False)
        except confluent_kafka.KafkaException as problem:
            error = problem.args[0]
            if error.code() in _NO_LONGER_OURS:
                return False
            raise consume_error(error) from None
        return True

    def processed(self, messages: Sequence[Message]) -> None:
        """Committed long ago."""

    def revoked(self, partitions: Iterable[Position]) -> None:
        """What was handed out is committed."""


class ExactlyOnce:
    """Keeps what was handed out and is not yet part of a committed transaction."""

    settings: ClassVar[dict[str, Any]] = {"enable.auto.commit": False, "isolation.level": "read_committed"}

    def __init__(self, consumer: Any) -> None:
        self._consumer = consumer
        self._first: dict[TopicPartition, int] = {}
        self._after: dict[TopicPartition, int] = {}
        self._lost: set[TopicPartition] = set()

    def fetched(self, messages: list[Message]) -> list[Message]:
        self._first = first_offsets(messages) | self._first
        self._after |= _after(messages)
        return messages

    def processed(self, messages: Sequence[Message]) -> None:
        """Only the transaction decides that."""

    def revoked(self, partitions: Iterable[Position]) -> None:
        self._lost |= {TopicPartition(one.topic, one.partition) for one in partitions} & self._after.keys()

    def progress(self) -> list[Position]:
        """The offsets that belong into the transaction. TransactionError: another member has read these
        records too by now, so what was made of them must not be committed here."""
        if self._lost:
            names = ", ".join(sorted(map(str, self._lost)))
            raise TransactionError("REBALANCE_IN_PROGRESS", f"{names} went to another member", retriable=True)
        return _positions(self._after)

    def committed(self) -> None:
        self._first, self._after, self._lost = {}, {}, set()

    def aborted(self) -> None:
        """What was read is read again."""
        first = self._first
        self.committed()
        rewind(self._consumer, first)


def rewind(consumer: Any, offsets: dict[TopicPartition, int]) -> None:
    import confluent_kafka

    assigned = {TopicPartition(one.topic, one.partition) for one in consumer.assignment()}
    for partition, offset in offsets.items():
        if partition in assigned:
            try:
                consumer.seek(confluent_kafka.TopicPartition(*partition, offset))
            except confluent_kafka.KafkaException as problem:
                raise consume_error(problem.args[0]) from None


def delivery_of(guarantee: str, consumer: Any) -> AtLeastOnce | AtMostOnce | ExactlyOnce:
    return _kind(guarantee)(consumer)


def settings_of(guarantee: str) -> dict[str, Any]:
    return _kind(guarantee).settings


def _kind(guarantee: str) -> type[AtLeastOnce | AtMostOnce | ExactlyOnce]:
    if guarantee not in _KINDS:
        raise ValueError(f"delivery is one of {', '.join(_KINDS)}, not {guarantee}")
    return _KINDS[guarantee]


_KINDS: dict[str, type[AtLeastOnce | AtMostOnce | ExactlyOnce]] = {
    "at-most-once": AtMostOnce,
    "at-least-once": AtLeastOnce,
    "exactly-once": ExactlyOnce,
}


def _after(messages: Iterable[Message]) -> dict[TopicPartition, int]:
    """The offset after the last of them, by partition."""
    return {_place(message): _offset(message) + 1 for message in messages}


def first_offsets(messages: Iterable[Message]) -> dict[TopicPartition, int]:
    """The offset of the first of them, by partition."""
    found: dict[TopicPartition, int] = {}
    for message in messages:
        found.setdefault(_place(message), _offset(message))
    return found


def _place(message: Message) -> TopicPartition:
    topic, partition = message.topic(), message.partition()
    assert topic is not None
    assert partition is not None
    return TopicPartition(topic, partition)


def _offset(message: Message) -> int:
    offset = message.offset()
    assert offset is not None
    return offset


def _positions(offsets: dict[TopicPartition, int]) -> list[Position]:
    import confluent_kafka

    return [confluent_kafka.TopicPartition(*place, offset) for place, offset in offsets.items()]
