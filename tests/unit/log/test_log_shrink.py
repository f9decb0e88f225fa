from __future__ import annotations

import pytest
from tests.support.chance import SeededRandom
from tests.unit.log.log_support import DIRECTORY, append, batch, batches_in, open_test_log, read_all

from barnabas.log.config import LogConfig
from barnabas.log.log import Log
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.sim.disk import CrashMode, SimulatedDisk

BATCH_BYTES = len(batch(1))
ONE_PER_SEGMENT = {"segment.bytes": BATCH_BYTES, "file.delete.delay.ms": 500}


def filled(disk: SimulatedDisk, settings: dict[str, object], count: int = 6) -> Log:
    log = open_test_log(disk, LogConfig.from_settings({**ONE_PER_SEGMENT, **settings}))
    for number in range(count):
        append(log, batch(1, timestamps=[1000 + number]), leader_epoch=number)
    log.update_high_watermark(count)
    return log


# --- retention -------------------------------------------------------------------------------------------


def test_segments_older_than_retention_ms_go_with_their_epochs() -> None:
    log = filled(SimulatedDisk(), {"retention.ms": 100})
    assert log.delete_old_segments(now_ms=1103) == 3
    assert (log.log_start_offset, log.log_end_offset) == (3, 6)
    assert log.leader_epochs.earliest is not None
    assert tuple(log.leader_epochs.earliest) == (3, 3)
    with pytest.raises(ApiError):
        log.read(2, 100, upper_offset=6)


def test_the_whole_log_may_expire_and_still_knows_where_it_ends() -> None:
    log = filled(SimulatedDisk(), {"retention.ms": 100})
    log.delete_old_segments(now_ms=99999)
    assert (log.log_start_offset, log.log_end_offset, log.size) == (6, 6, 0)
    assert append(log, batch(1)) == 6


def test_nothing_above_the_high_watermark_expires() -> None:
    log = filled(SimulatedDisk(), {"retention.ms": 100})
    log.update_high_watermark(2)
    assert log.delete_old_segments(now_ms=99999) == 2


def test_retention_bytes_keeps_at_least_that_much() -> None:
    log = filled(SimulatedDisk(), {"retention.bytes": BATCH_BYTES * 2 + 1, "retention.ms": -1})
    log.delete_old_segments(now_ms=99999)
    assert log.size == BATCH_BYTES * 3


def test_a_compacted_topic_does_not_expire() -> None:
    log = filled(SimulatedDisk(), {"retention.ms": 100})
    log.update_config(LogConfig.from_settings({"cleanup.policy": "compact", "retention.ms": 100}))
    assert log.delete_old_segments(now_ms=99999) == 0


def test_deleted_records_are_gone_at_once_and_their_segments_at_the_next_check() -> None:
    log = filled(SimulatedDisk(), {"retention.ms": -1})
    assert log.delete_records_before(3) == 3
    with pytest.raises(ApiError):
        log.read(2, 100, upper_offset=6)
    assert log.delete_old_segments(now_ms=1000) == 3
    assert log.delete_records_before(-1) == 6


def test_records_above_the_high_watermark_cannot_be_deleted() -> None:
    log = filled(SimulatedDisk(), {})
    log.update_high_watermark(4)
    with pytest.raises(ApiError) as refused:
        log.delete_records_before(5)
    assert refused.value.code is ErrorCode.OFFSET_OUT_OF_RANGE


def test_files_of_deleted_segments_are_renamed_and_handed_over_with_their_time() -> None:
    disk = SimulatedDisk()
    log = filled(disk, {"retention.ms": 100})
    reading = log.read(0, 1000, upper_offset=6)
    log.delete_old_segments(now_ms=1102)
    doomed = log.take_doomed()
    assert {one.due_ms for one in doomed} == {1602}
    assert all(one.path.endswith(".deleted") and disk.exists(one.path) for one in doomed)
    assert f"{DIRECTORY}/00000000000000000000.log.deleted" in {one.path for one in doomed}
    assert reading.slice is not None
    assert len(reading.slice.file.read(reading.slice.position, reading.slice.size)) == BATCH_BYTES
    assert log.take_doomed() == []


# --- rolling ---------------------------------------------------------------------------------------------


def test_a_segment_rolls_when_the_records_time_has_moved_on() -> None:
    log = open_test_log(SimulatedDisk(), LogConfig(segment_ms=100))
    append(log, batch(1, timestamps=[1000]))
    append(log, batch(1, timestamps=[1100]))
    assert len(log.segments) == 1
    append(log, batch(1, timestamps=[1101]))
    assert log.segments.base_offsets == [0, 2]


def test_records_without_time_roll_by_the_clock() -> None:
    log = open_test_log(SimulatedDisk(), LogConfig(segment_ms=100), now_ms=5000)
    append(log, batch(1, timestamps=[-1]), now_ms=5000)
    append(log, batch(1, timestamps=[-1]), now_ms=5101)
    assert log.segments.base_offsets == [0, 1]


def test_a_full_index_rolls() -> None:
    log = open_test_log(SimulatedDisk(), LogConfig(index_interval_bytes=0, segment_index_bytes=48))
    for _ in range(8):
        append(log, batch(1))
    assert len(log.segments) > 1


def test_offsets_too_far_apart_for_one_index_roll() -> None:
    log = open_test_log(SimulatedDisk())
    append(log, batch(1))
    far = batch(1, base_offset=2**31 + 5)
    log.append_as_follower(far, 0, len(far), now_ms=0)
    assert log.segments.base_offsets == [0, 2**31 + 5]


# --- truncation ------------------------------------------------------------------------------------------


def test_truncation_drops_the_batch_that_holds_the_offset_and_everything_after() -> None:
    log = open_test_log(SimulatedDisk(), LogConfig(segment_bytes=BATCH_BYTES * 3))
    for _ in range(8):
        append(log, batch(1))
    assert log.truncate_to(4, now_ms=1000)
    assert log.log_end_offset == 4
    assert append(log, batch(1)) == 4
    assert [read_all(log, offset, 1)[0] for offset in range(5)] == [(n, n) for n in range(5)]


def test_truncation_forgets_epochs_and_sequences_past_it() -> None:
    log = open_test_log(SimulatedDisk())
    for sequence in range(4):
        append(log, batch(1, producer=(9, 0, sequence)), leader_epoch=sequence)
    log.update_high_watermark(4)
    log.truncate_to(2, now_ms=1000)
    assert log.high_watermark == 2
    assert log.leader_epochs.latest_epoch == 1
    assert append(log, batch(1, producer=(9, 0, 2)), leader_epoch=1) == 2


def test_truncation_beyond_the_end_does_nothing() -> None:
    log = filled(SimulatedDisk(), {})
    assert not log.truncate_to(6, now_ms=1000)
    assert log.log_end_offset == 6


def test_a_log_can_start_again_somewhere_else() -> None:
    disk = SimulatedDisk()
    log = filled(disk, {})
    log.truncate_fully_and_start_at(50, now_ms=1000)
    assert (log.log_start_offset, log.log_end_offset, log.high_watermark) == (50, 50, 50)
    assert append(log, batch(1)) == 50
    log.close()
    assert open_test_log(disk).log_end_offset == 51


def test_the_end_of_an_epoch_is_where_the_next_began() -> None:
    log = filled(SimulatedDisk(), {})
    assert tuple(log.end_offset_for_epoch(2)) == (2, 3)
    assert tuple(log.end_offset_for_epoch(5)) == (5, 6)
    assert tuple(log.end_offset_for_epoch(9)) == (-1, -1)


# --- flush -----------------------------------------------------------------------------------------------


def test_what_was_flushed_survives_power_loss() -> None:
    for mode in (CrashMode.DROP, CrashMode.TEAR):
        disk = SimulatedDisk()
        disk.make_directories("/data")
        disk.sync_directory("/")
        log = open_test_log(disk, LogConfig(segment_bytes=BATCH_BYTES * 2, flush_messages=5))
        for number in range(7):
            append(log, batch(1))
            if log.flush_is_due(now_ms=1000):
                unflushed = log.unflushed_files()
                unflushed.sync()
                log.mark_flushed(unflushed.offset, now_ms=1000)
                assert number == 4
        disk.crash(SeededRandom(3), mode)
        log = open_test_log(disk, clean=False, recovery_point=0)
        assert log.log_end_offset >= 5
        assert [read_all(log, offset, 1)[0] for offset in range(5)] == [(n, n) for n in range(5)]


def test_a_flush_under_way_does_not_vouch_for_what_follows_a_truncation() -> None:
    log = open_test_log(SimulatedDisk())
    append(log, batch(10))
    unflushed = log.unflushed_files()
    log.truncate_to(0, now_ms=1000)
    append(log, batch(5))
    unflushed.sync()
    log.mark_flushed(unflushed.offset, now_ms=1000)
    assert log.recovery_point == 0


def test_a_roll_during_a_flush_is_left_for_the_next_flush() -> None:
    disk = SimulatedDisk()
    disk.make_directories("/data")
    disk.sync_directory("/")
    log = open_test_log(disk)
    append(log, batch(1, timestamps=[7]))
    first = log.unflushed_files()
    log.roll(1000)
    first.sync()
    log.mark_flushed(first.offset, now_ms=1000)
    second = log.unflushed_files()
    second.sync()
    log.mark_flushed(second.offset, now_ms=1000)
    disk.crash(SeededRandom(0), CrashMode.DROP)
    log = open_test_log(disk, clean=False, recovery_point=log.recovery_point)
    assert log.segments.first.time_index.written == 1  # read, not rebuilt


def test_the_recovery_point_waits_until_the_leader_epochs_are_durable() -> None:
    log = open_test_log(SimulatedDisk())
    append(log, batch(1), leader_epoch=0)
    slow = log.unflushed_files()
    append(log, batch(1), leader_epoch=1)
    fast = log.unflushed_files()
    fast.sync()
    log.mark_flushed(fast.offset, now_ms=1000)
    assert log.recovery_point == 0
    slow.sync()
    log.mark_flushed(slow.offset, now_ms=1000)
    last = log.unflushed_files()
    last.sync()
    log.mark_flushed(last.offset, now_ms=1000)
    assert log.recovery_point == 2


def test_leader_epochs_survive_power_loss_with_the_records_that_were_flushed() -> None:
    disk = SimulatedDisk()
    disk.make_directories("/data")
    disk.sync_directory("/")
    log = open_test_log(disk, LogConfig(segment_bytes=BATCH_BYTES))
    for epoch in range(4):
        append(log, batch(1), leader_epoch=epoch)
    unflushed = log.unflushed_files()
    unflushed.sync()
    log.mark_flushed(unflushed.offset, now_ms=1000)
    disk.crash(SeededRandom(0), CrashMode.DROP)
    log = open_test_log(disk, clean=False, recovery_point=log.recovery_point)
    assert [tuple(entry) for entry in log.leader_epochs.entries] == [(0, 0), (1, 1), (2, 2), (3, 3)]


def _epochs(log: Log) -> list[int]:
    return [
        header.leader_epoch
        for offset in range(log.log_start_offset, log.log_end_offset)
        for header in batches_in(log.read(offset, 1, upper_offset=log.log_end_offset))
    ]


def _six_to_a_segment(size: int) -> LogConfig:
    return LogConfig(segment_bytes=size * 13 // 2 + 400)


def _append_all(log: Log, count: int, size: int, epoch: int) -> None:
    for number in range(count):
        append(log, batch(1, value=bytes([number + 100 * epoch]) * size), leader_epoch=epoch)


@pytest.mark.parametrize("size", [3000, 300])
@pytest.mark.parametrize("seed", range(40))
def test_what_was_cut_does_not_come_back_under_what_is_written_in_its_place(size: int, seed: int) -> None:
    """Old pages and new ones can look like a log together that never was."""
    disk, config = SimulatedDisk(), _six_to_a_segment(size)
    log = open_test_log(disk, config)
    _append_all(log, 12, size, epoch=0)
    unflushed = log.unflushed_files()
    unflushed.sync()
    disk.sync_directory("/")
    log.mark_flushed(unflushed.offset, 1000)
    kept = 2 + seed % 9
    log.truncate_to(kept, now_ms=1000)
    _append_all(log, 1 + seed % 7, size, epoch=1)
    disk.crash(SeededRandom(seed), CrashMode.TEAR)
    epochs = _epochs(open_test_log(disk, config, clean=False))
    assert epochs[:kept] == [0] * kept
    assert set(epochs[kept:]) <= {1}


@pytest.mark.parametrize("seed", [*range(20), 1440])  # with the last one, names that were not synced show
def test_what_a_recovery_cut_does_not_come_back_either(seed: int) -> None:
    """Nor do the segments behind it."""
    disk, config = SimulatedDisk(), _six_to_a_segment(300)
    _append_all(open_test_log(disk, config), 30, 300, epoch=0)
    for directory in ("/", "/data", DIRECTORY):
        disk.sync_directory(directory)
    for name in disk.list(DIRECTORY):
        if name.endswith(".log") and (seed + len(name) + int(name[:20])) % 3:
            disk.open(f"{DIRECTORY}/{name}").sync()
    disk.crash(SeededRandom(seed), CrashMode.TEAR)
    log = open_test_log(disk, config, clean=False)
    _append_all(log, 1 + seed % 7, 300, epoch=1)
    disk.crash(SeededRandom(seed + 1000), CrashMode.TEAR)
    epochs = _epochs(open_test_log(disk, config, clean=False))
    assert epochs == sorted(epochs)
