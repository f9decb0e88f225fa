from __future__ import annotations

import logging

import pytest
from tests.support.chance import SeededRandom
from tests.unit.log.log_support import DIRECTORY, append, batch, crashed, open_test_log, read_all

from barnabas.log.config import LogConfig
from barnabas.log.log import Log
from barnabas.sim.disk import CrashMode, SimulatedDisk

SMALL = LogConfig(segment_bytes=250, index_interval_bytes=60)
BATCH_BYTES = len(batch(1))


def written(disk: SimulatedDisk, count: int, config: LogConfig = SMALL) -> None:
    log = open_test_log(disk, config)
    for number in range(count):
        append(log, batch(1, timestamps=[1000 + number]))


def files(disk: SimulatedDisk, suffix: str) -> list[str]:
    return [f"{DIRECTORY}/{name}" for name in disk.list(DIRECTORY) if name.endswith(suffix)]


def overwrite(disk: SimulatedDisk, path: str, data: bytes) -> None:
    file = disk.open(path, create=True)
    file.truncate(0)
    if data:
        file.append([data])


def every_offset(log_end: int) -> list[tuple[int, int]]:
    return [(offset, offset) for offset in range(log_end)]


def read_batch_by_batch(
    disk: SimulatedDisk, *, clean: bool, recovery_point: int = 0
) -> list[tuple[int, int]]:
    log = open_test_log(disk, SMALL, clean=clean, recovery_point=recovery_point)
    return [read_all(log, offset, 1)[0] for offset in range(log.log_end_offset)]


@pytest.mark.parametrize("cut", [1, 30, BATCH_BYTES - 1])
def test_a_torn_last_batch_is_cut_and_the_rest_kept(cut: int) -> None:
    disk = SimulatedDisk()
    written(disk, 10)
    last = disk.open(files(disk, ".log")[-1])
    last.truncate(last.size() - cut)
    assert read_batch_by_batch(crashed(disk), clean=False) == every_offset(9)


def test_garbage_behind_the_last_batch_is_cut_even_after_a_clean_stop() -> None:
    disk = SimulatedDisk()
    log = open_test_log(disk)
    append(log, batch(3))
    log.close()
    disk.open(files(disk, ".log")[-1]).append([b"\xff" * 70])
    log = open_test_log(disk)
    assert log.log_end_offset == 3
    assert append(log, batch(1)) == 3
    assert read_all(log, 0) == [(0, 2), (3, 3)]


@pytest.mark.parametrize("clean", [True, False])
def test_what_apache_kafka_reserved_and_did_not_write_is_cut(clean: bool) -> None:
    """With `preallocate` it leaves a tail of zeros when it is killed."""
    disk = SimulatedDisk()
    log = open_test_log(disk)
    append(log, batch(2))
    size = log.active.size
    log.close()
    disk.open(log.active.path(".log")).append([bytes(100_000)])
    log = open_test_log(disk, clean=clean)
    assert (log.log_end_offset, log.active.size) == (2, size)
    append(log, batch(1))
    assert log.log_end_offset == 3


def test_a_flipped_bit_ends_the_log_and_later_segments_go() -> None:
    disk = SimulatedDisk()
    written(disk, 10)
    logs = files(disk, ".log")
    disk.open(logs[1]).write_at(BATCH_BYTES + 65, b"\xff")
    base = int(logs[1][-24:-4])
    assert read_batch_by_batch(crashed(disk), clean=False) == every_offset(base + 1)
    assert len(files(disk, ".log")) == 2


def test_segments_below_the_recovery_point_are_trusted() -> None:
    disk = SimulatedDisk()
    written(disk, 10)
    disk.open(files(disk, ".log")[0]).write_at(65, b"\xff")
    recovered = read_batch_by_batch(crashed(disk), clean=False, recovery_point=9)
    assert recovered == every_offset(10)


@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
@pytest.mark.parametrize(
    "content", [None, b"", b"short", b"\x00\x00\x00\x01\x00\x00\x00\x07" * 3, b"\x7f" * 24, bytes(240)]
)
@pytest.mark.parametrize("clean", [True, False])
def test_a_missing_short_or_garbage_index_is_rebuilt(
    suffix: str, content: bytes | None, clean: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    disk = SimulatedDisk()
    log = open_test_log(disk, SMALL)
    for number in range(10):
        append(log, batch(1, timestamps=[1000 + number]))
    log.close()
    for path in files(disk, suffix):
        if content is None:
            disk.remove(path)
        else:
            overwrite(disk, path, content)
    log = open_test_log(crashed(disk), SMALL, clean=clean)
    assert [read_all(log, offset, 1)[0] for offset in range(10)] == every_offset(10)
    found = [log.offset_for_timestamp(1000 + number) for number in range(10)]
    assert [one.offset for one in found if one is not None] == list(range(10))


def test_rebuilt_indexes_are_those_that_were_written_at_first() -> None:
    disk = SimulatedDisk()
    config = LogConfig(index_interval_bytes=150)
    log = open_test_log(disk, config)
    for number in range(50):
        append(log, batch(1 + number % 3, timestamps=[1000 + number] * (1 + number % 3)))
    log.close()
    before = [disk.read_bytes(path) for path in files(disk, "index")]
    for path in files(disk, "index"):
        disk.remove(path)
    open_test_log(disk, config, clean=False).close()
    assert [disk.read_bytes(path) for path in files(disk, "index")] == before
    assert all(before)


def test_records_that_came_back_with_a_crash_bring_their_leader_back() -> None:
    """They had been cut for those of a later leader: the list of leaders is on the disk, the cut is not."""
    disk = SimulatedDisk()
    log = open_test_log(disk, LogConfig())
    append(log, batch(2), leader_epoch=0)
    append(log, batch(2), leader_epoch=0)
    append(log, batch(1), leader_epoch=3)
    log.close()
    disk.remove(f"{DIRECTORY}/leader-epoch-checkpoint")
    overwrite(disk, f"{DIRECTORY}/leader-epoch-checkpoint", b"0\n3\n0 0\n1 2\n2 3\n")
    log = open_test_log(crashed(disk), LogConfig(), clean=False)
    assert [tuple(entry) for entry in log.leader_epochs.entries] == [(0, 0), (3, 4)]
    assert log.end_offset_for_epoch(0) == (0, 4)


def test_the_leader_epoch_cache_is_cut_with_the_log() -> None:
    disk = SimulatedDisk()
    log = open_test_log(disk, SMALL)
    for number in range(4):
        append(log, batch(1), leader_epoch=number)
    last = disk.open(files(disk, ".log")[-1])
    last.truncate(last.size() - 1)
    log = open_test_log(crashed(disk), SMALL, clean=False)
    assert log.log_end_offset == 3
    assert [tuple(entry) for entry in log.leader_epochs.entries] == [(0, 0), (1, 1), (2, 2)]


def test_a_log_that_ends_before_its_start_begins_again_at_its_start() -> None:
    disk = SimulatedDisk()
    written(disk, 5)
    log = open_test_log(crashed(disk), SMALL, clean=False, log_start_offset=100)
    assert (log.log_start_offset, log.log_end_offset) == (100, 100)
    assert append(log, batch(1)) == 100


def test_strange_files_are_left_alone() -> None:
    disk = SimulatedDisk()
    written(disk, 3)
    overwrite(disk, f"{DIRECTORY}/notes.txt", b"hello")
    overwrite(disk, f"{DIRECTORY}/00000000000000000777.index", b"")
    assert read_batch_by_batch(crashed(disk), clean=False) == every_offset(3)
    assert disk.read_bytes(f"{DIRECTORY}/notes.txt") == b"hello"
    assert not disk.exists(f"{DIRECTORY}/00000000000000000777.index")


def test_an_empty_directory_is_an_empty_log() -> None:
    disk = SimulatedDisk()
    disk.make_directories(DIRECTORY)
    log = open_test_log(disk, clean=False)
    assert (log.log_start_offset, log.log_end_offset) == (0, 0)


# --- leftovers -------------------------------------------------------------------------------------------


def test_deleted_and_cleaned_leftovers_go() -> None:
    disk = SimulatedDisk()
    written(disk, 3)
    for name in ("00000000000000000000.log.deleted", "00000000000000000001.log.cleaned"):
        overwrite(disk, f"{DIRECTORY}/{name}", b"x")
    read_batch_by_batch(crashed(disk), clean=False)
    assert not files(disk, ".deleted")
    assert not files(disk, ".cleaned")


def test_a_complete_swap_replaces_the_segments_it_covers() -> None:
    disk = SimulatedDisk()
    written(disk, 9)
    bases = [int(path[-24:-4]) for path in files(disk, ".log")]
    compacted = batch(1, base_offset=0) + batch(1, base_offset=bases[2] - 1)
    overwrite(disk, f"{DIRECTORY}/00000000000000000000.log.swap", bytes(compacted))
    overwrite(disk, f"{DIRECTORY}/00000000000000000000.index.swap", b"")
    overwrite(disk, f"{DIRECTORY}/00000000000000000000.timeindex.swap", b"")
    log = open_test_log(crashed(disk), SMALL, clean=False)
    assert log.segments.base_offsets == [0, *bases[2:]]
    assert read_all(log, 0) == [(0, 0), (bases[2] - 1, bases[2] - 1)]
    assert read_all(log, 1)[0][0] == bases[2] - 1
    assert log.log_end_offset == 9


def test_a_swap_beside_an_unfinished_cleaning_is_not_trusted() -> None:
    disk = SimulatedDisk()
    written(disk, 9)
    bases = [int(path[-24:-4]) for path in files(disk, ".log")]
    overwrite(disk, f"{DIRECTORY}/{bases[1]:020d}.log.swap", bytes(batch(1, base_offset=bases[1])))
    overwrite(disk, f"{DIRECTORY}/{bases[0]:020d}.log.cleaned", b"")
    assert read_batch_by_batch(crashed(disk), clean=False) == every_offset(9)


# --- power loss ------------------------------------------------------------------------------------------


def test_records_lost_at_the_end_of_a_segment_take_the_next_segments_with_them() -> None:
    disk = SimulatedDisk()
    written(disk, 10)
    logs = files(disk, ".log")
    hole = disk.open(logs[1])
    hole.truncate(hole.size() - BATCH_BYTES)
    last_kept = int(logs[2][-24:-4]) - 1
    assert read_batch_by_batch(crashed(disk), clean=False) == every_offset(last_kept)


def test_a_segment_rolled_exactly_at_the_recovery_point_keeps_its_time_index() -> None:
    disk = SimulatedDisk()
    disk.make_directories("/data")
    disk.sync_directory("/")
    log = open_test_log(disk, SMALL)
    append(log, batch(1, timestamps=[7]))
    for _ in range(2):
        unflushed = log.unflushed_files()
        unflushed.sync()
        log.mark_flushed(unflushed.offset, 1000)
        log.roll(1000)
    recovery_point = log.recovery_point
    disk.crash(SeededRandom(0), CrashMode.DROP)
    log = open_test_log(disk, SMALL, clean=False, recovery_point=recovery_point)
    found = log.offset_for_timestamp(7)
    assert found is not None
    assert log.segments.first.time_index.written == 1  # read, not rebuilt


def test_a_segment_rolled_before_a_crash_of_the_process_keeps_its_time_index_through_power_loss() -> None:
    """The crash comes between the roll and its sync; the next flush has to make up for it."""
    disk = SimulatedDisk()
    disk.make_directories("/data")
    disk.sync_directory("/")
    log = open_test_log(disk, SMALL)
    append(log, batch(1, timestamps=[6]))
    log.close().sync()
    disk.sync_directory("/data")
    log = open_test_log(disk, SMALL)
    append(log, batch(1, timestamps=[7]))
    _flush(log)
    log.roll(1000)
    for mode in (CrashMode.KEEP, CrashMode.DROP):
        disk.crash(SeededRandom(0), mode)
        log = open_test_log(disk, SMALL, clean=False, recovery_point=2)
        _flush(log)
    found = log.offset_for_timestamp(7)
    assert found is not None
    assert found.offset == 1


def _flush(log: Log) -> None:
    unflushed = log.unflushed_files()
    unflushed.sync()
    log.mark_flushed(unflushed.offset, 1000)
