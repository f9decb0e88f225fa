"""A thousand trucks on the roads, minute by minute, from a seed: they load, drive, deliver and drive on.

Every truck reports its position every twenty seconds of simulated time, at a second of its own. A receiver is
a few metres wrong, so a truck that stands still seems to crawl.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from barnabas.cli.barnabas.demo.geography import Degrees, Point, between, degrees_of, length_km
from barnabas.cli.barnabas.demo.roads import Network, Road, network

SECONDS_BETWEEN_REPORTS = 20
REPORTS_PER_MINUTE = 60 // SECONDS_BETWEEN_REPORTS
_RECEIVER_ERROR_KM = 0.003
_LOADING_S = (0.0, 360.0)
_DELIVERY_S = (150.0, 420.0)
_SHARE_OF_DELIVERIES = 0.22  # of the junctions a truck passes
_CRUISING = (0.75, 1.0)  # of what the road allows
_RAIN_MINUTES = range(15, 20)
_RAIN_FACTOR = 0.6


class Report(NamedTuple):
    """What a truck sends, and when."""

    truck: str
    number: int
    time_ms: int
    position: Degrees


class Leg(NamedTuple):
    """From one point to the next in a straight line, or standing at one."""

    start: Point
    end: Point
    begin_s: float
    end_s: float


def truck_names(count: int) -> list[str]:
    return [f"truck-{number:04d}" for number in range(count)]


def reports(truck_count: int, report_count: int, start_ms: int, seed: int = 0) -> Iterator[Report]:
    """Everything the fleet sends, in the order of time: the first report of all, then the second of all."""
    region = region_of(seed)
    tracks = [
        _track(name, Random(f"{seed} {name}"), region, report_count, start_ms)
        for name in truck_names(truck_count)
    ]
    for together in zip(*tracks, strict=True):
        yield from together


def region_of(seed: int = 0) -> Network:
    return network(Random(seed))


def _track(name: str, random: Random, region: Network, count: int, start_ms: int) -> Iterator[Report]:
    phase_s = random.uniform(0, SECONDS_BETWEEN_REPORTS)
    legs = tour(random, region)
    leg = next(legs)
    for number in range(count):
        now_s = phase_s + number * SECONDS_BETWEEN_REPORTS
        while leg.end_s < now_s:
            leg = next(legs)
        seen = _seen(random, _place(leg, now_s))
        yield Report(name, number, start_ms + int(now_s * 1000), seen)


def _place(leg: Leg, now_s: float) -> Point:
    duration_s = leg.end_s - leg.begin_s
    return between(leg.start, leg.end, (now_s - leg.begin_s) / duration_s if duration_s else 1.0)


def _seen(random: Random, place: Point) -> Degrees:
    """Five decimals, a metre, are what receivers tell."""
    where = degrees_of(
        Point(
            random.gauss(place.east_km, _RECEIVER_ERROR_KM), random.gauss(place.north_km, _RECEIVER_ERROR_KM)
        )
    )
    return Degrees(round(where.latitude, 5), round(where.longitude, 5))


def tour(random: Random, region: Network) -> Iterator[Leg]:
    """One truck's way, without an end: loading at a depot, then from junction to junction."""
    here, before = random.choice(region.depots), -1
    now_s = random.uniform(*_LOADING_S)
    yield Leg(region.junctions[here], region.junctions[here], 0.0, now_s)
    while True:
        road = _choose(random, region.roads[here], before)
        for leg in _drive(road, now_s, random.uniform(*_CRUISING)):
            yield leg
            now_s = leg.end_s
        here, before = road.end, here
        if random.random() < _SHARE_OF_DELIVERIES:
            delivery_s = random.uniform(*_DELIVERY_S)
            yield Leg(region.junctions[here], region.junctions[here], now_s, now_s + delivery_s)
            now_s += delivery_s


def _choose(random: Random, roads: Sequence[Road], before: int) -> Road:
    """Nobody turns round while there is another way."""
    return random.choice([road for road in roads if road.end != before] or list(roads))


def _drive(road: Road, now_s: float, cruising: float) -> Iterator[Leg]:
    for start, end in zip(road.points, road.points[1:], strict=False):
        speed_kmh = road.speed_kmh * cruising * _weather(now_s)
        end_s = now_s + length_km(start, end) / speed_kmh * 3600
        yield Leg(start, end, now_s, end_s)
        now_s = end_s


def _weather(now_s: float) -> float:
    """A shower slows everybody down: something to see in the summary."""
    return _RAIN_FACTOR if int(now_s // 60) in _RAIN_MINUTES else 1.0
