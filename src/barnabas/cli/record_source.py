"""Records from librdkafka, the way Kafka's tools get theirs.

With a group the partitions come from the coordinator. Without one every partition is assigned here, which
reads the same records and needs no coordinator.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from barnabas.cli.kafka_client import (
    CONSUMER_DEFAULTS,
    ERRORS,
    build,
    connection_warnings,
    exception_name,
    metadata_warning,
    sentence,
)
from barnabas.model.errors import ErrorCode
from barnabas.model.ids import INTERNAL_TOPICS

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message, TopicPartition

Offset: TypeAlias = int | Literal["earliest", "latest"]

_POLL_SECONDS = 0.1
_ASK_SECONDS = 0.2
_DISCOVERY_SECONDS = 60.0
_RETRY_SECONDS = (0.1, 0.2, 0.4, 0.8, 1.0)
# What librdkafka reports and Kafka's consumer waits out in silence.
_PASSING = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
)
_PASSING_LOCAL = frozenset(
    {"_UNKNOWN_PARTITION", "_UNKNOWN_TOPIC", "_TRANSPORT", "_ALL_BROKERS_DOWN", "_PARTITION_EOF"}
)


class ReadingError(Exception):
    """Reading cannot go on; the sentence names Kafka's exception."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What to read: one topic, one partition of it, or all topics that match; and the consumer's settings."""

    topic: str | None
    pattern: re.Pattern[str] | None
    partition: int | None
    offset: Offset
    properties: dict[str, str]
    in_group: bool

    @property
    def who(self) -> str:
        return f"Consumer clientId={self.properties['client.id']}, groupId={self.properties['group.id']}"


class RecordSource:
    """A librdkafka consumer that finds its partitions as Kafka's does: waiting for a topic that is not there
    yet, and joining topics and partitions that appear later."""

    def __init__(
        self,
        selection: Selection,
        timeout_ms: int | None,
        statistics: Callable[[str], None] | None = None,
    ) -> None:
        import confluent_kafka

        self._selection = selection
        self._timeout_ms = timeout_ms
        self.assigned_at_ms: int | None = None
        self._assigned: set[tuple[str, int]] = set()
        self._next_discovery = 0.0
        self._discoveries_failed = 0
        self._metadata_requests = 0
        arguments: dict[str, Any] = {
            "error_cb": connection_warnings(selection.who),
            # Only what was written out counts as read.
            "enable.auto.offset.store": False,
        }
        if statistics is not None:
            arguments["stats_cb"] = statistics
        self._consumer = build(confluent_kafka.Consumer, CONSUMER_DEFAULTS, selection.properties, **arguments)
        if selection.in_group:
            pattern = None if selection.pattern is None else f"^({selection.pattern.pattern})$"
            self._consumer.subscribe([selection.topic or pattern or ""], on_assign=self._note_assignment)

    def _note_assignment(self, *_: object) -> None:
        if self.assigned_at_ms is None:
            self.assigned_at_ms = int(time.time() * 1000)

    def close(self) -> None:
        self._consumer.close()

    def serve(self, seconds: float) -> None:
        """Let librdkafka's callbacks come, and drop what else does."""
        self._consumer.consume(1_000_000, timeout=seconds)

    def processed(self, message: Message) -> None:
        if self._selection.in_group:
            self._consumer.store_offsets(message=message)

    def receive(self, count_max: int) -> Iterator[Message]:
        """At least one record, and what else has already arrived."""
        timeout_ms = self._timeout_ms
        deadline = None if timeout_ms is None else time.monotonic() + timeout_ms / 1000
        while True:
            self._discover()
            message = self._consumer.poll(_POLL_SECONDS)
            if message is not None and self._is_record(message):
                break
            if deadline is not None and time.monotonic() > deadline:
                raise ReadingError(f"{ERRORS}TimeoutException")
        yield message
        for message in self._consumer.consume(count_max - 1, timeout=0) if count_max > 1 else ():
            if self._is_record(message):
                yield message

    def _is_record(self, message: Message) -> bool:
        error = message.error()
        if error is None:
            return True
        if error.code() not in _PASSING and error.name() not in _PASSING_LOCAL:
            raise ReadingError(f"{exception_name(error)}: {sentence(error)}")
        return False

    # --- without a group ---------------------------------------------------------------------------------

    def _discover(self) -> None:
        if self._selection.in_group or time.monotonic() < self._next_discovery:
            return
        first = not self._assigned
        found = self._partitions()
        if found is None:
            pause = _RETRY_SECONDS[min(self._discoveries_failed, len(_RETRY_SECONDS) - 1)]
            self._discoveries_failed += 1
            self._next_discovery = time.monotonic() + pause
            return
        self._next_discovery = time.monotonic() + _DISCOVERY_SECONDS
        new = sorted(found - self._assigned)
        self._assigned |= found
        if new:
            self._consumer.incremental_assign([self._position(topic, index, first) for topic, index in new])
            self._note_assignment()

    def _position(self, topic: str, partition: int, first: bool) -> TopicPartition:
        """A partition that appears while we read is read from its first record."""
        import confluent_kafka

        offset = self._selection.offset
        if self._selection.partition is None:
            offset = "latest" if self._selection.properties["auto.offset.reset"] == "latest" else "earliest"
        if offset == "earliest" or not first:
            number = confluent_kafka.OFFSET_BEGINNING
        elif offset == "latest":
            number = confluent_kafka.OFFSET_END
        else:
            number = offset
        return confluent_kafka.TopicPartition(topic, partition, number)

    def _partitions(self) -> set[tuple[str, int]] | None:
        """Every partition to read now; None when nobody could say."""
        import confluent_kafka

        selection = self._selection
        if selection.partition is not None:
            return {(selection.topic or "", selection.partition)}
        try:
            metadata = (
                self._consumer.list_topics(timeout=_ASK_SECONDS)
                if selection.topic is None
                else self._consumer.list_topics(selection.topic, timeout=_ASK_SECONDS)
            )
        except confluent_kafka.KafkaException:
            return None  # the connection's warnings have been printed
        self._metadata_requests += 1
        names = [selection.topic] if selection.topic is not None else self._matching(metadata.topics)
        found: set[tuple[str, int]] = set()
        for name in names:
            topic = metadata.topics[name]
            if topic.error is not None:
                self._complain(name, topic.error)
                return None
            found |= {(name, partition) for partition in topic.partitions}
        return found

    def _matching(self, names: Iterable[str]) -> list[str]:
        pattern = self._selection.pattern
        assert pattern is not None
        return [name for name in names if pattern.fullmatch(name) and name not in INTERNAL_TOPICS]

    def _complain(self, topic: str, error: KafkaError) -> None:
        metadata_warning(self._selection.who, self._metadata_requests, topic, error)
        if error.code() == ErrorCode.INVALID_TOPIC_EXCEPTION:
            raise ReadingError(f"{ERRORS}InvalidTopicException: Invalid topics: [{topic}]")
        if error.code() not in _PASSING:
            raise ReadingError(f"{exception_name(error)}: {sentence(error)}")
