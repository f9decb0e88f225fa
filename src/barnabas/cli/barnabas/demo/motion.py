"""What a truck's positions say, one after the other: how fast it drives, and where it stood still."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from barnabas.cli.barnabas.demo.geography import Degrees, distance_m

STANDING_KMH = 5.0  # below this it is the receiver that moves, not the truck
STOP_SECONDS = 120


class Memory(NamedTuple):
    """All that must be known of a truck's past. This is the state in Spark's checkpoint."""

    time_ms: int
    latitude: float
    longitude: float
    standing_since_ms: int | None


class Move(NamedTuple):
    """How the truck came from its last position to this one; the first has no speed. Whole metres, so that
    sums are exact whoever adds them up."""

    distance_m: int
    speed_kmh: float | None
    standing: bool


class Stop(NamedTuple):
    since_ms: int
    seconds: int
    latitude: float
    longitude: float


class Step(NamedTuple):
    memory: Memory
    move: Move
    stop: Stop | None  # the one that has just ended


def step(memory: Memory | None, time_ms: int, position: Degrees) -> Step:
    if memory is None:
        return Step(Memory(time_ms, *position, None), Move(0, None, False), None)
    move = _move(memory, time_ms, position)
    since_ms = (memory.standing_since_ms or memory.time_ms) if move.standing else None
    return Step(Memory(time_ms, *position, since_ms), move, None if move.standing else _ended(memory))


def follow(memory: Memory | None, seen: Iterable[tuple[int, Degrees]]) -> Iterator[Step]:
    """A truck's times and positions, in order, from where it was last."""
    for time_ms, position in seen:
        taken = step(memory, time_ms, position)
        memory = taken.memory
        yield taken


def _move(memory: Memory, time_ms: int, position: Degrees) -> Move:
    metres = distance_m(Degrees(memory.latitude, memory.longitude), position)
    seconds = (time_ms - memory.time_ms) / 1000
    speed_kmh = round(metres / seconds * 3.6, 1) if seconds > 0 else 0.0
    return Move(round(metres), speed_kmh, speed_kmh < STANDING_KMH)


def _ended(memory: Memory) -> Stop | None:
    since_ms = memory.standing_since_ms
    if since_ms is None or memory.time_ms - since_ms < STOP_SECONDS * 1000:
        return None
    return Stop(since_ms, (memory.time_ms - since_ms) // 1000, memory.latitude, memory.longitude)
