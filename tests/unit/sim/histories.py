"""Histories made by hand: short stories for the checkers."""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.model.ids import TopicPartition
from barnabas.sim.checkers import Checker, Facts
from barnabas.sim.history import (
    Acknowledged,
    Assigned,
    CommitAcknowledged,
    CommitAsked,
    Ended,
    Ending,
    Event,
    Fate,
    History,
    OffsetsAsked,
    OffsetsRead,
    Seen,
    SeenRecord,
    Sent,
)

HERE = TopicPartition("topic", 0)
THERE = TopicPartition("topic", 1)


def complaints(checker: Checker, *events: Event | Sequence[Event]) -> list[str]:
    history = History(lambda: 0)
    for event in events:
        for one in event if isinstance(event, Sequence) else (event,):
            history.add(one)
    return list(checker.check(Facts(history)))


def seen(
    consumer: str,
    first: int,
    *values: bytes,
    place: TopicPartition = HERE,
    stable: int = 1000,
    read_committed: bool = True,
    final: bool = False,
) -> Seen:
    records = tuple(SeenRecord(offset, None, value, 0) for offset, value in enumerate(values, first))
    return Seen(
        consumer, place, first, 0, 1000, 0, records, "", 0, final, read_committed, last_stable_offset=stable
    )


def left(first: int, *values: bytes, place: TopicPartition = HERE) -> list[Event]:
    """What the last readers find, in both ways of reading."""
    return [
        seen("reader", first, *values, place=place, read_committed=committed, final=True)
        for committed in (False, True)
    ]


def written(transaction: str, offset: int, *values: bytes, place: TopicPartition = HERE) -> list[Event]:
    sent = Sent("writer", place, 0, (None,) * len(values), values, True, -1, transaction)
    return [sent, Acknowledged(sent, offset, 0)]


def committed(transaction: str) -> list[Event]:
    return [Ending(transaction, True), Ended(transaction, Fate.COMMITTED)]


def aborted(transaction: str) -> list[Event]:
    return [Ending(transaction, False), Ended(transaction, Fate.ABORTED)]


def assigned(member: str, position: int = 0, place: TopicPartition = HERE) -> Event:
    return Assigned("group", member, 1, ((place, position),))


def commit(member: str, offset: int, transaction: str = "") -> list[Event]:
    asked = CommitAsked("group", member, 1, ((HERE, offset),), transaction)
    return [asked, CommitAcknowledged(asked)]


def offsets(member: str, offset: int) -> list[Event]:
    asked = OffsetsAsked("group", member, (HERE,))
    return [asked, OffsetsRead(asked, ((HERE, offset),))]
