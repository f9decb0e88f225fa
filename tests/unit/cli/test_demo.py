"""The demo's trucks and what is computed of them, without a broker and without Spark."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import pytest
from rich.console import Console, ConsoleRenderable

from barnabas.cli.barnabas.demo import fleet, motion, results, services, tables, topics
from barnabas.cli.barnabas.demo.geography import Degrees, Point, degrees_of, distance_m, length_km

START_MS = 1_800_000_000_000
LINZ, VIENNA = Degrees(48.30694, 14.28583), Degrees(48.20849, 16.37208)


def _fleet(trucks: int = 20, reports: int = 90) -> list[fleet.Report]:
    return list(fleet.reports(trucks, reports, START_MS))


def _tracks(reports: list[fleet.Report]) -> dict[str, list[fleet.Report]]:
    tracks: dict[str, list[fleet.Report]] = {}
    for report in reports:
        tracks.setdefault(report.truck, []).append(report)
    return tracks


def test_distances_are_those_of_an_atlas() -> None:
    assert distance_m(LINZ, VIENNA) == pytest.approx(155_000, rel=0.01)
    assert distance_m(LINZ, LINZ) == 0


def test_the_flat_map_and_the_round_earth_agree_within_a_percent() -> None:
    here, there = Point(3, 4), Point(30, 25)
    metres = distance_m(degrees_of(here), degrees_of(there))
    assert metres == pytest.approx(length_km(here, there) * 1000, rel=0.01)


def test_every_truck_reports_every_twenty_seconds_and_in_the_order_of_time() -> None:
    for track in _tracks(_fleet()).values():
        assert [report.number for report in track] == list(range(90))
        assert {round((b.time_ms - a.time_ms) / 1000) for a, b in pairwise(track)} == {20}


def test_a_fleet_is_the_same_each_time_and_another_with_another_seed() -> None:
    assert _fleet() == _fleet()
    assert _fleet() != list(fleet.reports(20, 90, START_MS, seed=1))


def test_trucks_keep_to_what_roads_allow_and_stop_sometimes() -> None:
    taken = [step for track in _tracks(_fleet()).values() for step in _steps(track)]
    speeds = [step.move.speed_kmh for step in taken if step.move.speed_kmh is not None]
    assert 50 < max(speeds) < 85
    assert 0.05 < sum(step.move.standing for step in taken) / len(taken) < 0.6
    assert any(step.stop for step in taken)


def _steps(track: list[fleet.Report]) -> Iterator[motion.Step]:
    return motion.follow(None, ((report.time_ms, report.position) for report in track))


def _north(metres: float) -> Degrees:
    return Degrees(48.0 + math.degrees(metres / 6_371_008.8), 14.0)


def _seen(metres: list[float]) -> list[motion.Step]:
    """A truck on a straight road, a look every twenty seconds."""
    return list(motion.follow(None, ((START_MS + 20_000 * i, _north(m)) for i, m in enumerate(metres))))


def test_speed_is_the_way_from_the_last_position() -> None:
    moves = [step.move for step in _seen([0, 400, 1000])]
    assert moves == [
        motion.Move(0, None, False),
        motion.Move(400, 72.0, False),
        motion.Move(600, 108.0, False),
    ]


def test_a_stop_is_told_once_when_the_truck_drives_on() -> None:
    steps = _seen([0, 400, *[401, 400] * 4, 800, 1200])
    stops = [step.stop for step in steps]
    assert [stop is not None for stop in stops] == [False] * 10 + [True, False]
    ended = stops[10]
    assert ended is not None
    assert (ended.since_ms, ended.seconds) == (START_MS + 20_000, 160)


@pytest.mark.parametrize(("standing_count", "is_stop"), [(5, False), (6, True)])
def test_standing_for_less_than_two_minutes_is_no_stop(standing_count: int, is_stop: bool) -> None:
    steps = _seen([0, 400, *[400.0] * standing_count, 800])
    assert any(step.stop for step in steps) == is_stop


def test_a_position_seen_twice_at_the_same_time_is_no_division_by_zero() -> None:
    (first,) = motion.follow(None, [(START_MS, _north(0))])
    assert motion.step(first.memory, START_MS, _north(50)).move.speed_kmh == 0


def test_following_in_two_halves_is_following_at_once() -> None:
    (track,) = _tracks(_fleet(trucks=1)).values()
    seen = [(report.time_ms, report.position) for report in track]
    once = list(motion.follow(None, seen))
    for cut in (1, 17, 89):
        first = list(motion.follow(None, seen[:cut]))
        assert first + list(motion.follow(first[-1].memory, seen[cut:])) == once


def _results(reports: list[fleet.Report]) -> results.Results:
    """As the pipeline would write them, everything in one window."""
    found = results.Results()
    metres = 0
    for truck, track in _tracks(reports).items():
        for report, (_, move, stop) in zip(track, _steps(track), strict=True):
            row = results.Speed(
                report.number, report.time_ms, report.position, move.distance_m, move.speed_kmh
            )
            found.speeds.setdefault(truck, []).append(row)
            found.stops += [(truck, stop)] if stop else []
            metres += move.distance_m
    found.windows[START_MS] = results.Window(START_MS, len(reports), metres, 1, 1, 50.0, 80.0)
    return found


def test_right_results_have_no_faults() -> None:
    reports = _fleet()
    assert list(results.faults(_results(reports), results.expected(reports))) == []


def test_a_lost_and_a_doubled_record_are_named() -> None:
    reports = _fleet()
    found = _results(reports)
    found.speeds["truck-0003"].pop()
    found.speeds["truck-0004"].append(found.speeds["truck-0004"][7])
    found.stops.append(found.stops[0])
    faults = list(results.faults(found, results.expected(reports)))
    assert "trucks_speed lacks 1 of 1800 records." in faults
    assert "trucks_speed has 1 records too many." in faults
    assert "trucks_stops has 1 records too many." in faults


def test_a_summary_that_does_not_add_up_is_named() -> None:
    reports = _fleet()
    found = _results(reports)
    window = found.windows[START_MS]
    found.windows[START_MS] = window._replace(positions=window.positions - 1, distance_m=0)
    faults = list(results.faults(found, results.expected(reports)))
    assert faults[-1] == "fleet_summary counts 1799 positions of 1800."
    assert "fleet_summary says 0 m" in faults[-2]


def test_only_the_last_record_of_a_window_counts() -> None:
    found = results.Results()
    for count in (3, 5):
        found.add(
            topics.SUMMARY,
            {
                "since": "2027-01-15T08:00:00.000Z",
                "positions": count,
                "distance_m": 1,
                "moving": 0,
                "standing": 0,
            },
        )
    assert [window.positions for window in found.windows.values()] == [5]


def test_a_report_comes_back_from_its_record() -> None:
    (report,) = fleet.reports(1, 1, START_MS)
    assert topics.report_of(topics.value_of(report), report.time_ms) == report


def test_the_dashboard_knows_where_every_truck_is_now() -> None:
    dashboard = services.Dashboard()
    reports = _fleet()
    for report in reports:
        dashboard.see(report)
    assert set(dashboard.last.values()) == set(reports[-20:])
    assert sum(map(sum, dashboard.density(7, 5))) == 20


def test_the_service_notifies_when_a_truck_leaves_a_depot_and_when_it_comes_to_one() -> None:
    notifications = services.Notifications([_north(0), _north(5000)])
    for number, metres in enumerate([0, 100, 2000, 5000, 5010]):
        notifications.see(fleet.Report("truck-0000", number, number, _north(metres)))
    told = [(row.time_ms, row.event, row.depot) for row in notifications.latest]
    assert told == [(2, "left", 0), (3, "reached", 1)]
    assert notifications.counts == Counter(left=1, reached=1)


@pytest.mark.parametrize(("numbers", "wrong"), [([0, 1, 2], 0), ([0, 1, 1], 1), ([0, 2], 1), ([1, 0], 2)])
def test_a_reader_that_sees_a_report_twice_or_out_of_order_is_found_out(
    numbers: list[int], wrong: int
) -> None:
    checked = services.InOrder(services.Dashboard())
    for number in numbers:
        checked.see(fleet.Report("truck-0000", number, number, LINZ))
    assert checked.out_of_order == wrong


def test_tables_fit_into_eighty_columns() -> None:
    dashboard, notifications = services.Dashboard(), services.Notifications([LINZ])
    reports = _fleet()
    for report in reports:
        dashboard.see(report)
        notifications.see(report)
    console = Console(width=80, quiet=True)
    shown: list[ConsoleRenderable] = [
        tables.dashboard(dashboard),
        tables.notifications(notifications),
        tables.summary(_results(reports)),
        tables.stops(_results(reports)),
    ]
    for table in shown:
        assert console.measure(table).minimum <= 80


def test_an_empty_demo_has_tables_too() -> None:
    console = Console(width=80, quiet=True)
    console.print(tables.dashboard(services.Dashboard()), tables.summary(results.Results()))
    console.print(tables.notifications(services.Notifications([])), tables.stops(results.Results()))
