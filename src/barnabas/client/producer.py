"""Send records. Safe by default: idempotent, acknowledged by every in-sync replica, keys placed as Java does.

A record that was not acknowledged is an exception, never a log line: `Delivery.result()` raises it, or else
the next `flush()` or `close()` does.

With `transactional_id=` records are sent in transactions: `with producer.transaction(): ...` commits all of
them at its end, or none.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeAlias

from barnabas.client.config import from_keywords, server_list
from barnabas.client.errors import ClientError, DeliveryError, Failure, error_name, transaction_error
from barnabas.client.serialise import Serialiser, plain
from barnabas.client.transaction import Transactions

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message

    from barnabas.client.consumer import Consumer

Headers: TypeAlias = Mapping[str, bytes | str | None] | Iterable[tuple[str, bytes | str | None]]

FAILURES_KEPT_MAX = 100
_POLL_SECONDS = 0.1

_DEFAULTS: dict[str, Any] = {
    "acks": "all",
    "enable.idempotence": True,
    # librdkafka would place keys by CRC32: a key must land where the Java client puts it.
    "partitioner": "murmur2_random",
    "delivery.timeout.ms": 120_000,
}


@dataclass(frozen=True, slots=True)
class RecordMetadata:
    """Where an acknowledged record is. `offset` is -1 with acks=0: nobody told."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int


class _Failures:
    """Records that were not acknowledged and that nobody has heard of yet."""

    def __init__(self) -> None:
        self._kept: dict[Delivery, Failure] = {}
        self._beyond = 0

    def add(self, delivery: Delivery, failure: Failure) -> None:
        if len(self._kept) < FAILURES_KEPT_MAX:
            self._kept[delivery] = failure
        else:
            self._beyond += 1

    def forget(self, delivery: Delivery) -> None:
        self._kept.pop(delivery, None)

    def clear(self) -> None:
        self._kept, self._beyond = {}, 0

    def raise_all(self) -> None:
        if self._kept:
            failures, count = tuple(self._kept.values()), len(self._kept) + self._beyond
            self.clear()
            raise DeliveryError(failures, count)


class Delivery:
    """The fate of one record, as a future: pending, then acknowledged or failed."""

    __slots__ = ("_failure", "_failures", "_metadata", "_poll")

    def __init__(self, poll: Callable[[float], None], failures: _Failures) -> None:
        self._poll = poll
        self._failures = failures
        self._metadata: RecordMetadata | None = None
        self._failure: Failure | None = None

    def done(self) -> bool:
        return self._metadata is not None or self._failure is not None

    def result(self, timeout_seconds: float | None = None) -> RecordMetadata:
        """Wait for the acknowledgement. TimeoutError: not yet. DeliveryError: never."""
        deadline = None if timeout_seconds is None else time.monotonic() + timeout_seconds
        while not self.done():
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeoutError(f"no acknowledgement within {timeout_seconds} s")
            self._poll(_POLL_SECONDS)
        if self._failure is not None:
            self._failures.forget(self)
            raise DeliveryError((self._failure,), 1)
        assert self._metadata is not None
        return self._metadata

    def settle(self, error: KafkaError | None, message: Message) -> None:
        """librdkafka reports the record's fate."""
        topic = message.topic() or ""
        if error is not None:
            self._failure = Failure(topic, error_name(error), str(error.str()))
            self._failures.add(self, self._failure)
        else:
            partition, offset = message.partition(), message.offset()
            self._metadata = RecordMetadata(
                topic,
                -1 if partition is None else partition,
                -1 if offset is None else offset,
                message.timestamp()[1],
            )


class Producer:
    """Kafka's settings are keywords, with underscores or dots: `Producer(servers, linger_ms=5)`.

    With `transactional_id` the constructor takes the id: a producer that had it is fenced, and what it left
    open is aborted.
    """

    def __init__(
        self,
        bootstrap_servers: str | Iterable[str],
        *,
        key_serialiser: Serialiser = plain,
        value_serialiser: Serialiser = plain,
        **settings: object,
    ) -> None:
        import confluent_kafka

        config = _config(server_list(bootstrap_servers), from_keywords(settings))
        try:
            self._producer = confluent_kafka.Producer(config, logger=logging.getLogger("barnabas.client"))
        except confluent_kafka.KafkaException as problem:
            raise ClientError("INVALID_CONFIG", str(problem.args[0].str())) from None
        self._key_serialiser = key_serialiser
        self._value_serialiser = value_serialiser
        self._failures = _Failures()
        self._closed = False
        self._transactions = Transactions(self._producer) if "transactional.id" in config else None

    @contextmanager
    def transaction(self, consumer: Consumer | None = None) -> Iterator[None]:
        """The records sent in the block, and the offsets of all that `consumer` has handed out: all or none.

        An exception in the block aborts the transaction and leaves it; the consumer then reads the same
        records again. TransactionError: the end of the block could not be committed, the same happens.
        FencedError: another producer has the transactional id; end.
        """
        if self._transactions is None:
            raise ValueError("a transaction needs a producer with a transactional_id")
        progress = None if consumer is None else consumer.exactly_once()
        self._transactions.begin()
        try:
            yield
            if consumer is not None and progress is not None:
                self._transactions.send_offsets(progress.progress(), consumer.group_metadata())
            self._transactions.commit()
        except BaseException as problem:
            self._transactions.abort(problem)
            # Their deliveries tell that the records are gone; the exception on its way tells why.
            self.poll()
            self._failures.clear()
            if progress is not None:
                progress.aborted()
            raise
        if progress is not None:
            progress.committed()

    def send(
        self,
        topic: str,
        value: Any = None,
        *,
        key: Any = None,
        partition: int | None = None,
        headers: Headers | None = None,
        timestamp_ms: int | None = None,
    ) -> Delivery:
        """Queue one record; a value of None is a tombstone. Waits only while the local queue is full."""
        if self._closed:
            raise ValueError("the producer is closed")
        delivery = Delivery(self.poll, self._failures)
        arguments: dict[str, Any] = {
            "key": None if key is None else self._key_serialiser(key),
            "value": None if value is None else self._value_serialiser(value),
            "on_delivery": delivery.settle,
        }
        if partition is not None:
            arguments["partition"] = partition
        if headers is not None:
            arguments["headers"] = _header_list(headers)
        if timestamp_ms is not None:
            if timestamp_ms <= 0:
                raise ValueError("timestamp_ms counts from 1970 and is above 0: librdkafka takes 0 for now")
            arguments["timestamp"] = timestamp_ms
        self._enqueue(topic, arguments)
        return delivery

    def _enqueue(self, topic: str, arguments: dict[str, Any]) -> None:
        import confluent_kafka

        while True:
            try:
                self._producer.produce(topic, **arguments)
            except BufferError:
                # Ends: what fills the queue is acknowledged or failed within delivery.timeout.ms.
                self._producer.poll(_POLL_SECONDS)
            except confluent_kafka.KafkaException as problem:
                error = problem.args[0]
                raise DeliveryError((Failure(topic, error_name(error), str(error.str())),), 1) from None
            else:
                self._producer.poll(0)
                return

    def flush(self) -> None:
        """Wait until every record sent so far has its fate, at most `delivery.timeout.ms`. DeliveryError if
        one was not acknowledged."""
        import confluent_kafka

        try:
            while self._producer.flush(_POLL_SECONDS * 10):
                pass
        except confluent_kafka.KafkaException as problem:
            raise transaction_error(problem.args[0]) from None
        self._failures.raise_all()

    def close(self) -> None:
        """Flush and refuse further records. Closing twice is fine."""
        if not self._closed:
            self._closed = True
            self.flush()

    def poll(self, timeout_seconds: float = 0) -> None:
        """Let acknowledgements arrive. Sending does this too; a producer that idles may want it."""
        self._producer.poll(timeout_seconds)

    def __enter__(self) -> Producer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        except ClientError as problem:
            if error is None:
                raise
            # The block's own exception leads; the lost records must not hide behind it.
            error.add_note(str(problem))


def _config(servers: str, settings: dict[str, Any]) -> dict[str, Any]:
    defaults = _DEFAULTS | {"bootstrap.servers": servers}
    if "transactional.id" in settings:
        # A record may not take longer than the transaction it is in: then librdkafka's own default holds.
        del defaults["delivery.timeout.ms"]
    return defaults | settings


def _header_list(headers: Headers) -> list[tuple[str, bytes | None]]:
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    return [(name, value.encode() if isinstance(value, str) else value) for name, value in pairs]
