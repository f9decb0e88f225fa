"""Read records, as a loop.

Without a group the consumer reads every partition of its topics by itself. With `group=` the partitions are
shared with the group's other members, and a record counts as done when the loop asks for the next one: a
crash in between reads it again, it is never skipped.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from barnabas.client.assignment import Start, ends, partitions_of, positions
from barnabas.client.config import from_keywords, server_list
from barnabas.client.errors import ClientError, consume_error
from barnabas.client.record import Record, record_of
from barnabas.client.serialise import Deserialiser
from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message

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
    Kafka's settings are keywords, with underscores or dots.
    """

    def __init__(
        self,
        bootstrap_servers: str | Iterable[str],
        *topics: str,
        group: str | None = None,
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
        self._topics = topics
        self._group = group
        self._timeout_seconds = timeout_seconds
        self._key_deserialiser = key_deserialiser
        self._value_deserialiser = value_deserialiser
        self._unread: dict[TopicPartition, int] | None = None
        self._handed_out: Message | None = None
        self._closed = False
        self._consumer = _connect(bootstrap_servers, group, start, from_keywords(settings))
        try:
            self._begin(start, until_end)
        except BaseException:
            self._consumer.close()
            raise

    def _begin(self, start: Start, until_end: bool) -> None:
        if self._group is not None:
            self._consumer.subscribe(list(self._topics))
            return
        self._known = partitions_of(self._consumer, self._topics)
        self._discovered_at = time.monotonic()
        if until_end:
            now = {one: ends(self._consumer, one) for one in self._known}
            self._unread = {one: high for one, (low, high) in now.items() if low < high}
        self._consumer.assign(positions(self._consumer, self._known, start))

    def poll(self, timeout_seconds: float = 1.0) -> Record | None:
        """The next record, or None when none came in time."""
        self._acknowledge_previous()
        self._discover()
        message = self._consumer.poll(timeout_seconds)
        if message is None:
            return None
        error = message.error()
        if error is not None:
            self._react(error, message)
            return None
        where = TopicPartition(message.topic(), message.partition())
        if self._unread is not None and not self._wanted(where, message.offset()):
            return None
        if self._group is not None:
            self._handed_out = message
        return record_of(message, self._key_deserialiser, self._value_deserialiser)

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

    def _acknowledge_previous(self) -> None:
        if self._handed_out is not None:
            self._consumer.store_offsets(message=self._handed_out)
            self._handed_out = None

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
            if self._timeout_seconds is not None and time.monotonic() - waiting_since > self._timeout_seconds:
                break
        self.close()
        raise StopIteration

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
        "enable.auto.commit": group is not None,
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
