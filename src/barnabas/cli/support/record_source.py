"""Records from librdkafka, the way Kafka's tools get theirs: as a member of a group, or, where one partition
is named, straight from it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from barnabas.cli.support.connection_warnings import ConnectionWarnings
from barnabas.cli.support.failures import java_name
from barnabas.cli.support.librdkafka import CONSUMER_DEFAULTS, ERRORS, build, exception_name, sentence
from barnabas.cli.support.options import OptionError
from barnabas.cli.support.topic_metadata import RefusedError, TopicMetadata, TopicState
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import INTERNAL_TOPICS

if TYPE_CHECKING:
    from confluent_kafka import Message, TopicPartition

Offset: TypeAlias = int | Literal["earliest", "latest"]

_POLL_SECONDS = 0.1
_RESET_PLACES = {"earliest": 0, "latest": 1}  # of a partition's two ends
_ASK_SECONDS = 30.0
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


# With auto.offset.reset=none.
_NO_PLACE = frozenset({"_AUTO_OFFSET_RESET", "_NO_OFFSET"})
_NO_OFFSET = "org.apache.kafka.clients.consumer.NoOffsetForPartitionException"


class ReadingError(Exception):
    """Reading cannot go on; the sentence names Kafka's exception."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What to read: one topic, one partition of it from an offset on, or all topics that match; and the
    consumer's settings."""

    topic: str | None
    pattern: re.Pattern[str] | None
    partition: int | None
    offset: Offset
    properties: dict[str, str]

    @property
    def who(self) -> str:
        return f"Consumer clientId={self.properties['client.id']}, groupId={self.properties['group.id']}"


def topic_pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise OptionError(f"java.util.regex.PatternSyntaxException: {error}\n{text}") from None


class RecordSource:
    """A librdkafka consumer that waits, as Kafka's does, for a topic that is not there yet."""

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
        # Whoever names a topic hears what is wrong with it until nothing is.
        self._topic_is_there = selection.topic is None
        self._next_question = 0.0
        self._questions = 0
        self._commits = (
            selection.partition is None
            and selection.properties.get("enable.auto.commit", "true").lower() == "true"
        )
        self._new_partitions: list[TopicPartition] = []
        self._may_create = selection.properties.get("allow.auto.create.topics", "true").lower() == "true"
        warnings = ConnectionWarnings(selection.who)
        self._metadata = TopicMetadata(selection.who, selection.properties, warnings)
        arguments: dict[str, Any] = {
            "error_cb": warnings.librdkafka,
            # Only what was written out counts as read.
            "enable.auto.offset.store": False,
        }
        if selection.pattern is not None:
            # A pattern never means the brokers' own topics.
            arguments["topic.blacklist"] = ",".join(f"^{name}$" for name in sorted(INTERNAL_TOPICS))
        if statistics is not None:
            arguments["stats_cb"] = statistics
        self._consumer = build(confluent_kafka.Consumer, CONSUMER_DEFAULTS, selection.properties, **arguments)

    def begin(self) -> None:
        """ValueError, in Kafka's words, for a topic without a name."""
        selection = self._selection
        if selection.partition is None:
            if selection.topic == "":
                raise ValueError("Topic collection to subscribe to cannot contain null or empty topic")
            self._subscribe()
        else:
            if selection.topic == "":
                raise ValueError("Topic partitions to assign to cannot have null or empty topic")
            self._consumer.assign([self._position(selection.partition)])
            self._note_assignment()

    def _subscribe(self) -> None:
        pattern = self._selection.pattern
        name = self._selection.topic if pattern is None else f"^({pattern.pattern})$"
        self._consumer.subscribe([name or ""], on_assign=self._note_assignment)

    def _note_assignment(self, _: object = None, partitions: Sequence[TopicPartition] = ()) -> None:
        if self.assigned_at_ms is None:
            self.assigned_at_ms = int(time.time() * 1000)
        if self._commits:
            self._new_partitions += partitions

    def close(self) -> None:
        self._metadata.close()
        self._consumer.close()

    def serve(self, seconds: float) -> None:
        """Let librdkafka's callbacks come, and drop what else does."""
        self._consumer.consume(1_000_000, timeout=seconds)

    def processed(self, message: Message) -> None:
        if self._selection.partition is None:
            self._consumer.store_offsets(message=message)

    def processed_all(self) -> None:
        """Everything that was received, without a word about each."""
        places = self._consumer.position(self._consumer.assignment())
        if read := [place for place in places if place.offset >= 0]:
            self._consumer.store_offsets(offsets=read)

    def receive(self, count_max: int) -> Iterator[Message]:
        """At least one record, and what else has already arrived."""
        timeout_ms = self._timeout_ms
        deadline = None if timeout_ms is None else time.monotonic() + timeout_ms / 1000
        while True:
            self._look_for_topic()
            message = self._consumer.poll(_POLL_SECONDS)
            if self._new_partitions:
                self._keep_starts(message)
            if message is not None and self._is_record(message):
                break
            if deadline is not None and time.monotonic() > deadline:
                raise ReadingError(f"{ERRORS}TimeoutException")
        yield message
        for message in self._consumer.consume(count_max - 1, timeout=0) if count_max > 1 else ():
            if self._is_record(message):
                yield message

    def _keep_starts(self, message: Message | None) -> None:
        """Kafka's consumer commits where it stands although it has read nothing yet: who comes back finds
        what was written meanwhile. librdkafka commits only what was read."""
        import confluent_kafka

        new, self._new_partitions = self._new_partitions, []
        read = None if message is None else (message.topic(), message.partition())
        with suppress(confluent_kafka.KafkaException):  # they are given away again, or nobody answers in time
            for found in self._consumer.committed(new, timeout=_ASK_SECONDS):
                if found.offset < 0 and (found.topic, found.partition) != read:
                    self._keep_start(confluent_kafka.TopicPartition(found.topic, found.partition))

    def _keep_start(self, partition: TopicPartition) -> None:
        place = _RESET_PLACES.get(self._selection.properties.get("auto.offset.reset", "latest"))
        bounds = self._consumer.get_watermark_offsets(partition, timeout=_ASK_SECONDS)
        if place is not None and bounds is not None:
            partition.offset = bounds[place]
            self._consumer.store_offsets(offsets=[partition])

    def _is_record(self, message: Message) -> bool:
        error = message.error()
        if error is None:
            return True
        if error.name() in _NO_PLACE:
            place = f"{message.topic()}-{message.partition()}"
            raise ReadingError(
                f"{_NO_OFFSET}: Undefined offset with no reset policy for partitions: [{place}]"
            )
        if error.code() not in _PASSING and error.name() not in _PASSING_LOCAL:
            raise ReadingError(f"{exception_name(error)}: {sentence(error)}")
        return False

    def _position(self, partition: int) -> TopicPartition:
        import confluent_kafka

        places = {"earliest": confluent_kafka.OFFSET_BEGINNING, "latest": confluent_kafka.OFFSET_END}
        offset = self._selection.offset
        number = places[offset] if isinstance(offset, str) else offset
        return confluent_kafka.TopicPartition(self._selection.topic or "", partition, number)

    # --- a topic that is not there yet -------------------------------------------------------------------

    def _look_for_topic(self) -> None:
        if self._topic_is_there or time.monotonic() < self._next_question:
            return
        if not self._metadata.is_available:
            self._topic_is_there = True  # librdkafka will find it, only more slowly
            return
        states = self._states()
        if states is None or any(self._troubled(state) for state in states):
            pause = _RETRY_SECONDS[min(self._questions, len(_RETRY_SECONDS) - 1)]
            self._questions += 1
            self._next_question = time.monotonic() + pause
            return
        self._topic_is_there = True
        if self._questions and self._selection.partition is None:
            # librdkafka would look again in minutes; a new subscription makes it look now.
            self._subscribe()

    def _states(self) -> list[TopicState] | None:
        left_seconds = _ASK_SECONDS if self._timeout_ms is None else self._timeout_ms / 1000
        try:
            return self._metadata.ask([self._selection.topic or ""], left_seconds, create=self._may_create)
        except RefusedError as refusal:
            raise ReadingError(str(refusal)) from None

    def _troubled(self, state: TopicState) -> bool:
        if state.error is ErrorCode.INVALID_TOPIC_EXCEPTION:
            raise ReadingError(f"{ERRORS}InvalidTopicException: Invalid topics: [{state.name}]")
        if state.error and not state.may_appear:
            raise ReadingError(f"{java_name(ApiError(state.error))}: {state.error.sentence}")
        return bool(state.error)
