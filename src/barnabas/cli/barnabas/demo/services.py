"""The two readers of the notes: a dashboard that knows where every truck is, and a service that notifies.

Both are told one report after the other and keep what they need; neither knows where reports come from.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from barnabas.cli.barnabas.demo.fleet import Report
from barnabas.cli.barnabas.demo.geography import Degrees, distance_m

_DEPOT_RADIUS_M = 400.0
_LATEST_KEPT = 6


class Service(Protocol):
    def see(self, report: Report) -> None: ...


class Dashboard:
    """The last known position of every truck."""

    def __init__(self) -> None:
        self.last: dict[str, Report] = {}

    def see(self, report: Report) -> None:
        self.last[report.truck] = report

    def density(self, columns: int, rows: int) -> list[list[int]]:
        """How many trucks are in each field of a map, the northernmost row first."""
        fields = [[0] * columns for _ in range(rows)]
        places = [report.position for report in self.last.values()]
        if not places:
            return fields
        west, east = (choose(place.longitude for place in places) for choose in (min, max))
        south, north = (choose(place.latitude for place in places) for choose in (min, max))
        for place in places:
            column = _field(place.longitude, west, east, columns)
            fields[rows - 1 - _field(place.latitude, south, north, rows)][column] += 1
        return fields


def _field(value: float, low: float, high: float, count: int) -> int:
    return min(count - 1, int((value - low) / (high - low) * count)) if high > low else 0


class Notification(NamedTuple):
    truck: str
    time_ms: int
    event: str
    depot: int


class Notifications:
    """Tells when a truck leaves a depot and when it comes to one."""

    def __init__(self, depots: Sequence[Degrees]) -> None:
        self._depots = depots
        self._inside: dict[str, int | None] = {}
        self.latest: deque[Notification] = deque(maxlen=_LATEST_KEPT)
        self.counts: Counter[str] = Counter()

    def see(self, report: Report) -> None:
        now = _depot_at(self._depots, report.position)
        for notification in _crossed(self._inside, report, now):
            self.latest.append(notification)
            self.counts[notification.event] += 1
        self._inside[report.truck] = now


def _depot_at(depots: Sequence[Degrees], place: Degrees) -> int | None:
    # A hundredth of a degree is more than the radius: most depots are far away, and telling so is cheap.
    near = (number for number, depot in enumerate(depots) if abs(depot.latitude - place.latitude) < 0.01)
    return next((number for number in near if distance_m(depots[number], place) < _DEPOT_RADIUS_M), None)


def _crossed(inside: Mapping[str, int | None], report: Report, now: int | None) -> list[Notification]:
    if report.truck not in inside or inside[report.truck] == now:
        return []
    crossings = [("left", inside[report.truck]), ("reached", now)]
    return [
        Notification(report.truck, report.time_ms, event, depot)
        for event, depot in crossings
        if depot is not None
    ]


class InOrder:
    """Whether every report came once and after the one before it; passes them on."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._next: Counter[str] = Counter()
        self.count = 0
        self.out_of_order = 0

    def see(self, report: Report) -> None:
        self.count += 1
        self.out_of_order += report.number != self._next[report.truck]
        self._next[report.truck] = report.number + 1
        self._service.see(report)
