"""What the pipeline wrote, and whether it is what the trucks' positions say. No IO."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from statistics import fmean as mean
from typing import Any, NamedTuple

from barnabas.cli.barnabas.demo.fleet import Report
from barnabas.cli.barnabas.demo.geography import Degrees
from barnabas.cli.barnabas.demo.motion import Memory, Stop, step
from barnabas.cli.barnabas.demo.topics import SPEEDS, STOPS, SUMMARY


class Speed(NamedTuple):
    number: int
    time_ms: int
    position: Degrees
    distance_m: int
    speed_kmh: float | None


class Window(NamedTuple):
    """The fleet in five minutes."""

    since_ms: int
    positions: int
    distance_m: int
    moving: int
    standing: int
    mean_speed_kmh: float
    fastest_kmh: float


@dataclass
class Results:
    """The records of the three new topics."""

    speeds: dict[str, list[Speed]] = field(default_factory=dict)
    stops: list[tuple[str, Stop]] = field(default_factory=list)
    windows: dict[int, Window] = field(default_factory=dict)

    def add(self, topic: str, value: dict[str, Any]) -> None:
        if topic == SPEEDS:
            self.speeds.setdefault(value["truck"], []).append(_speed(value))
        elif topic == STOPS:
            self.stops.append((value["truck"], _stop(value)))
        elif topic == SUMMARY:
            window = _window(value)
            self.windows[window.since_ms] = window  # the last one counts


class Expected(NamedTuple):
    """The same by one loop over the same positions, in one process."""

    positions: Counter[tuple[str, int]]
    distance_m: int
    stops: Counter[tuple[str, Stop]]


def expected(reports: Iterable[Report]) -> Expected:
    memories: dict[str, Memory] = {}
    positions: Counter[tuple[str, int]] = Counter()
    stops: Counter[tuple[str, Stop]] = Counter()
    distance_m = 0
    for report in reports:
        taken = step(memories.get(report.truck), report.time_ms, report.position)
        memories[report.truck] = taken.memory
        positions[report.truck, report.number] += 1
        distance_m += taken.move.distance_m
        if taken.stop is not None:
            stops[report.truck, taken.stop] += 1
    return Expected(positions, distance_m, stops)


def faults(results: Results, wanted: Expected) -> Iterator[str]:
    """A sentence for everything that is not as it should be; none means exactly once."""
    found = Counter((truck, speed.number) for truck, speeds in results.speeds.items() for speed in speeds)
    yield from _differences(SPEEDS, found, wanted.positions)
    yield from _differences(STOPS, Counter(results.stops), wanted.stops)
    distances = {
        "the positions say": wanted.distance_m,
        f"{SPEEDS} says": sum(speed.distance_m for speeds in results.speeds.values() for speed in speeds),
        f"{SUMMARY} says": sum(window.distance_m for window in results.windows.values()),
    }
    if len(set(distances.values())) > 1:
        yield "The distances differ: " + ", ".join(f"{who} {metres} m" for who, metres in distances.items())
    counted = sum(window.positions for window in results.windows.values())
    if counted != wanted.positions.total():
        yield f"{SUMMARY} counts {counted} positions of {wanted.positions.total()}."


def _differences(topic: str, found: Counter[Any], wanted: Counter[Any]) -> Iterator[str]:
    missing, beyond = (wanted - found).total(), (found - wanted).total()
    if missing:
        yield f"{topic} lacks {missing} of {wanted.total()} records."
    if beyond:
        yield f"{topic} has {beyond} records too many."


def longest(stops: Sequence[tuple[str, Stop]], count: int) -> list[tuple[str, Stop]]:
    return sorted(stops, key=lambda row: (-row[1].seconds, row[0]))[:count]


def worth_showing(results: Results) -> list[str]:
    """From every place where trucks set out, the one that stopped most often and drove farthest."""
    stops = Counter(truck for truck, _ in results.stops)
    best: dict[tuple[float, float], tuple[int, int, str]] = {}
    for truck, speeds in results.speeds.items():
        start = min(speeds).position
        place = round(start.latitude, 2), round(start.longitude, 2)
        merit = stops[truck], sum(speed.distance_m for speed in speeds), truck
        best[place] = max(best.get(place, merit), merit)
    return [truck for _, _, truck in sorted(best.values(), reverse=True)]


def stops_by_place(stops: Sequence[tuple[str, Stop]]) -> list[tuple[Degrees, int]]:
    """How many trucks stood within the same kilometre, and the middle of where they stood."""
    places: dict[tuple[float, float], list[Stop]] = {}
    for _, stop in stops:
        places.setdefault((round(stop.latitude, 2), round(stop.longitude, 2)), []).append(stop)
    return [
        (Degrees(mean(one.latitude for one in near), mean(one.longitude for one in near)), len(near))
        for near in places.values()
    ]


def _speed(value: dict[str, Any]) -> Speed:
    where = Degrees(value["latitude"], value["longitude"])
    return Speed(
        value["number"], _milliseconds(value["time"]), where, value["distance_m"], value.get("speed_kmh")
    )


def _stop(value: dict[str, Any]) -> Stop:
    return Stop(_milliseconds(value["since"]), value["seconds"], value["latitude"], value["longitude"])


def _window(value: dict[str, Any]) -> Window:
    return Window(
        _milliseconds(value["since"]),
        value["positions"],
        value["distance_m"],
        value["moving"],
        value["standing"],
        value.get("mean_speed_kmh", 0.0),  # absent while nobody drives
        value.get("fastest_kmh", 0.0),
    )


def _milliseconds(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)
