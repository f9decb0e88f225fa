"""Lag at a glance."""

from __future__ import annotations

from barnabas.cli.parts.consumer_groups_rows import OffsetRow
from barnabas.cli.parts.lag_view import HISTORY, LagHistory, bar, largest, sparkline, total
from barnabas.model.ids import TopicPartition

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def row(partition: TopicPartition, lag: int | None) -> OffsetRow:
    return OffsetRow("g", partition, None, None if lag is None else 0, lag, None)


def test_a_bar_is_as_long_as_its_share_and_never_hides_what_is_there() -> None:
    assert bar(100, 100, 4) == "████"
    assert bar(50, 100, 4) == "██"
    assert bar(1, 1_000_000, 4) == "▏"
    assert bar(0, 100, 4) == bar(None, 100, 4) == bar(5, 0, 4) == ""


def test_a_trend_rises_to_the_largest_and_rests_on_zero() -> None:
    assert sparkline([0, 7]) == "▁█"
    assert sparkline([0, 0]) == "▁▁"
    assert sparkline([]) == ""
    assert list(sparkline([1, 2, 4, 8])) == sorted(sparkline([1, 2, 4, 8]))


def test_the_trend_remembers_the_last_looks_and_forgets_partitions_that_are_gone() -> None:
    history = LagHistory()
    for lag in range(HISTORY + 5):
        history.see([row(T0, lag), row(T1, None)])
    assert len(history.trend(T0)) == HISTORY
    assert history.trend(T1) == "▁" * HISTORY
    history.see([row(T1, 3)])
    assert history.trend(T0) == ""


def test_what_is_not_known_counts_as_nothing() -> None:
    rows = [row(T0, 4), row(T1, None)]
    assert (total(rows), largest(rows)) == (4, 4)
    assert (total([]), largest([])) == (0, 0)
