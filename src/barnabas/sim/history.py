"""What the clients did and saw, in order: all that the checkers know."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from barnabas.model.ids import TopicPartition
from barnabas.sim.cluster_events import ClusterEvent

Offsets: TypeAlias = tuple[tuple[TopicPartition, int], ...]


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
    transaction: str = ""  # a name of the simulation's own; empty: none


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
    read_committed: bool = False
    last_stable_offset: int = -1
    skipped: tuple[int, ...] = ()  # offsets of markers, and of what read_committed hides
    leader_epoch: int = -1  # of the last batch


@dataclass(frozen=True, slots=True)
class Created:
    topic: str
    partitions: int


@dataclass(frozen=True, slots=True)
class Found:
    """The topics that exist at the end, with their number of partitions."""

    topics: dict[str, int]


# --- transactions ------------------------------------------------------------------------------------------


class Fate(Enum):
    COMMITTED = "the commit was acknowledged"
    ABORTED = "the abort was acknowledged, or the commit refused at its first word"
    UNKNOWN = "the producer will never know"


@dataclass(frozen=True, slots=True)
class Ending:
    """The producer asks for the end of its transaction."""

    transaction: str
    commit: bool


@dataclass(frozen=True, slots=True)
class Ended:
    transaction: str
    fate: Fate


@dataclass(frozen=True, slots=True)
class TransactionsFound:
    """What the coordinator says at the end: the state of every transactional id."""

    states: Mapping[str, str]


# --- groups ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Assigned:
    """A member of a group begins to read these partitions, from these offsets."""

    group: str
    member: str
    generation: int  # or member epoch
    positions: Offsets
    asked_ms: int = 0  # when it asked for them, which may be long ago if it was frozen


@dataclass(frozen=True, slots=True)
class Released:
    """It knows that it may not read these any more."""

    group: str
    member: str
    places: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class CommitAsked:
    group: str
    member: str
    generation: int
    offsets: Offsets
    transaction: str = ""


@dataclass(frozen=True, slots=True)
class CommitAcknowledged:
    """For a commit inside a transaction: it will count if the transaction does."""

    asked: CommitAsked


@dataclass(frozen=True, slots=True)
class CommitRefused:
    asked: CommitAsked
    error: int


@dataclass(frozen=True, slots=True)
class OffsetsAsked:
    group: str
    member: str
    places: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class OffsetsRead:
    """-1: the group has committed nothing for the partition."""

    asked: OffsetsAsked
    offsets: Offsets


@dataclass(frozen=True, slots=True)
class GroupFound:
    """What the coordinator says about a group when its members are at rest."""

    group: str
    state: str
    members: int
    expected_members: int


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
    Sent
    | Acknowledged
    | Refused
    | GaveUp
    | Seen
    | Created
    | Found
    | DirectoryFailed
    | Ending
    | Ended
    | TransactionsFound
    | Assigned
    | Released
    | CommitAsked
    | CommitAcknowledged
    | CommitRefused
    | OffsetsAsked
    | OffsetsRead
    | GroupFound
    | ClusterEvent
    | Happened
    | Broke
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
