"""Records from librdkafka, the way Kafka's tools get theirs.

With a group the partitions come from the coordinator. Without one every partition is assigned here, which
reads the same records and needs no coordinator.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from barnabas.cli.failures import java_name
from barnabas.cli.kafka_client import (
    CONSUMER_DEFAULTS,
    ERRORS,
    ConnectionWarnings,
    build,
    exception_name,
    sentence,
)
from barnabas.cli.options import OptionError
from barnabas.cli.topic_metadata import TopicMetadata, TopicState
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import INTERNAL_TOPICS
from barnabas.wire.codes import known

if TYPE_CHECKING:
    from confluent_kafka import Message, TopicPartition

Offset: TypeAlias = int | Literal["earliest", "latest"]

_POLL_SECONDS = 0.1
_ASK_SECONDS = 30.0
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


def topic_pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise OptionError(f"java.util.regex.PatternSyntaxException: {error}\n{text}") from None


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
        warnings = ConnectionWarnings(selection.who)
        self._metadata = TopicMetadata(selection.who, selection.properties, warnings)
        arguments: dict[str, Any] = {
            "error_cb": warnings.librdkafka,
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
        self._metadata.close()
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
        selection = self._selection
        if selection.partition is not None:
            return {(selection.topic or "", selection.partition)}
        states = self._states()
        if states is None or any(self._troubled(state) for state in states):
            return None
        return {(state.name, partition) for state in states for partition in state.partitions}

    def _states(self) -> list[TopicState] | None:
        names = None if self._selection.topic is None else [self._selection.topic]
        left_seconds = _ASK_SECONDS if self._timeout_ms is None else self._timeout_ms / 1000
        if self._metadata.is_available:
            states = self._metadata.ask(names, left_seconds)
        else:
            states = _states_from_librdkafka(self._consumer, names, left_seconds)
        return states if states is None or names is not None else [s for s in states if self._matches(s.name)]

    def _matches(self, name: str) -> bool:
        pattern = self._selection.pattern
        assert pattern is not None
        return pattern.fullmatch(name) is not None and name not in INTERNAL_TOPICS

    def _troubled(self, state: TopicState) -> bool:
        if state.error is ErrorCode.INVALID_TOPIC_EXCEPTION:
            raise ReadingError(f"{ERRORS}InvalidTopicException: Invalid topics: [{state.name}]")
        if state.error and not state.may_appear:
            raise ReadingError(f"{java_name(ApiError(state.error))}: {state.error.sentence}")
        return bool(state.error)


def _states_from_librdkafka(
    consumer: Any, names: list[str] | None, left_seconds: float
) -> list[TopicState] | None:
    """Where our own client cannot connect. The first answer about a new topic may be lost to librdkafka."""
    import confluent_kafka

    try:
        found = consumer.list_topics(None if names is None else names[0], timeout=left_seconds).topics
    except confluent_kafka.KafkaException:
        return None
    return [
        TopicState(
            name,
            ErrorCode.NONE if topic.error is None else known(topic.error.code()),
            tuple(sorted(topic.partitions)),
        )
        for name, topic in found.items()
    ]
