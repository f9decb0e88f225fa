"""Which log is cleaned, and how far."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from barnabas.log.cleaning.choose import Candidate, CompactionSettings, LogView, examine, filthiest
from barnabas.log.cleaning.job import job_for
from barnabas.log.producer_state import LastRecord
from barnabas.model.ids import TopicPartition

NOW_MS = 1_000_000


class Segment(NamedTuple):
    base_offset: int
    size: int = 100
    first_timestamp: int = 1
    max_timestamp: int = 1


def log_of(
    *segments: Segment,
    name: str = "t",
    start: int = 0,
    stable: int = 1000,
    clean: int | None = None,
    settings: CompactionSettings | None = None,
) -> LogView:
    return LogView(
        TopicPartition(name, 0), segments, start, 1000, stable, clean, settings or CompactionSettings()
    )


FOUR = (Segment(0), Segment(100), Segment(200), Segment(300))


def dirty(candidate: Candidate) -> tuple[int, int]:
    return candidate.first_dirty_offset, candidate.first_uncleanable_offset


def test_a_log_never_cleaned_is_all_dirty_up_to_the_active_segment() -> None:
    candidate = examine(log_of(*FOUR), NOW_MS)
    assert dirty(candidate) == (0, 300)
    assert (candidate.clean_bytes, candidate.cleanable_bytes, candidate.dirty_ratio) == (0, 300, 1.0)
    assert not candidate.reset


def test_cleaning_goes_on_where_it_stopped() -> None:
    candidate = examine(log_of(*FOUR, clean=200), NOW_MS)
    assert dirty(candidate) == (200, 300)
    assert candidate.dirty_ratio == pytest.approx(1 / 3)
    assert not candidate.worth_cleaning


def test_a_log_without_news_or_with_one_segment_is_left_alone() -> None:
    assert filthiest([log_of(*FOUR, clean=300), log_of(Segment(0))], NOW_MS) is None
    assert filthiest([], NOW_MS) is None


def test_the_ratio_must_be_above_the_setting() -> None:
    half = log_of(Segment(0), Segment(100), Segment(200), clean=100)
    assert examine(half, NOW_MS).dirty_ratio == 0.5
    assert filthiest([half], NOW_MS) is None
    eager = CompactionSettings(min_cleanable_dirty_ratio=0.49)
    assert filthiest([log_of(Segment(0), Segment(100), Segment(200), clean=100, settings=eager)], NOW_MS)


def test_the_filthiest_log_comes_first() -> None:
    logs = [
        log_of(*FOUR, name="clean", clean=100),
        log_of(*FOUR, name="filthy"),
        log_of(*FOUR, name="done", clean=300),
    ]
    chosen = filthiest(logs, NOW_MS)
    assert chosen is not None
    assert chosen.log.partition.topic == "filthy"


def test_the_segment_with_undecided_transactions_is_not_cleaned() -> None:
    assert dirty(examine(log_of(*FOUR, stable=250), NOW_MS)) == (0, 200)
    assert dirty(examine(log_of(*FOUR, stable=200), NOW_MS)) == (0, 200)


def test_records_younger_than_the_lag_are_not_cleaned() -> None:
    lagging = CompactionSettings(min_compaction_lag_ms=1000)
    young = (Segment(0), Segment(100, max_timestamp=NOW_MS - 999), Segment(200), Segment(300))
    old = (Segment(0), Segment(100, max_timestamp=NOW_MS - 1000), Segment(200), Segment(300))
    assert dirty(examine(log_of(*young, settings=lagging), NOW_MS)) == (0, 100)
    assert dirty(examine(log_of(*old, settings=lagging), NOW_MS)) == (0, 300)


def test_a_log_that_waited_too_long_is_cleaned_whatever_its_ratio() -> None:
    impatient = CompactionSettings(max_compaction_lag_ms=1000, min_cleanable_dirty_ratio=0.99)
    waiting = (Segment(0), Segment(100), Segment(200, first_timestamp=NOW_MS - 1001), Segment(300))
    patient = (Segment(0), Segment(100), Segment(200, first_timestamp=NOW_MS - 1000), Segment(300))
    assert filthiest([log_of(*waiting, clean=200, settings=impatient)], NOW_MS) is not None
    assert filthiest([log_of(*patient, clean=200, settings=impatient)], NOW_MS) is None


@pytest.mark.parametrize("checkpoint", [50, 1001])
def test_a_checkpoint_outside_the_log_is_reset(checkpoint: int) -> None:
    candidate = examine(log_of(*FOUR, start=100, clean=checkpoint), NOW_MS)
    assert candidate.reset
    assert candidate.first_dirty_offset == 100


def test_a_job_names_the_segments_and_the_producers_that_matter() -> None:
    candidate = examine(log_of(*FOUR), NOW_MS)
    producers = {1: LastRecord(299, 0), 2: LastRecord(300, 0), 3: LastRecord(None, 5)}
    job = job_for(candidate, "/d/t-0", producers, job_id=9, now_ms=NOW_MS)
    assert job.segments == (0, 100, 200)
    assert (job.first_dirty_offset, job.first_uncleanable_offset) == (0, 300)
    assert job.producers == ((1, 299, 0), (3, -1, 5))
    assert (job.partition, job.directory, job.job_id) == ("t-0", "/d/t-0", 9)
