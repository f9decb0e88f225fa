"""Compaction: of every key the last value stays, and nothing else changes."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.log.compaction import RETENTION_MS, START_MS, Partition

from barnabas.log.cleaning.job import (
    CleaningJob,
    GroupCleaned,
    JobDone,
    JobFailed,
    Outcome,
    outcome_from_line,
    outcome_to_line,
)
from barnabas.log.cleaning.offset_map import OffsetMap
from barnabas.log.cleaning.rewrite import SegmentSizes, group_segments, run
from barnabas.log.cleaning.swap import discard_cleaned
from barnabas.records.batch import ATTRIBUTES_AT, LOG_APPEND_TIME, seal
from barnabas.records.compress import Codec
from barnabas.sim.disk import SimulatedDisk


def new_partition() -> Partition:
    return Partition(SimulatedDisk())


def filled(*segments: Sequence[tuple[bytes | None, bytes | None]], **fields: int) -> Partition:
    """One batch per segment, then the active segment."""
    partition = new_partition()
    for pairs in segments:
        partition.write(*pairs, **fields)
        partition.roll()
    partition.write((b"active", b"1"))
    partition.store()
    return partition


def test_only_the_last_value_of_a_key_stays_at_its_offset() -> None:
    partition = filled([(b"a", b"1"), (b"b", b"1")], [(b"a", b"2"), (b"c", b"1")])
    before = {record.offset: record for record in partition.records()}
    outcomes = partition.compact()
    assert [record.offset for record in partition.records()] == [1, 2, 3, 4]
    assert all(before[record.offset] == record for record in partition.records())
    assert isinstance(outcomes[-1], JobDone)
    assert outcomes[-1].end_offset == 4
    group = outcomes[0]
    assert isinstance(group, GroupCleaned)
    assert (group.base_offset, group.old_segments) == (0, (0, 2))
    assert (group.records_before, group.records_after) == (4, 3)
    assert group.bytes_after < group.bytes_before


def test_the_active_segment_is_not_touched() -> None:
    partition = filled([(b"active", b"0"), (b"b", b"1")])
    partition.compact()
    assert [record.value for record in partition.records()] == [b"0", b"1", b"1"]


@pytest.mark.parametrize("codec", list(Codec))
def test_a_filtered_batch_keeps_its_codec_and_an_untouched_one_its_bytes(codec: Codec) -> None:
    partition = filled([(b"a", b"x" * 500), (b"b", b"y" * 500)], [(b"a", b"z"), (b"d", b"w")], codec=codec)
    untouched = partition.batches()[1][0]
    partition.compact()
    (_, filtered), (data, _), _ = partition.batches()
    assert data == untouched
    assert (filtered.codec, filtered.count, filtered.base_offset, filtered.last_offset) == (codec, 1, 0, 1)


def test_records_without_a_key_do_not_survive() -> None:
    partition = filled([(None, b"1"), (b"b", b"1")])
    partition.compact()
    assert [record.key for record in partition.records()] == [b"b", b"active"]


def test_a_tombstone_outlives_its_key_by_delete_retention_and_then_goes() -> None:
    partition = filled([(b"a", b"1"), (b"b", b"1")], [(b"a", None), (b"c", b"1")])
    timestamps = {record.offset: record.timestamp for record in partition.records()}
    partition.compact()
    assert [record.offset for record in partition.records()] == [1, 2, 3, 4]
    assert all(timestamps[record.offset] == record.timestamp for record in partition.records())
    horizons = [header.delete_horizon_ms for _, header in partition.batches()]
    assert horizons == [None, START_MS + RETENTION_MS, None]
    partition.compact_again(START_MS + RETENTION_MS - 1)
    assert [record.offset for record in partition.records()] == [1, 2, 3, 4]
    assert [header.delete_horizon_ms for _, header in partition.batches()] == horizons
    partition.compact_again(START_MS + RETENTION_MS)
    assert [record.offset for record in partition.records()] == [1, 3, 4]


def test_log_append_time_survives_filtering_and_the_delete_horizon() -> None:
    partition = new_partition()
    partition.write((b"a", b"1"), (b"b", None), timestamp_type=LOG_APPEND_TIME, max_timestamp=77)
    partition.write((b"a", b"2"))
    partition.roll()
    partition.store()
    partition.compact()
    assert next((record.key, record.timestamp) for record in partition.records()) == (b"b", 77)


def test_the_last_batch_of_the_round_stays_even_empty_so_that_no_offset_is_used_twice() -> None:
    partition = filled([(b"a", b"1"), (None, b"x")], [(None, b"y"), (None, b"z")])
    partition.compact()
    headers = [header for _, header in partition.batches()]
    assert [(header.base_offset, header.last_offset, header.count) for header in headers] == [
        (0, 1, 1),
        (2, 3, 0),
        (4, 4, 1),
    ]


def test_the_last_batch_of_an_active_producer_stays_as_a_bare_header() -> None:
    partition = new_partition()
    partition.write((b"a", b"1"), (b"a", b"2"), producer_id=7, producer_epoch=3, base_sequence=10)
    partition.write((b"a", b"3"), producer_id=8, producer_epoch=0, base_sequence=0)
    partition.roll()
    partition.write((b"a", b"4"))
    partition.roll()
    partition.store()
    partition.producers = ((7, 1, 3),)  # producer 8 is no longer active
    partition.compact()
    bare, last = (header for _, header in partition.batches())
    assert (bare.producer_id, bare.producer_epoch, bare.last_sequence, bare.count) == (7, 3, 11, 0)
    assert (bare.base_offset, bare.last_offset) == (0, 1)
    assert (last.base_offset, last.count) == (3, 1)
    partition.producers = ()
    partition.compact_again()
    assert [header.base_offset for _, header in partition.batches()] == [3]


def test_aborted_records_go_first_and_their_marker_after_its_horizon() -> None:
    partition = new_partition()
    first = partition.write(
        (b"a", b"aborted"), producer_id=7, producer_epoch=0, base_sequence=0, transactional=1
    )
    partition.write((b"a", b"good"))
    partition.roll()
    partition.end_transaction(7, first_offset=first, committed=False)
    partition.write((b"b", b"good"))
    partition.roll()
    partition.store()
    partition.compact()
    assert [record.value for record in partition.records()] == [b"good", b"good"]
    assert len(partition.controls()) == 1  # a batch of it was met
    assert "00000000000000000000.txnindex" in partition.fs.list("/t-0")
    partition.compact_again()
    (marker,) = partition.controls()
    assert marker.delete_horizon_ms == START_MS + RETENTION_MS
    assert "00000000000000000000.txnindex" not in partition.fs.list("/t-0")
    partition.compact_again(START_MS + RETENTION_MS - 1)
    assert len(partition.controls()) == 1
    partition.compact_again(START_MS + RETENTION_MS)
    assert partition.controls() == []
    assert [record.value for record in partition.records()] == [b"good", b"good"]


def test_an_aborted_value_does_not_push_out_the_committed_one_before_it() -> None:
    partition = new_partition()
    partition.write((b"a", b"good"))
    first = partition.write(
        (b"a", b"aborted"), producer_id=7, producer_epoch=0, base_sequence=0, transactional=1
    )
    partition.roll()
    partition.write((b"b", b"1"))
    partition.roll()
    partition.end_transaction(7, first_offset=first, committed=False)  # its marker is in the active segment
    partition.store()
    partition.compact()
    assert partition.table() == {b"a": b"good", b"b": b"1"}


def test_a_committed_marker_stays_while_a_record_of_its_transaction_does() -> None:
    partition = new_partition()
    partition.write((b"a", b"1"), producer_id=7, producer_epoch=0, base_sequence=0, transactional=1)
    partition.end_transaction(7, committed=True)
    partition.roll()
    partition.write((b"b", b"1"))
    partition.roll()
    partition.store()
    for _ in range(3):
        partition.compact_again(START_MS + 10 * RETENTION_MS)
    (marker,) = partition.controls()
    assert marker.delete_horizon_ms is None


def test_the_marker_that_is_a_producers_last_word_stays_as_a_bare_header() -> None:
    partition = new_partition()
    partition.end_transaction(7, committed=True)
    partition.write((b"a", b"1"))
    partition.roll()
    partition.store()
    partition.producers = ((7, -1, 0),)
    partition.compact()
    partition.compact_again(START_MS + RETENTION_MS)
    (marker,) = partition.controls()
    assert (marker.count, marker.producer_epoch) == (0, 0)


def test_keys_that_do_not_fit_into_memory_are_cleaned_in_several_rounds() -> None:
    partition = new_partition()
    for round_number in range(3):
        for key in range(60):
            partition.write((b"%d" % key, b"%d" % round_number))
        partition.roll()
    partition.store()
    partition.dedupe_buffer_bytes = 24 * 50  # 45 keys
    *_, first = partition.compact()
    assert isinstance(first, JobDone)
    assert 0 < first.end_offset < 180
    partition.compact_fully()
    assert sorted(record.value or b"" for record in partition.records()) == [b"2"] * 60


def test_a_batch_that_does_not_fit_into_memory_makes_the_log_uncleanable() -> None:
    partition = filled([(b"%d" % key, b"1") for key in range(60)])
    partition.dedupe_buffer_bytes = 24 * 20
    (failed,) = partition.compact()
    assert isinstance(failed, JobFailed)
    assert failed.uncleanable
    assert "log.cleaner.dedupe.buffer.size" in failed.reason


@pytest.mark.parametrize("damage", ["bit", "cut", "magic", "length"])
def test_bad_content_is_reported_once_and_leaves_the_log_as_it_was(damage: str) -> None:
    partition = filled([(b"a", b"1"), (b"b", b"1")], [(b"a", b"2"), (b"c", b"1")])
    path = "/t-0/00000000000000000002.log"
    data = bytearray(partition.fs.read_bytes(path))
    if damage == "bit":
        data[-3] ^= 1
    elif damage == "cut":
        del data[-3:]
    elif damage == "magic":
        data[16] = 9
    else:
        data[8:12] = (2**31 - 1).to_bytes(4, "big")
    partition.fs.write_bytes_durably(path, bytes(data))
    before = partition.fs.list("/t-0")
    (failed,) = partition.compact()
    assert isinstance(failed, JobFailed)
    assert failed.uncleanable
    discard_cleaned(partition.fs, "/t-0")
    assert partition.fs.list("/t-0") == before


def test_files_that_vanish_are_no_fault_of_the_log() -> None:
    partition = filled([(b"a", b"1")], [(b"a", b"2")])
    job = partition.job()
    partition.fs.remove("/t-0/00000000000000000000.log")
    (failed,) = run(partition.fs, job)
    assert isinstance(failed, JobFailed)
    assert (failed.uncleanable, failed.disk_error) == (False, None)


def test_a_full_disk_is_reported_as_such() -> None:
    partition = filled([(b"a", b"1")], [(b"a", b"2")])
    assert isinstance(partition.fs, SimulatedDisk)
    partition.fs.fail("/t-0", errno.ENOSPC)
    (failed,) = partition.compact()
    assert isinstance(failed, JobFailed)
    assert failed.disk_error == errno.ENOSPC


def test_segments_are_grouped_up_to_the_size_of_one() -> None:
    job = replace(new_empty_job(), segment_bytes=100, segment_index_bytes=50, first_uncleanable_offset=2**40)

    def groups(*sizes: tuple[int, int, int]) -> list[list[int]]:
        segments = [SegmentSizes(base, log, index, index) for base, log, index in sizes]
        return [[one.base_offset for one in group] for group in group_segments(segments, job)]

    assert groups((0, 60, 0), (10, 40, 0), (20, 1, 0)) == [[0, 10], [20]]
    assert groups((0, 1, 30), (10, 1, 20), (20, 1, 1)) == [[0, 10], [20]]
    assert groups((0, 1, 0), (10, 1, 0), (2**31, 1, 0)) == [[0, 10], [2**31]]
    assert groups((0, 500, 0), (10, 1, 0)) == [[0], [10]]


def new_empty_job() -> CleaningJob:
    partition = new_partition()
    partition.store()
    return partition.job()


def test_jobs_and_outcomes_cross_the_pipe_unchanged() -> None:
    partition = filled([(b"a", b"1")])
    partition.producers = ((7, 1, 3), (8, -1, 0))
    job = partition.job()
    assert CleaningJob.from_line(job.to_line()) == job
    outcomes: list[Outcome] = [
        GroupCleaned(1, 0, (0, 2), 10, 5, 4, 3),
        JobDone(1, 4),
        JobFailed(1, "why\nnot", disk_error=28),
    ]
    assert [outcome_from_line(outcome_to_line(one)) for one in outcomes] == outcomes
    assert all(outcome_to_line(one).count(b"\n") == 1 for one in outcomes)


def test_index_files_lead_to_batches_in_order() -> None:
    partition = filled(*[[(b"%d" % key, b"v" * 50)] for key in range(20)])
    partition.compact()
    index = partition.fs.read_bytes("/t-0/00000000000000000000.index")
    positions, at = {}, 0
    for data, header in partition.batches()[:-1]:
        positions[header.last_offset] = at
        at += len(data)
    entries = [
        (int.from_bytes(index[n : n + 4]), int.from_bytes(index[n + 4 : n + 8]))
        for n in range(0, len(index), 8)
    ]
    assert len(entries) >= 5
    assert all(positions[offset] == position for offset, position in entries)
    assert all(one < other for one, other in pairwise(entries))
    time_index = partition.fs.read_bytes("/t-0/00000000000000000000.timeindex")
    assert int.from_bytes(time_index[-12:-4]) == START_MS + 19
    assert int.from_bytes(time_index[-4:]) == 19


@given(st.lists(st.tuples(st.binary(max_size=3), st.integers(0, 2**40)), max_size=200))
def test_the_offset_map_agrees_with_a_dictionary(entries: list[tuple[bytes, int]]) -> None:
    offsets, model = OffsetMap(1 << 16, 0.9, len(entries)), {}
    for key, offset in entries:
        assert not offsets.full
        offsets.put(key, offset)
        model[key] = offset
    assert {key: offsets.get(key) for key in model} == model
    assert offsets.get(b"not there") == -1


@given(st.data())
@settings(max_examples=200)
def test_nonsense_under_a_right_checksum_never_stops_the_cleaner(data: st.DataObject) -> None:
    partition = new_partition()
    partition.write(
        (b"a", b"1"), (b"b", None), (b"a", b"2"), producer_id=1, producer_epoch=0, base_sequence=0
    )
    partition.roll()
    partition.write((b"a", b"3"))
    partition.roll()
    batch = bytearray(partition.segments[0][0])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(ATTRIBUTES_AT, len(batch) - 1))
        batch[at] = data.draw(st.integers(0, 255))
    seal(batch, 0, len(batch))
    partition.segments[0] = [bytes(batch)]
    partition.store()
    *_, last = run(partition.fs, partition.job())
    assert isinstance(last, JobDone) or (isinstance(last, JobFailed) and last.uncleanable)


# --- properties ------------------------------------------------------------------------------------------

_pairs = st.tuples(st.integers(0, 11).map(b"k%d".__mod__), st.none() | st.binary(max_size=20))
_batch = st.tuples(
    st.lists(_pairs, min_size=1, max_size=5), st.sampled_from(list(Codec)), st.booleans(), st.integers(0, 1)
)


@given(st.lists(_batch, max_size=12), st.sampled_from([0, 24 * 12]), st.integers(100, 2000))
@settings(max_examples=150)
def test_compaction_keeps_exactly_the_last_of_every_key_and_is_idempotent(
    batches: list[tuple[list[tuple[bytes, bytes | None]], Codec, bool, int]],
    memory_bytes: int,
    segment_bytes: int,
) -> None:
    partition = new_partition()
    partition.segment_bytes = segment_bytes
    partition.dedupe_buffer_bytes = memory_bytes or 1 << 20
    for pairs, codec, roll, timestamp_type in batches:
        partition.write(*pairs, codec=codec, timestamp_type=timestamp_type)
        if roll:
            partition.roll()
    partition.store()
    everything = {record.offset: record for record in partition.records()}
    last = {record.key: offset for offset, record in everything.items() if offset < partition.active}
    expected = {offset for offset in everything if offset >= partition.active} | set(last.values())

    partition.compact_fully()
    assert {record.offset: record for record in partition.records()} == {
        offset: everything[offset] for offset in sorted(expected)
    }
    if partition.next_offset:
        assert partition.batches()[-1][1].next_offset == partition.next_offset

    partition.compact_again()
    assert [record.offset for record in partition.records()] == sorted(expected)

    later = START_MS + RETENTION_MS
    partition.compact_again(later)
    alive = {
        offset for offset in expected if offset >= partition.active or everything[offset].value is not None
    }
    assert [record.offset for record in partition.records()] == sorted(alive)
