from __future__ import annotations

import pytest
from tests.unit.log.log_support import append, batch, batches_in, open_test_log, read_all

from barnabas.log.config import LogConfig
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.sim.disk import SimulatedDisk


def test_offsets_continue_where_the_log_ended() -> None:
    log = open_test_log(SimulatedDisk())
    assert append(log, batch(3)) == 0
    assert append(log, batch(2)) == 3
    assert log.log_end_offset == 5
    assert read_all(log, 0) == [(0, 2), (3, 4)]


def test_a_reopened_log_continues_at_its_end() -> None:
    disk = SimulatedDisk()
    log = open_test_log(disk)
    append(log, batch(3))
    log.close()
    log = open_test_log(disk)
    assert append(log, batch(1)) == 3
    assert read_all(log, 0) == [(0, 2), (3, 3)]


def test_a_fetch_inside_a_batch_starts_at_that_batch() -> None:
    log = open_test_log(SimulatedDisk())
    append(log, batch(10))
    append(log, batch(10))
    assert read_all(log, 15) == [(10, 19)]


def test_a_batch_above_the_limit_is_returned_whole_when_it_is_the_first() -> None:
    log = open_test_log(SimulatedDisk())
    append(log, batch(1, value=b"x" * 5000))
    assert read_all(log, 0, max_bytes=10) == [(0, 0)]
    refused = log.read(0, 10, upper_offset=1, minimum_one_batch=False)
    assert refused.slice is None
    assert refused.first_batch_incomplete


def test_nothing_at_or_above_the_upper_offset_is_shown() -> None:
    log = open_test_log(SimulatedDisk())
    for _ in range(5):
        append(log, batch(2))
    seen = batches_in(log.read(0, 1 << 20, upper_offset=6))
    assert [header.last_offset for header in seen] == [1, 3, 5]
    assert log.read(6, 1 << 20, upper_offset=6).slice is None


@pytest.mark.parametrize("offset", [-1, 4])
def test_offsets_outside_the_log_are_out_of_range(offset: int) -> None:
    log = open_test_log(SimulatedDisk())
    append(log, batch(3))
    with pytest.raises(ApiError) as refused:
        log.read(offset, 100, upper_offset=3)
    assert refused.value.code is ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_full_segment_rolls_and_reads_go_on_across_the_border() -> None:
    log = open_test_log(SimulatedDisk(), LogConfig(segment_bytes=200))
    for _ in range(10):
        append(log, batch(1))
    assert len(log.segments) > 3
    seen: list[int] = []
    while len(seen) < 10:
        seen += [first for first, _ in read_all(log, len(seen))]
    assert seen == list(range(10))


def _flip(data: bytearray) -> bytearray:
    data[-1] ^= 1
    return data


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (_flip(batch(1)), ErrorCode.CORRUPT_MESSAGE),
        (batch(2, claimed_count=1), ErrorCode.INVALID_RECORD),
        (batch(1, claimed_count=0), ErrorCode.INVALID_RECORD),
        (batch(1, base_offset=7), ErrorCode.INVALID_RECORD),
        (batch(1, control=True), ErrorCode.INVALID_RECORD),
        (batch(1, value=b"x" * 3000), ErrorCode.MESSAGE_TOO_LARGE),
        (batch(1) * 40, ErrorCode.RECORD_LIST_TOO_LARGE),
    ],
    ids=["checksum", "count", "no records", "base offset", "control", "too large", "set too large"],
)
def test_a_bad_batch_is_refused_and_leaves_no_trace(bad: bytearray, code: ErrorCode) -> None:
    log = open_test_log(SimulatedDisk(), LogConfig(max_message_bytes=2000, segment_bytes=2500))
    append(log, batch(1))
    size = log.size
    with pytest.raises(ApiError) as refused:
        append(log, bytearray(bad))
    assert refused.value.code is code
    assert (log.log_end_offset, log.size) == (1, size)


def test_log_append_time_is_stamped_under_a_valid_checksum() -> None:
    log = open_test_log(SimulatedDisk(), LogConfig.from_settings({"message.timestamp.type": "LogAppendTime"}))
    data = batch(1, timestamps=[5])
    done = log.append_as_leader(data, 0, len(data), leader_epoch=3, now_ms=7777)
    assert done.log_append_time_ms == 7777
    copy = open_test_log(SimulatedDisk())
    copy.append_as_follower(data, 0, len(data), now_ms=0)  # refuses a wrong checksum
    (header,) = batches_in(copy.read(0, 1000, upper_offset=1))
    assert (header.max_timestamp, header.is_log_append_time, header.leader_epoch) == (7777, True, 3)


def test_a_fetch_at_the_tail_reads_no_file() -> None:
    disk = SimulatedDisk()
    log = open_test_log(disk)
    for _ in range(3000):
        append(log, batch(1))
    disk.fail("/data")
    read = log.read(2990, 1 << 20, upper_offset=2995)
    assert read.slice is not None
    assert read.slice.size == 5 * len(batch(1))


def test_old_offsets_are_found_through_the_index() -> None:
    log = open_test_log(SimulatedDisk())
    for _ in range(3000):
        append(log, batch(1))
    for offset in (0, 1, 57, 1500, 2999):
        assert read_all(log, offset, max_bytes=1) == [(offset, offset)]


def test_open_files_stay_within_their_bound() -> None:
    disk = SimulatedDisk()
    log = open_test_log(disk, LogConfig(segment_bytes=100), open_files_limit=3)
    for _ in range(20):
        append(log, batch(1))
    held = [log.read(offset, 1000, upper_offset=20) for offset in range(20)]
    assert sum(segment._file is not None for segment in log.segments) <= 3
    assert [batches_in(read)[0].base_offset for read in held] == list(range(20))


def test_a_refused_append_does_not_hold_on_to_the_buffer() -> None:
    disk = SimulatedDisk()
    log = open_test_log(disk)
    data = _flip(batch(1))
    with pytest.raises(ApiError) as refused:
        append(log, data)
    data += b"more"  # a BufferError if the kept error still had a view of it
    assert refused.value.__traceback__ is not None
    disk.fail("/data")
    data = batch(1)
    with pytest.raises(OSError, match="Input/output") as failed:
        append(log, data)
    data.clear()
    assert failed.value.__traceback__ is not None
