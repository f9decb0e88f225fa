"""A region's roads: junctions in a crooked grid, and roads of several speeds between them."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from barnabas.cli.barnabas.demo.geography import Point, between

COLUMNS, ROWS = 14, 9
SPACING_KM = 4.2
_CROOKED_KM = 1.1
_BEND_KM = 0.35
_SHARE_OF_ROADS = 0.8
_SPEEDS_KMH = (50.0, 60.0, 80.0)
_DEPOT_COUNT = 8


class Road(NamedTuple):
    """From one junction to another, through its bends."""

    end: int
    speed_kmh: float
    points: tuple[Point, ...]


class Network(NamedTuple):
    junctions: Sequence[Point]
    roads: Sequence[Sequence[Road]]  # per junction, those that leave it
    depots: Sequence[int]  # junctions where trucks are loaded


def network(random: Random) -> Network:
    junctions = [_junction(random, column, row) for row in range(ROWS) for column in range(COLUMNS)]
    roads: list[list[Road]] = [[] for _ in junctions]
    for start, end in _neighbours():
        # A junction keeps its first road, so that every truck can leave.
        if roads[start] and roads[end] and random.random() > _SHARE_OF_ROADS:
            continue
        there = _road(random, junctions[start], junctions[end], end)
        roads[start].append(there)
        roads[end].append(Road(start, there.speed_kmh, there.points[::-1]))
    return Network(junctions, roads, random.sample(range(len(junctions)), _DEPOT_COUNT))


def _junction(random: Random, column: int, row: int) -> Point:
    return Point(
        column * SPACING_KM + random.uniform(-_CROOKED_KM, _CROOKED_KM),
        row * SPACING_KM + random.uniform(-_CROOKED_KM, _CROOKED_KM),
    )


def _neighbours() -> list[tuple[int, int]]:
    east = [(row * COLUMNS + column, row * COLUMNS + column + 1)
            for row in range(ROWS) for column in range(COLUMNS - 1)]  # fmt: skip
    north = [(junction, junction + COLUMNS) for junction in range((ROWS - 1) * COLUMNS)]
    return sorted(east + north)


def _road(random: Random, start: Point, end: Point, name: int) -> Road:
    bends = [_bend(random, between(start, end, share)) for share in (1 / 3, 2 / 3)]
    return Road(name, random.choice(_SPEEDS_KMH), (start, *bends, end))


def _bend(random: Random, point: Point) -> Point:
    return Point(
        point.east_km + random.uniform(-_BEND_KM, _BEND_KM),
        point.north_km + random.uniform(-_BEND_KM, _BEND_KM),
    )
