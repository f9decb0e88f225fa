"""What must never be seen, each a small class: the questions of a Jepsen test of Kafka.

A checker gets the whole history and answers with sentences; none means that all is well.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Protocol, TypeAlias, TypeVar

from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.sim.cluster_events import Deleted
from barnabas.sim.history import (
    Acknowledged,
    Broke,
    Created,
    DirectoryFailed,
    Event,
    Found,
    History,
    Refused,
    Seen,
    SeenRecord,
    Sent,
)

E = TypeVar("E")
Values: TypeAlias = dict[TopicPartition, dict[int, bytes | None]]


class Facts:
    """The history, sorted for those who ask."""

    def __init__(self, history: History) -> None:
        self.events: list[Event] = [event for _, event in history.events]
        self._offsets: dict[tuple[TopicPartition, bool], list[int]] = {}

    def beside(self, topic: str) -> Facts:
        """The same without what was written to one topic, and without what became of it."""
        others = History(lambda: 0)
        for event in self.events:
            about = event.sent if isinstance(event, Acknowledged) else event
            place = getattr(about, "place", None)
            if place is None or place.topic != topic:
                others.add(event)
        return Facts(others)

    def of(self, kind: type[E]) -> Iterator[E]:
        return (event for event in self.events if isinstance(event, kind))

    @cached_property
    def sent(self) -> list[Sent]:
        return list(self.of(Sent))

    @cached_property
    def acknowledged(self) -> list[Acknowledged]:
        return [one for one in self.of(Acknowledged) if one.sent.acks != 0]

    @cached_property
    def final(self) -> dict[TopicPartition, list[SeenRecord]]:
        """What is left when all has come to rest."""
        logs: dict[TopicPartition, list[SeenRecord]] = defaultdict(list)
        for seen in self.of(Seen):
            if seen.final and not seen.read_committed:
                logs[seen.place] += seen.records
        return logs

    @cached_property
    def committed(self) -> dict[TopicPartition, list[SeenRecord]]:
        """What is left, to those who read committed records only."""
        logs: dict[TopicPartition, list[SeenRecord]] = defaultdict(list)
        for seen in self.of(Seen):
            if seen.final and seen.read_committed:
                logs[seen.place] += seen.records
        return logs

    def offsets(self, place: TopicPartition, *, read_committed: bool) -> list[int]:
        """Where records are in the end, to those who read in that way."""
        asked = (place, read_committed)
        if asked not in self._offsets:
            log = (self.committed if read_committed else self.final).get(place, [])
            self._offsets[asked] = [record.offset for record in log]
        return self._offsets[asked]

    @cached_property
    def final_values(self) -> Values:
        return {place: {one.offset: one.value for one in log} for place, log in self.final.items()}

    @cached_property
    def final_start(self) -> dict[TopicPartition, int]:
        return {seen.place: seen.log_start_offset for seen in self.of(Seen) if seen.final and not seen.error}


class Checker(Protocol):
    def check(self, facts: Facts) -> Iterable[str]: ...


class NothingBroke:
    """The broker starts, answers in time, and fails no assertion of its own."""

    def check(self, facts: Facts) -> Iterator[str]:
        for broke in facts.of(Broke):
            yield broke.what


class NoLostWrite:
    """Every acknowledged record is where the answer said, with its value."""

    def check(self, facts: Facts) -> Iterator[str]:
        for one in facts.acknowledged:
            sent = one.sent
            values = facts.final_values.get(sent.place, {})
            if one.offset < 0:
                if not set(sent.values) <= set(values.values()):
                    yield f"lost: {sent.producer}'s batch {sent.number} of {sent.place}, a repeat"
                continue
            start = facts.final_start.get(sent.place, 0)
            for offset, value in enumerate(sent.values, one.offset):
                if offset >= start and values.get(offset, b"nothing") != value:
                    yield f"lost: {sent.place} offset {offset}, acknowledged as {_short(value)}"


class LastValueOfKey:
    """In a compacted topic the newest acknowledged record of a key survives, unless a newer one of the same
    key is there, whoever wrote it. A tombstone may be gone with all that came before it."""

    def check(self, facts: Facts) -> Iterator[str]:
        newest: dict[tuple[TopicPartition, bytes], tuple[int, bytes | None]] = {}
        for one in facts.acknowledged:
            for at, (key, value) in enumerate(zip(one.sent.keys, one.sent.values, strict=True)):
                place = (one.sent.place, key or b"")
                offset = one.offset + at
                if key is not None and one.offset >= 0 and offset >= newest.get(place, (-1, b""))[0]:
                    newest[place] = (offset, value)
        left: dict[tuple[TopicPartition, bytes], tuple[int, bytes | None]] = {}
        for partition, log in facts.final.items():
            for record in log:
                left[partition, record.key or b""] = (record.offset, record.value)
        for place, (offset, value) in newest.items():
            found = left.get(place)
            if found is None and value is None:
                continue
            if found is None or found[0] < offset or (found[0] == offset and found[1] != value):
                yield f"the last value of {place[1]!r} in {place[0]} is {found}, not {offset} {_short(value)}"


class NoDuplicate:
    """What an idempotent producer sent once is in the log once at the most."""

    def check(self, facts: Facts) -> Iterator[str]:
        idempotent = {value for sent in facts.sent if sent.idempotent for value in sent.values}
        for place, log in facts.final.items():
            seen: dict[bytes, int] = {}
            for record in log:
                if record.value is not None and record.value in idempotent:
                    if record.value in seen:
                        first = seen[record.value]
                        yield f"twice in {place}: {_short(record.value)} at {first} and {record.offset}"
                    seen[record.value] = record.offset


class InOrder:
    """A producer's records stand in the log in the order in which it sent them; offsets rise."""

    def check(self, facts: Facts) -> Iterator[str]:
        order = {
            value: (sent.producer, sent.number, at)
            for sent in facts.sent
            if sent.idempotent
            for at, value in enumerate(sent.values)
            if value is not None
        }
        for place, log in facts.final.items():
            last: dict[str, tuple[str, int, int]] = {}
            previous = -1
            for record in log:
                if record.offset <= previous:
                    yield f"{place}: offset {record.offset} follows {previous}"
                previous = record.offset
                rank = order.get(record.value or b"")
                if rank is not None:
                    if rank < last.get(rank[0], rank):
                        yield f"{place}: {_short(record.value)} at {record.offset} follows a later one"
                    last[rank[0]] = rank


class NothingInvented:
    """Nobody reads what nobody sent there."""

    def check(self, facts: Facts) -> Iterator[str]:
        sent = {
            (one.place, key, value)
            for one in facts.sent
            for key, value in zip(one.keys, one.values, strict=True)
        }
        for seen in facts.of(Seen):
            for record in seen.records:
                if (seen.place, record.key, record.value) not in sent:
                    yield f"{seen.consumer} read from {seen.place} {record.offset}: {_short(record.value)}"


class OneValuePerOffset:
    """An offset that somebody saw or was told never means another record. With `per_life`, only as long as
    the power stays: what was not synced may go with it."""

    def __init__(self, *, per_life: bool = False) -> None:
        self._per_life = per_life

    def check(self, facts: Facts) -> Iterator[str]:
        known: dict[tuple[int, TopicPartition, int], bytes | None] = {}
        for life, place, offset, value in self._claims(facts):
            where = (life if self._per_life else 0, place, offset)
            if known.setdefault(where, value) != value:
                yield f"{place} offset {offset} was {_short(known[where])} and is {_short(value)}"

    def _claims(self, facts: Facts) -> Iterator[tuple[int, TopicPartition, int, bytes | None]]:
        for event in facts.events:
            if isinstance(event, Seen):
                for record in event.records:
                    yield event.life, event.place, record.offset, record.value
            elif isinstance(event, Acknowledged) and event.offset >= 0 and event.sent.acks != 0:
                for offset, value in enumerate(event.sent.values, event.offset):
                    yield event.life, event.sent.place, offset, value


class HighWatermarkRises:
    """To one consumer the high watermark never goes back, and nothing at or above it is shown."""

    def __init__(self, *, per_life: bool = False) -> None:
        self._per_life = per_life

    def check(self, facts: Facts) -> Iterator[str]:
        highest: dict[tuple[str, TopicPartition, int], int] = {}
        for seen in facts.of(Seen):
            if seen.error:
                continue
            who = (seen.consumer, seen.place, seen.life if self._per_life else 0)
            if seen.high_watermark < highest.get(who, 0):
                yield f"{seen.consumer}: {seen.place} fell from {highest[who]} to {seen.high_watermark}"
            highest[who] = max(highest.get(who, 0), seen.high_watermark)
            if seen.records and seen.records[-1].offset >= seen.high_watermark:
                yield f"{seen.consumer}: {seen.place} shows {seen.records[-1].offset}, not yet committed"


class WholeReads:
    """A fetch gets sound, whole batches from the offset it asked for, without a hole. With `holes`, the topic
    is compacted, and offsets may be missing."""

    def __init__(self, *, holes: bool = False) -> None:
        self._holes = holes

    def check(self, facts: Facts) -> Iterator[str]:
        for seen in facts.of(Seen):
            if seen.problem:
                yield f"{seen.consumer}: {seen.place} at {seen.asked_offset}: {seen.problem}"
            if self._holes:
                continue
            expected = seen.asked_offset
            for offset in sorted((*(record.offset for record in seen.records), *seen.skipped)):
                if offset != expected:
                    yield f"{seen.consumer}: {seen.place} jumps from {expected} to {offset}"
                expected = offset + 1


class ReadersKeepTheirPlace:
    """Nobody who follows the log is told that it is shorter than what he read."""

    def check(self, facts: Facts) -> Iterator[str]:
        for seen in facts.of(Seen):
            if seen.error == ErrorCode.OFFSET_OUT_OF_RANGE:
                yield f"{seen.consumer}: {seen.place} has no offset {seen.asked_offset} any more"


class OnlyTheFailedDirectory:
    """Partitions of a failed directory answer KAFKA_STORAGE_ERROR, all others go on."""

    def check(self, facts: Facts) -> Iterator[str]:
        failed: set[TopicPartition] = set()
        for event in facts.events:
            if isinstance(event, DirectoryFailed):
                failed.update(event.places)
            elif isinstance(event, Refused) and not self._expected(event, failed):
                yield f"{event.producer}: {ErrorCode(event.error).name} from {event.place}"
            elif isinstance(event, Seen) and event.error and event.place not in failed:
                yield f"{event.consumer}: {ErrorCode(event.error).name} from {event.place}"

    def _expected(self, event: Refused, failed: set[TopicPartition]) -> bool:
        """Behind a refused batch the next one is out of order, wherever it is refused."""
        codes = (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)
        return event.place in failed and event.error in codes


class CreatedTopicsExist:
    def check(self, facts: Facts) -> Iterator[str]:
        topics: dict[str, int] = {}
        for found in facts.of(Found):
            topics = found.topics
        deleted = {one.topic for one in facts.of(Deleted)}
        for created in facts.of(Created):
            if created.topic not in deleted and topics.get(created.topic) != created.partitions:
                yield f"{created.topic} was created with {created.partitions}, is {topics.get(created.topic)}"


def _short(value: bytes | None) -> str:
    return "a tombstone" if value is None else repr(value.rstrip(b"."))
