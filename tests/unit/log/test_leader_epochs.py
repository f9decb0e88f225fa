from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.log.checkpoints import EpochEntry
from barnabas.log.leader_epochs import UNDEFINED_END, EpochEnd, LeaderEpochs
from barnabas.sim.disk import SimulatedDisk


def epochs_of(*entries: tuple[int, int]) -> LeaderEpochs:
    cache = LeaderEpochs(SimulatedDisk(), "")
    for epoch, start_offset in entries:
        cache.assign(epoch, start_offset)
    return cache


def test_an_assigned_epoch_is_found_after_a_restart() -> None:
    disk = SimulatedDisk()
    cache = LeaderEpochs(disk, "")
    assert cache.assign(0, 0)
    assert cache.assign(2, 10)
    assert not cache.assign(2, 15)
    assert disk.read_bytes("/leader-epoch-checkpoint") == b"0\n2\n0 0\n2 10\n"
    assert LeaderEpochs(disk, "").entries == ((0, 0), (2, 10))


@pytest.mark.parametrize(
    ("requested", "answer"),
    [
        (-1, UNDEFINED_END),
        (0, EpochEnd(0, 5)),  # older than what we have: its data is gone, ours starts at 5
        (1, EpochEnd(1, 10)),
        (2, EpochEnd(1, 10)),  # never led here: the epoch before it, and its end
        (3, EpochEnd(3, 20)),
        (5, EpochEnd(3, 20)),
        (7, EpochEnd(7, 100)),  # still being written: the end of the log
        (8, UNDEFINED_END),
    ],
)
def test_the_end_of_an_epoch_is_where_the_next_began(requested: int, answer: EpochEnd) -> None:
    assert epochs_of((1, 5), (3, 10), (7, 20)).end_offset_for(requested, 100) == answer


def test_without_epochs_there_is_no_answer() -> None:
    assert epochs_of().end_offset_for(0, 10) == UNDEFINED_END
    assert epochs_of().latest_epoch is None


def test_a_conflicting_epoch_pushes_out_what_it_contradicts() -> None:
    cache = epochs_of((1, 0), (2, 10), (3, 20))
    cache.assign(4, 10)
    assert cache.entries == ((1, 0), (4, 10))
    cache.assign(2, 30)
    assert cache.entries == ((1, 0), (2, 30))


def test_truncating_the_end_forgets_epochs_that_start_there() -> None:
    cache = epochs_of((1, 0), (2, 10), (3, 20))
    cache.truncate_from_end(20)
    assert cache.entries == ((1, 0), (2, 10))
    assert not cache.assign(2, 20)


def test_truncating_the_start_moves_the_epoch_that_holds_it() -> None:
    cache = epochs_of((1, 0), (2, 10), (3, 20))
    cache.truncate_from_start(15)
    assert list(cache.entries) == [(2, 15), (3, 20)]
    cache.truncate_from_start(20)
    assert cache.entries == ((3, 20),)


def test_truncations_reach_the_file_with_flush() -> None:
    disk = SimulatedDisk()
    cache = LeaderEpochs(disk, "")
    cache.assign(1, 0)
    cache.assign(2, 10)
    cache.truncate_from_end(5)
    assert LeaderEpochs(disk, "").entries == ((1, 0), (2, 10))
    cache.flush()
    assert LeaderEpochs(disk, "").entries == ((1, 0),)


def test_the_epoch_of_an_offset_is_the_one_it_was_written_in() -> None:
    cache = epochs_of((1, 5), (3, 10))
    assert [cache.epoch_for_offset(offset) for offset in (4, 5, 9, 10, 99)] == [None, 1, 1, 3, 3]


def test_garbage_in_the_file_is_reported_and_starts_empty() -> None:
    disk = SimulatedDisk()
    disk.write_bytes_durably("/leader-epoch-checkpoint", b"\x00" * 100)
    cache = LeaderEpochs(disk, "")
    assert cache.entries == ()
    assert cache.problem is not None


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 50))))
def test_entries_always_rise_in_epoch_and_offset(assignments: list[tuple[int, int]]) -> None:
    cache = epochs_of(*assignments)
    entries = cache.entries
    assert all(
        one.epoch < other.epoch and one.start_offset < other.start_offset
        for one, other in itertools.pairwise(entries)
    )
    if assignments:
        assert cache.latest is not None
        assert cache.latest.epoch == assignments[-1][0]
        assert isinstance(cache.latest, EpochEntry)
