"""One face for every library's group consumer, and for what its administrator says about groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

CLASSIC, CONSUMER = "classic", "consumer"

Place = tuple[str, int]  # topic and partition


@dataclass(frozen=True, slots=True)
class Joining:
    """How a member joins. `session_timeout_ms` is the client's word in the classic protocol only."""

    group: str
    topics: tuple[str, ...] = ()
    pattern: str | None = None
    protocol: str = CLASSIC
    assignor: str | None = None
    instance_id: str | None = None
    session_timeout_ms: int = 3_000
    isolation: str = "read_uncommitted"
    start: str = "earliest"
    client_id: str = "member"
    metadata_max_age_ms: int = 60_000


@dataclass(frozen=True, slots=True)
class Received:
    topic: str
    partition: int
    offset: int
    value: bytes | None


@dataclass(frozen=True, slots=True)
class Committed:
    offset: int
    metadata: str = ""
    leader_epoch: int | None = None


@dataclass(frozen=True, slots=True)
class DescribedMember:
    member_id: str
    instance_id: str | None
    client_id: str
    places: frozenset[Place]


@dataclass(frozen=True, slots=True)
class DescribedGroup:
    state: str
    members: tuple[DescribedMember, ...]


class Member(Protocol):
    """A running consumer: it polls in the background, as a program does, until it is closed."""

    def assignment(self) -> frozenset[Place]: ...

    def received(self) -> list[Received]:
        """Everything it was given so far."""
        ...

    def error(self) -> int | None:
        """The code of the error that ended its polling."""
        ...

    def commit(self, offsets: Mapping[Place, Committed] | None = None) -> None:
        """These offsets, or where it is."""
        ...

    def committed(self, place: Place) -> Committed | None: ...

    def seek(self, place: Place, offset: int) -> None: ...

    def offset_for_time(self, place: Place, timestamp_ms: int) -> int: ...

    def close(self) -> None:
        """Leave the group politely (a static member stays in it, as every library does)."""
        ...


class GroupAdmin(Protocol):
    def groups(self) -> set[str]: ...

    def describe(self, group: str) -> DescribedGroup: ...

    def offsets(self, group: str) -> dict[Place, Committed]: ...

    def alter_offsets(self, group: str, offsets: Mapping[Place, int]) -> None: ...

    def delete_offsets(self, group: str, places: Iterable[Place]) -> None: ...

    def delete_group(self, group: str) -> None: ...


def values(received: Iterable[Received]) -> list[Any]:
    return [one.value for one in received]
