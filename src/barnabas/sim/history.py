"""What the clients did and saw, in order: all that the checkers know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from barnabas.model.ids import TopicPartition


@dataclass(frozen=True, slots=True)
class Sent:
    """A producer means to write these values, in this order, as one batch. `number` counts its batches to
    this partition."""

    producer: str
    place: TopicPartition
    number: int
    keys: tuple[bytes | None, ...]
    values: tuple[bytes | None, ...]
    idempotent: bool
    acks: int


@dataclass(frozen=True, slots=True)
class Acknowledged:
    sent: Sent
    offset: int  # of the first value; -1 if the broker did not say (a repeat it no longer remembers)
    life: int  # how often the power had been lost before


@dataclass(frozen=True, slots=True)
class GaveUp:
    """The producer will not know whether the batch was written."""

    sent: Sent
    error: int


@dataclass(frozen=True, slots=True)
class Refused:
    """An answer that makes the producer try again."""

    producer: str
    place: TopicPartition
    error: int


@dataclass(frozen=True, slots=True)
class DirectoryFailed:
    path: str
    places: tuple[TopicPartition, ...]  # what it held


@dataclass(frozen=True, slots=True)
class SeenRecord:
    offset: int
    key: bytes | None
    value: bytes | None
    timestamp: int


@dataclass(frozen=True, slots=True)
class Seen:
    """What one Fetch answer said about one partition."""

    consumer: str
    place: TopicPartition
    asked_offset: int
    error: int
    high_watermark: int
    log_start_offset: int
    records: tuple[SeenRecord, ...]
    problem: str  # why the bytes are not whole, sound batches; empty if they are
    life: int
    final: bool  # read after everything had come to rest


@dataclass(frozen=True, slots=True)
class Created:
    topic: str
    partitions: int


@dataclass(frozen=True, slots=True)
class Found:
    """The topics that exist at the end, with their number of partitions."""

    topics: dict[str, int]


class Fault(Enum):
    KILL = "kill -9"
    POWER_LOSS = "power loss"
    START = "the broker serves"
    STOP = "orderly stop"
    OTHER = ""


@dataclass(frozen=True, slots=True)
class Happened:
    fault: Fault
    what: str


@dataclass(frozen=True, slots=True)
class Broke:
    """Something that may never happen did: a bug of ours that needs no checker."""

    what: str


Event: TypeAlias = (
    Sent | Acknowledged | Refused | GaveUp | Seen | Created | Found | DirectoryFailed | Happened | Broke
)


@dataclass(slots=True)
class History:
    now_ms: Callable[[], int]
    events: list[tuple[int, Event]] = field(default_factory=list)
    power_losses: int = 0

    def add(self, event: Event) -> None:
        if isinstance(event, Happened) and event.fault is Fault.POWER_LOSS:
            self.power_losses += 1
        self.events.append((self.now_ms(), event))
