"""Read records, as a loop.

Without a group the consumer reads every partition of its topics by itself. With `group=` the partitions are
shared with the group's other members, and `delivery=` says when a record counts as done (see `delivery`): by
default when the loop asks for the next one, so that a crash in between reads it again.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections import deque
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any

from barnabas.client.assignment import Start, ends, partitions_of, positions
from barnabas.client.config import from_keywords, server_list
from barnabas.client.delivery import (
    ExactlyOnce,
    Guarantee,
    delivery_of,
    first_offsets,
    rewind,
    settings_of,
)
from barnabas.client.errors import ClientError, consume_error
from barnabas.client.record import Record, record_of
from barnabas.client.serialise import Deserialiser
from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message
    from confluent_kafka import TopicPartition as Position

DEFAULT_DELIVERY: Guarantee = "at-least-once"
BATCH_RECORDS_MAX = 500
DISCOVERY_INTERVAL_SECONDS = 60.0
_POLL_SECONDS = 0.2

# librdkafka asks for a coordinator even where no group is used; its absence then means nothing.
_COORDINATOR_ERRORS = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
    }
)


class Consumer:
    """`for record in Consumer(servers, "topic", start="earliest"): ...`

    `start`: "earliest", "latest", an offset, or a datetime; a group's committed offsets come first.
    `until_end`: stop at the records that exist now. `timeout_seconds`: stop when none came for so long.
    `delivery`: "at-most-once", "at-least-once" or "exactly-once", for a group.
    Kafka's settings are keywords, with underscores or dots.
    """

    def __init__(
        self,
        bootstrap_servers: str | Iterable[str],
        *topics: str,
        group: str | None = None,
        delivery: Guarantee = DEFAULT_DELIVERY,
        start: Start = "latest",
        until_end: bool = False,
        timeout_seconds: float | None = None,
        key_deserialiser: Deserialiser = bytes,
        value_deserialiser: Deserialiser = bytes,
        **settings: object,
    ) -> None:
        if not topics:
            raise ValueError("name at least one topic")
        if group is not None and (until_end or start not in {"earliest", "latest"}):
            raise ValueError(
                "a group decides where reading starts and ends: until_end and start=<offset> need no group"
            )
        if group is None and delivery != DEFAULT_DELIVERY:
            raise ValueError("only a group commits what it has read: delivery needs group=")
        self._topics = topics
        self._group = group
        self._timeout_seconds = timeout_seconds
        self._key_deserialiser = key_deserialiser
        self._value_deserialiser = value_deserialiser
        self._unread: dict[TopicPartition, int] | None = None
        self._errors: deque[Message] = deque()
        self._handed_out: list[Message] = []
        self._closed = False
        own = settings_of(delivery) if group is not None else {"enable.auto.commit": False}
        self._consumer = _connect(bootstrap_servers, group, start, own | from_keywords(settings))
        self._delivery = delivery_of(delivery, self._consumer)
        try:
            self._begin(start, until_end)
        except BaseException:
            self._consumer.close()
            raise

    def _begin(self, start: Start, until_end: bool) -> None:
        if self._group is not None:
            self._consumer.subscribe(list(self._topics), on_revoke=self._revoked, on_lost=self._revoked)
            return
        self._known = partitions_of(self._consumer, self._topics)
        self._discovered_at = time.monotonic()
        if until_end:
            now = {one: ends(self._consumer, one) for one in self._known}
            self._unread = {one: high for one, (low, high) in now.items() if low < high}
        self._consumer.assign(positions(self._consumer, self._known, start))

    def poll(self, timeout_seconds: float = 1.0) -> Record | None:
        """The next record, or None when none came in time."""
        records = self.poll_batch(timeout_seconds, max_records=1)
        return records[0] if records else None

    def poll_batch(
        self, timeout_seconds: float = 1.0, *, max_records: int = BATCH_RECORDS_MAX
    ) -> list[Record]:
        """The next records, as many as are here already; an empty list when none came in time."""
        self._finish_previous()
        self._discover()
        messages = self._fetch(max_records, timeout_seconds)
        records = self._decode(messages)
        return records if self._hand_out(messages[: len(records)]) else []

    def _hand_out(self, messages: list[Message]) -> bool:
        """Whether these may be handed out; remembers them until the caller is done."""
        if self._group is None:
            return True
        self._handed_out = self._delivery.fetched(messages)
        return bool(self._handed_out)

    def _decode(self, messages: list[Message]) -> list[Record]:
        """All of them, or those before the first that cannot be decoded; that one raises when its turn
        comes, and counts as handed out."""
        records: list[Record] = []
        for index, message in enumerate(messages):
            try:
                records.append(record_of(message, self._key_deserialiser, self._value_deserialiser))
            except Exception:
                rewind(self._consumer, first_offsets(messages[max(index, 1) :]))
                if index > 0:
                    break
                self._hand_out(messages[:1])
                raise
        return records

    def batches(self, *, max_records: int = BATCH_RECORDS_MAX) -> Iterator[list[Record]]:
        """Lists of records that came together, never empty: `for batch in consumer.batches(): ...`"""
        waiting_since = time.monotonic()
        while self._unread is None or self._unread:
            records = self.poll_batch(_POLL_SECONDS, max_records=max_records)
            if records:
                yield records
                waiting_since = time.monotonic()
            elif self._is_overdue(waiting_since):
                break
        self.close()

    def _fetch(self, count: int, timeout_seconds: float) -> list[Message]:
        """What came, errors left out: they wait until the records before them were handed out. What is no
        record, such as a partition's end, does not end the wait for one."""
        self._react_to_all()
        deadline = time.monotonic() + timeout_seconds
        while (first := self._consumer.poll(max(0.0, deadline - time.monotonic()))) is not None:
            came = [first, *(self._consumer.consume(count - 1, timeout=0) if count > 1 else [])]
            self._errors.extend(one for one in came if one.error() is not None)
            messages = [one for one in came if one.error() is None and self._is_wanted(one)]
            if messages:
                return messages
            self._react_to_all()
            if time.monotonic() >= deadline or (self._unread is not None and not self._unread):
                break  # in time, or all that was asked for has been read
        return []

    def _react_to_all(self) -> None:
        while self._errors:
            message = self._errors.popleft()
            error = message.error()
            assert error is not None
            self._react(error, message)

    def _is_wanted(self, message: Message) -> bool:
        if self._unread is None:
            return True
        ((where, offset),) = first_offsets([message]).items()
        return self._wanted(where, offset)

    def _wanted(self, where: TopicPartition, offset: int) -> bool:
        """Whether this record existed when reading began; the last one ends its partition."""
        assert self._unread is not None
        end = self._unread.get(where, 0)
        if offset + 1 >= end:
            self._unread.pop(where, None)
        return offset < end

    def _react(self, error: KafkaError, message: Message) -> None:
        if error.name() == "_PARTITION_EOF":
            # Covers tails without records: transaction markers and what compaction removed.
            if self._unread is not None:
                self._unread.pop(TopicPartition(message.topic() or "", message.partition() or 0), None)
        elif self._group is not None or error.code() not in _COORDINATOR_ERRORS:
            raise consume_error(error)

    def _finish_previous(self) -> None:
        if self._handed_out:
            self._delivery.processed(self._handed_out)
            self._handed_out = []

    def _revoked(self, _consumer: Any, partitions: list[Position]) -> None:
        self._delivery.revoked(partitions)

    # --- for the producer's transaction ------------------------------------------------------------------

    def exactly_once(self) -> ExactlyOnce:
        """What a transaction needs to know. ValueError: this consumer commits by itself."""
        if self._group is None or not isinstance(self._delivery, ExactlyOnce):
            raise ValueError('a transaction takes a consumer with a group and delivery="exactly-once"')
        return self._delivery

    def group_metadata(self) -> Any:
        """Who we are in the group, so that a member that was replaced cannot commit."""
        return self._consumer.consumer_group_metadata()

    def _discover(self) -> None:
        """Partitions added since we began are read from their first record: nothing may be skipped."""
        if self._group is not None or self._unread is not None:
            return
        if time.monotonic() - self._discovered_at < DISCOVERY_INTERVAL_SECONDS:
            return
        self._discovered_at = time.monotonic()
        new = partitions_of(self._consumer, self._topics) - self._known
        if new:
            self._known |= new
            self._consumer.incremental_assign(positions(self._consumer, new, "earliest"))

    def __iter__(self) -> Consumer:
        return self

    def __next__(self) -> Record:
        waiting_since = time.monotonic()
        while self._unread is None or self._unread:
            record = self.poll(_POLL_SECONDS)
            if record is not None:
                return record
            if self._is_overdue(waiting_since):
                break
        self.close()
        raise StopIteration

    def _is_overdue(self, waiting_since: float) -> bool:
        limit = self._timeout_seconds
        return limit is not None and time.monotonic() - waiting_since > limit

    def close(self) -> None:
        """Commit what was processed, leave the group, disconnect. Closing twice is fine."""
        if not self._closed:
            self._closed = True
            self._consumer.close()

    def __enter__(self) -> Consumer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _connect(servers: str | Iterable[str], group: str | None, start: Start, settings: dict[str, Any]) -> Any:
    import confluent_kafka

    config: dict[str, Any] = {
        "bootstrap.servers": server_list(servers),
        # librdkafka wants a name even where no group is joined and nothing is committed.
        "group.id": group or f"barnabas-{uuid.uuid4()}",
        "enable.auto.offset.store": False,
        "enable.partition.eof": group is None,
        # librdkafka would rest for a second whenever its queue is full.
        "fetch.queue.backoff.ms": 20,
        "auto.offset.reset": start if start in {"earliest", "latest"} else "error",
    } | settings
    try:
        return confluent_kafka.Consumer(config, logger=logging.getLogger("barnabas.client"))
    except confluent_kafka.KafkaException as problem:
        raise ClientError("INVALID_CONFIG", str(problem.args[0].str())) from None
