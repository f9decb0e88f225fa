"""What a coordinator's shard decided: records to append, answers to give once those are committed.

A shard is one partition of an internal topic. It does no IO and keeps no clock: the host appends the entries
as one batch, replays them, and gives the answers when everything appended so far is committed, so that no
answer, a reader's included, tells what a crash or a new leader could undo.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeAlias

from barnabas.model.errors import ErrorCode
from barnabas.model.image import ClusterImage
from barnabas.model.settings.broker import BrokerSettings
from barnabas.protocol.schema import Message


class Entry(NamedTuple):
    """A record of an internal topic, decoded; without a value it removes its key (a tombstone)."""

    key: Message
    value: Message | None


class Producer(NamedTuple):
    """Whose transaction an entry belongs to."""

    id: int
    epoch: int


class Ticket(Protocol):
    """A request that waits for its answer: exactly one of the two is called, once."""

    def answer(self, response: Any) -> None: ...

    def refuse(self, code: ErrorCode) -> None: ...


Answer: TypeAlias = tuple[Ticket, Any]


@dataclass(slots=True)
class Outcome:
    """`entries` become one batch, of `producer`'s transaction if there is one. `replays` is off where the
    shard has already changed its state and only wants to be remembered. `committed` runs after the answers.
    `refused` runs instead of all that when the batch cannot be appended (too large; the disk failed), to take
    back what was changed and to answer; without it every ticket is refused with the code."""

    entries: list[Entry] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    producer: Producer | None = None
    replays: bool = True
    committed: Callable[[], None] | None = None
    refused: Callable[[ErrorCode], Outcome] | None = None


NOTHING = Outcome()


class ShardTimers(Protocol):
    """Operations to run later. A key that is scheduled again replaces its earlier self; when the shard is
    unloaded all of them are forgotten."""

    def schedule(self, key: Hashable, delay_ms: int, operation: Callable[[], Outcome]) -> None: ...

    def cancel(self, key: Hashable) -> None: ...

    def is_scheduled(self, key: Hashable) -> bool: ...


class ShardHost(Protocol):
    """What a shard may ask of the broker it lives on."""

    broker_id: int

    @property
    def timers(self) -> ShardTimers: ...

    @property
    def now_ms(self) -> int:
        """For what is waited for: it never jumps."""
        ...

    @property
    def wall_ms(self) -> int:
        """For what is stored."""
        ...

    @property
    def image(self) -> ClusterImage: ...

    @property
    def settings(self) -> BrokerSettings: ...

    def random_bytes(self, count: int) -> bytes: ...

    def run(self, operation: Callable[[], Outcome]) -> None:
        """Carry out an operation of the shard that no request asked for (an answer from a peer, say)."""
        ...


class Shard(Protocol):
    def replay(self, entry: Entry, offset: int, producer: Producer | None) -> None:
        """The only place where the entry's state changes: at load, and after each append."""
        ...

    def end_transaction(self, producer: Producer, committed: bool) -> None:
        """A marker stands in the log: what this producer wrote under replay counts now, or never."""
        ...

    def loaded(self) -> Iterable[Outcome]:
        """The log is replayed and we are its coordinator: start timers, resume what was under way."""
        ...

    def unloaded(self) -> None:
        """We are no longer its coordinator: refuse (NOT_COORDINATOR) whoever still waits."""
        ...

    def image_changed(self, old: ClusterImage) -> Iterable[Outcome]:
        """Topics came, went or grew; the new image is in the host."""
        ...
