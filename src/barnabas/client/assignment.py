"""Read topics without a group: every partition is ours, and new ones are found while we read."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from barnabas.client.errors import ConsumeError, consume_error
from barnabas.model.ids import TopicPartition

if TYPE_CHECKING:
    from confluent_kafka import TopicPartition as Position

Start: TypeAlias = Literal["earliest", "latest"] | int | datetime

REQUEST_TIMEOUT_SECONDS = 30.0


def partitions_of(consumer: Any, topics: Iterable[str]) -> set[TopicPartition]:
    """The partitions that exist now. ConsumeError: the topic is missing, or no broker answers."""
    import confluent_kafka

    found: set[TopicPartition] = set()
    for name in topics:
        try:
            topic = consumer.list_topics(name, timeout=REQUEST_TIMEOUT_SECONDS).topics[name]
        except confluent_kafka.KafkaException as problem:
            raise consume_error(problem.args[0]) from None
        if topic.error is not None:
            raise consume_error(topic.error)
        found |= {TopicPartition(name, partition) for partition in topic.partitions}
    return found


def positions(consumer: Any, partitions: Iterable[TopicPartition], start: Start) -> list[Position]:
    """Where to start in each partition. "latest" is looked up now, so that whatever is sent after this call
    is read."""
    import confluent_kafka

    ordered = sorted(partitions)
    if start == "earliest":
        return [confluent_kafka.TopicPartition(*one, confluent_kafka.OFFSET_BEGINNING) for one in ordered]
    if start == "latest":
        return [confluent_kafka.TopicPartition(*one, ends(consumer, one)[1]) for one in ordered]
    if isinstance(start, datetime):
        moment_ms = int(start.timestamp() * 1000)
        wanted = [confluent_kafka.TopicPartition(*one, moment_ms) for one in ordered]
        found: list[Position] = consumer.offsets_for_times(wanted, timeout=REQUEST_TIMEOUT_SECONDS)
        return found
    if start < 0:
        raise ValueError(f"an offset is not negative: {start}")
    return [confluent_kafka.TopicPartition(*one, start) for one in ordered]


def ends(consumer: Any, partition: TopicPartition) -> tuple[int, int]:
    """(first offset, offset after the last record), asked of the leader now."""
    import confluent_kafka

    try:
        answer = consumer.get_watermark_offsets(
            confluent_kafka.TopicPartition(*partition), timeout=REQUEST_TIMEOUT_SECONDS
        )
    except confluent_kafka.KafkaException as problem:
        raise consume_error(problem.args[0]) from None
    if answer is None:
        raise ConsumeError("REQUEST_TIMED_OUT", f"no offsets for {partition} in time", retriable=True)
    low, high = answer
    return low, high
