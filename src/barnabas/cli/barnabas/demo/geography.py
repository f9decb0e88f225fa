"""Points on the ground. A small region is flat: kilometres east and north of its corner, or degrees."""

from __future__ import annotations

import math
from typing import NamedTuple

EARTH_RADIUS_M = 6_371_008.8
# The corner of the map: south-west of Linz, in Upper Austria.
SOUTH, WEST = 48.05, 13.85
_KM_PER_DEGREE = math.pi * EARTH_RADIUS_M / 180_000


class Point(NamedTuple):
    """Kilometres east and north of the map's corner."""

    east_km: float
    north_km: float


class Degrees(NamedTuple):
    latitude: float
    longitude: float


def degrees_of(point: Point) -> Degrees:
    latitude = SOUTH + point.north_km / _KM_PER_DEGREE
    return Degrees(latitude, WEST + point.east_km / (_KM_PER_DEGREE * math.cos(math.radians(SOUTH))))


def between(start: Point, end: Point, share: float) -> Point:
    """The point that lies `share` of the way from one to the other."""
    return Point(
        start.east_km + (end.east_km - start.east_km) * share,
        start.north_km + (end.north_km - start.north_km) * share,
    )


def length_km(start: Point, end: Point) -> float:
    return math.hypot(end.east_km - start.east_km, end.north_km - start.north_km)


def distance_m(here: Degrees, there: Degrees) -> float:
    """Along the great circle."""
    south, north = math.radians(here.latitude), math.radians(there.latitude)
    east = math.radians(there.longitude - here.longitude)
    half = math.sin((north - south) / 2) ** 2 + math.cos(south) * math.cos(north) * math.sin(east / 2) ** 2
    return 2 * EARTH_RADIUS_M * math.asin(math.sqrt(half))
