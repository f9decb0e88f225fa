from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.log.producer_entry import BatchInfo, ProducerEntry
from barnabas.log.producer_snapshots import CorruptSnapshotError, SnapshotFiles, decode, encode
from barnabas.log.producer_state import ProducerStates
from barnabas.sim.disk import SimulatedDisk


def new_disk() -> SimulatedDisk:
    disk = SimulatedDisk()
    disk.make_directories("/p")
    return disk


def entry_of(producer_id: int = 1) -> ProducerEntry:
    entry = ProducerEntry(producer_id, 2, 3, 1700000000000, 40)
    entry.batches.append(BatchInfo(9, 49, 4, 1700000000000))
    return entry


def states_with(disk: SimulatedDisk, *end_offsets: int) -> ProducerStates:
    """One batch per end offset, and a snapshot after each."""
    states = ProducerStates(disk, "/p", "t-0")
    sequence = 0
    for end_offset in end_offsets:
        count = end_offset - states.end_offset
        sequence += count
        states.update(1, 0, sequence - 1, states.end_offset, end_offset - 1, 1000)
        states.end_offset = end_offset
        assert states.take_snapshot() is not None
    return states


def reopened(disk: SimulatedDisk, start: int, end: int, now_ms: int = 2000) -> ProducerStates:
    states = ProducerStates(disk, "/p", "t-0")
    states.truncate_and_reload(start, end, now_ms)
    return states


def test_the_bytes_are_kafkas() -> None:
    assert encode([entry_of()]).hex() == (
        "0001" + "0375572d" + "00000001" + "0000000000000001" + "0002" + "00000009" + "0000000000000031"
        "00000004" + "0000018bcfe56800" + "00000003" + "0000000000000028"
    )


def test_a_producer_without_batches_is_written_with_minus_ones() -> None:
    (entry,) = decode(encode([ProducerEntry(5, 1, 7, 99)]))
    assert (entry.producer_id, entry.epoch, entry.coordinator_epoch, entry.last_timestamp_ms) == (5, 1, 7, 99)
    assert not entry.batches
    assert entry.transaction_first_offset == -1


@given(st.binary(max_size=200))
def test_garbage_is_never_taken_for_a_snapshot(data: bytes) -> None:
    with pytest.raises(CorruptSnapshotError):
        decode(data)


@given(st.data())
def test_one_flipped_bit_or_a_cut_is_noticed(data: st.DataObject) -> None:
    good = encode([entry_of(1), entry_of(2)])
    at = data.draw(st.integers(0, len(good) * 8 - 1))
    flipped = bytearray(good)
    flipped[at // 8] ^= 1 << at % 8
    for bad in (bytes(flipped), good[: at // 8]):
        with pytest.raises(CorruptSnapshotError):
            decode(bad)


def test_state_comes_back_from_the_latest_snapshot() -> None:
    disk = new_disk()
    states_with(disk, 10, 25)
    states = reopened(disk, 0, 30)
    assert states.end_offset == 25
    entry = states.entry(1)
    assert entry is not None
    assert (entry.last_sequence, entry.last_data_offset) == (24, 24)


def test_a_snapshot_that_says_nothing_new_is_not_taken() -> None:
    states = states_with(new_disk(), 10)
    assert states.take_snapshot() is None


def test_a_bad_snapshot_is_removed_and_the_one_before_is_used(caplog: pytest.LogCaptureFixture) -> None:
    disk = new_disk()
    states_with(disk, 10, 25)
    disk.write_bytes_durably("/p/00000000000000000025.snapshot", b"\0" * 60)
    with caplog.at_level(logging.WARNING):
        states = reopened(disk, 0, 30)
    assert states.end_offset == 10
    assert disk.list("/p") == ["00000000000000000010.snapshot"]
    assert len(caplog.records) == 1


def test_without_any_snapshot_the_whole_log_is_to_be_replayed() -> None:
    states = reopened(new_disk(), 7, 30)
    assert (states.end_offset, len(states)) == (7, 0)


def test_snapshots_outside_the_log_are_removed() -> None:
    disk = new_disk()
    states_with(disk, 10, 25, 40)
    states = reopened(disk, 10, 30)
    assert disk.list("/p") == ["00000000000000000025.snapshot"]
    assert states.end_offset == 25


def test_expired_producers_do_not_come_back() -> None:
    disk = new_disk()
    states_with(disk, 10)
    assert len(reopened(disk, 0, 10, now_ms=1000 + 86_400_000 - 1)) == 1
    assert len(reopened(disk, 0, 10, now_ms=1000 + 86_400_000)) == 0


def test_open_transactions_come_back_in_order() -> None:
    disk = new_disk()
    states = ProducerStates(disk, "/p", "t-0")
    for producer_id, offset in ((5, 0), (3, 1), (4, 2)):
        states.update(producer_id, 0, 0, offset, offset, 1000, transactional=True)
    states.end_offset = 3
    states.take_snapshot()
    again = reopened(disk, 0, 3)
    assert again.first_unstable_offset == 0
    completed = again.update_marker(5, 0, 0, 3, 1000, aborted=True)
    assert completed is not None
    assert completed.last_stable_offset == 1


def test_strays_are_removed_but_the_last_shutdowns_snapshot_is_kept() -> None:
    disk = new_disk()
    states_with(disk, 10, 20, 30, 45)
    SnapshotFiles(disk, "/p").remove_strays([0, 20, 40])
    assert SnapshotFiles(disk, "/p").offsets == (20, 45)
    SnapshotFiles(disk, "/p").remove_strays([0, 20, 50])
    assert SnapshotFiles(disk, "/p").offsets == (20,)


def test_snapshots_go_with_their_segments() -> None:
    disk = new_disk()
    states = states_with(disk, 10, 20, 30)
    assert states.snapshots.mark_deleted(10) == "/p/00000000000000000010.snapshot.deleted"
    assert states.snapshots.mark_deleted(10) is None
    states.remove_snapshots_before(30)
    assert disk.list("/p") == ["00000000000000000010.snapshot.deleted", "00000000000000000030.snapshot"]
    assert states.snapshots.oldest() == 30
    states.truncate_fully_and_start_at(100)
    assert disk.list("/p") == ["00000000000000000010.snapshot.deleted"]
    assert (states.end_offset, len(states)) == (100, 0)


def test_a_raised_log_start_moves_an_empty_state_with_it() -> None:
    states = ProducerStates(new_disk(), "/p", "t-0")
    states.on_log_start_offset(50)
    assert states.end_offset == 50
    assert states.take_snapshot() is None
    states.end_offset = 60
    assert states.take_snapshot() == "/p/00000000000000000060.snapshot"
