"""The table tells the truth about its samples."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from bench import report
from bench.__main__ import KEYS, selected_rows, there_and_back
from bench.all_rows import ROWS
from bench.cluster.rows import ROWS as CLUSTER_ROWS
from bench.coordinators.rows import ROWS as COORDINATOR_ROWS
from bench.report import Sample, lines, markdown
from bench.rows import Figure, Row
from bench.spark.rows import ROWS as SPARK_ROWS
from bench.subject import BARNABAS, KAFKA

FAST = Figure("throughput", "MB/s", lower_is_better=False, ratio_min=2)
ROW = Row("row", "some load", lambda subject, scale: {}, (FAST,))
ABOUT: dict[str, object] = {
    "rounds": 3,
    "cores": 2,
    "kernel": "6",
    "python": "3",
    "kafka": "4",
    "commit": "abc",
    "date": "today",
    "scale": "normal",
}


def _samples(pairs: list[tuple[float, float]]) -> list[Sample]:
    return [
        sample
        for number, (kafka, ours) in enumerate(pairs)
        for sample in (
            Sample("row", KAFKA, number, {"throughput": kafka}),
            Sample("row", BARNABAS, number, {"throughput": ours}),
        )
    ]


def test_the_ratio_is_the_median_of_the_rounds_and_not_of_the_figures() -> None:
    (line,) = lines([ROW], _samples([(100, 300), (10, 20), (50, 200)]))
    assert line.ratios == [3.0, 2.0, 4.0]
    assert (line.ratio, line.theirs, line.ours) == (3.0, 50, 200)


def test_a_budget_that_is_missed_is_shown_as_missed() -> None:
    assert lines([ROW], _samples([(100, 199)]))[0].verdict() == "no"
    assert lines([ROW], _samples([(100, 201)]))[0].verdict() == "yes"


def test_better_is_above_one_whichever_direction_is_better() -> None:
    (faster,) = lines([ROW], _samples([(100, 400)]))
    slower_is_better = Figure("throughput", "µs", ratio_max=1)
    (slower,) = lines([replace(ROW, figures=(slower_is_better,))], _samples([(100, 400)]))
    assert (faster.times_better, slower.times_better) == (4.0, 0.25)


def test_the_picture_has_a_bar_for_every_figure_with_a_budget(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    unasked = replace(ROW, title="another load", figures=(Figure("throughput", "MB/s"),))
    report.plot(lines([ROW, unasked], _samples([(100, 300)])), report.BROKERS)
    drawn = (tmp_path / "latest.svg").read_text()
    assert "some load: throughput" in drawn
    assert "another load" not in drawn


def test_a_round_with_a_failure_gives_no_ratio() -> None:
    samples = [
        *_samples([(100, 300)]),
        Sample("row", KAFKA, 1, {"throughput": 1}),
        Sample("row", BARNABAS, 1, {}, "no"),
    ]
    (line,) = lines([ROW], samples)
    assert line.ratios == [3.0]


def test_markdown_has_a_line_per_figure_with_ratio_and_range() -> None:
    text = markdown([ROW], _samples([(100, 300), (10, 20), (50, 200)]), ABOUT)
    assert "| some load | throughput, MB/s | 50 | 200 | 3.00× (2.00–4.00) | ≥ 2× ✓ |" in text


def test_an_absolute_budget_looks_at_our_figure_alone() -> None:
    small = Figure("idle", "MiB", absolute_max=60)
    assert small.is_within_budget(59, 5.0)
    assert not small.is_within_budget(61, 0.1)


def test_every_load_goes_there_and_back_and_what_takes_long_once() -> None:
    assert there_and_back(ROW, ["A", "B"], 1) == [(2, "A"), (2, "B"), (3, "B"), (3, "A")]
    assert there_and_back(replace(ROW, once=True), ["A", "B"], 1) == [(2, "A"), (2, "B")]


def test_the_record_of_any_selection_has_a_name_that_a_disk_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    few, many = report.record([ROW], [], ABOUT), ROWS[:-1]
    assert few.name == "today-abc-row.json"
    assert report.record(many, [], ABOUT).exists()


def test_rows_can_be_chosen_by_name_and_by_set() -> None:
    brokers, clusters, connectors = selected_rows(["leave,start,stream,cluster-memory"])
    assert [row.key for row in brokers] == ["start", "leave"]
    assert [row.key for row in clusters] == ["cluster-memory"]
    assert [row.key for row in connectors] == ["stream"]
    assert selected_rows(["coordinators"]) == (list(COORDINATOR_ROWS), [], [])
    assert selected_rows(["spark"]) == ([], [], list(SPARK_ROWS))
    assert selected_rows(None) == (list(ROWS), list(CLUSTER_ROWS), list(SPARK_ROWS))
    assert len(set(KEYS)) == len(KEYS)
