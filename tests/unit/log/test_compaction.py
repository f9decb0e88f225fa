"""Compaction of live logs: the real `Log`, cleaned beside it, swapped in while it goes on."""

from __future__ import annotations

import errno
import logging
from collections.abc import Sequence

import pytest
from tests.support.chance import SeededRandom
from tests.unit.log.log_support import DIRECTORY, append, batch, open_test_log

from barnabas.log.cleaning.compaction import CleanerSettings, Compaction
from barnabas.log.cleaning.job import CleaningJob, GroupCleaned, JobFailed, Outcome
from barnabas.log.cleaning.rewrite import run
from barnabas.log.config import LogConfig
from barnabas.log.log import Log
from barnabas.log.open_files import OpenFiles
from barnabas.records.batch import headers
from barnabas.records.build import build_batch
from barnabas.records.walk import Record, records_of
from barnabas.sim.disk import CrashMode, SimulatedDisk

COMPACT = LogConfig(cleanup_policy=frozenset({"compact"}), segment_bytes=2000)
NOW_MS = 1000


def write(log: Log, key: bytes, value: bytes | None) -> int:
    return append(log, build_batch([Record(0, NOW_MS, key, value)]))


def fill(log: Log, rounds: int, keys: int = 5) -> None:
    for one in range(rounds):
        for key in range(keys):
            write(log, b"k%d" % key, b"%d" % one * 20)
    log.update_high_watermark(log.log_end_offset)


def compacting(disk: SimulatedDisk, config: LogConfig = COMPACT) -> tuple[Log, Compaction]:
    log = open_test_log(disk, config)
    fill(log, 30)
    return log, Compaction(OpenFiles(disk))


def contents(log: Log) -> list[Record]:
    """As a consumer fetches it."""
    records: list[Record] = []
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        read = log.read(offset, 1 << 20, upper_offset=log.log_end_offset)
        if read.slice is None:
            break
        data = read.slice.file.read(read.slice.position, read.slice.size)
        for at, header in headers(data, 0, len(data)):
            records += [one for one in records_of(data, at, header, 1 << 20) if one.offset >= offset]
            following = header.next_offset
        offset = following
    return records


def started(compaction: Compaction, log: Log, now_ms: int = NOW_MS) -> CleaningJob:
    job = compaction.next_job([log], now_ms)
    assert job is not None
    return job


def apply_all(compaction: Compaction, outcomes: Sequence[Outcome], disk: SimulatedDisk) -> None:
    for outcome in outcomes:
        applied = compaction.apply(outcome, NOW_MS)
        assert applied.failure is None
        if applied.work is not None:
            applied.work()
        for doomed in applied.doomed:
            disk.remove(doomed.path)


def cleaned(compaction: Compaction, log: Log, disk: SimulatedDisk) -> None:
    apply_all(compaction, list(run(disk, started(compaction, log))), disk)


def test_a_live_log_is_compacted_and_goes_on() -> None:
    disk = SimulatedDisk()
    log, compaction = compacting(disk)
    active = log.active.base_offset
    expected = {record.key: record for record in contents(log) if record.offset < active}
    tail = [record for record in contents(log) if record.offset >= active]
    end_offset, size = log.log_end_offset, log.size

    cleaned(compaction, log, disk)

    assert log.size < size / 3
    assert contents(log) == sorted(expected.values()) + tail
    assert write(log, b"next", b"1") == end_offset
    assert contents(log)[-1].key == b"next"
    assert compaction.next_job([log], NOW_MS) is None
    names = disk.list(DIRECTORY)
    assert not [name for name in names if name.endswith((".cleaned", ".swap", ".deleted"))]


def test_what_was_cleaned_is_known_after_a_restart_and_the_log_reads_the_same() -> None:
    disk = SimulatedDisk()
    log, compaction = compacting(disk)
    cleaned(compaction, log, disk)
    before = contents(log)
    log.close().sync()
    again = open_test_log(disk, COMPACT)
    again.update_high_watermark(again.log_end_offset)
    assert contents(again) == before
    assert Compaction(OpenFiles(disk)).next_job([again], NOW_MS) is None


def test_a_reader_in_the_middle_of_an_old_segment_finishes() -> None:
    disk = SimulatedDisk()
    log, compaction = compacting(disk)
    read = log.read(0, 500, upper_offset=log.log_end_offset)
    assert read.slice is not None
    before = read.slice.file.read(read.slice.position, read.slice.size)
    cleaned(compaction, log, disk)
    assert read.slice.file.read(read.slice.position, read.slice.size) == before


def test_records_written_while_the_cleaner_works_are_kept() -> None:
    disk = SimulatedDisk()
    log, compaction = compacting(disk)
    outcomes = iter(run(disk, started(compaction, log)))
    first = next(outcomes)
    for value in range(100):
        write(log, b"k0", b"late %d" % value)
    apply_all(compaction, [first, *outcomes], disk)
    assert [record.value for record in contents(log)][-100:] == [b"late %d" % value for value in range(100)]


def test_the_sequence_of_an_idle_producer_survives_compaction_and_a_crash() -> None:
    disk = SimulatedDisk()
    log = open_test_log(disk, COMPACT)
    append(log, batch(3, key=b"k0", producer=(7, 0, 0)))
    fill(log, 30)
    compaction = Compaction(OpenFiles(disk))
    cleaned(compaction, log, disk)
    assert not [record for record in contents(log) if record.offset < 3]
    for name in disk.list(DIRECTORY):
        if name.endswith(".snapshot"):
            disk.remove(f"{DIRECTORY}/{name}")
    disk.crash(SeededRandom(1), CrashMode.KEEP)
    again = open_test_log(disk, COMPACT, clean=False)
    duplicate = batch(3, key=b"k0", producer=(7, 0, 0))
    done = again.append_as_leader(duplicate, 0, len(duplicate), leader_epoch=0, now_ms=NOW_MS)
    assert (done.duplicate, done.first_offset) == (True, 0)


def test_results_for_a_log_that_was_truncated_meanwhile_are_ignored() -> None:
    disk = SimulatedDisk()
    log, compaction = compacting(disk)
    outcomes = list(run(disk, started(compaction, log)))
    assert compaction.is_cleaning(log)
    stopped = compaction.truncated(log)
    assert stopped.running
    assert not compaction.is_cleaning(log)
    log.truncate_to(10, NOW_MS)
    before = contents(log)
    apply_all(compaction, outcomes, disk)
    assert contents(log) == before


def test_a_truncation_that_nobody_announced_does_not_bring_records_back() -> None:
    disk = SimulatedDisk()
    log, compaction = compacting(disk)
    outcomes = list(run(disk, started(compaction, log)))
    log.truncate_to(10, NOW_MS)
    before = contents(log)
    apply_all(compaction, outcomes[:1], disk)
    assert contents(log) == before


def test_truncation_below_the_clean_part_makes_it_dirty_again() -> None:
    disk = SimulatedDisk()
    log, compaction = compacting(disk)
    cleaned(compaction, log, disk)
    log.truncate_to(log.segments.first.base_offset + 1, NOW_MS)
    stopped = compaction.truncated(log)
    assert stopped.work is not None
    stopped.work()
    fill(log, 30)
    job = started(Compaction(OpenFiles(disk)), log)
    assert job.first_dirty_offset <= log.segments.first.base_offset + 1


def test_a_group_whose_segments_were_retired_meanwhile_is_thrown_away() -> None:
    disk = SimulatedDisk()
    log, compaction = compacting(disk)
    (group, *_) = run(disk, started(compaction, log))
    assert isinstance(group, GroupCleaned)
    log.doom([log.segments.first], NOW_MS)
    log.delete_records_before(log.segments.first.base_offset)
    before = contents(log)
    apply_all(compaction, [group], disk)
    assert contents(log) == before
    assert not [name for name in disk.list(DIRECTORY) if name.endswith(".cleaned")]


def test_a_bad_batch_makes_the_partition_uncleanable_with_one_line(caplog: pytest.LogCaptureFixture) -> None:
    disk = SimulatedDisk()
    log, compaction = compacting(disk)
    file = disk.open(log.segments.first.path(".log"))
    file.write_at(80, b"garbage")
    with caplog.at_level(logging.WARNING):
        apply_all(compaction, list(run(disk, started(compaction, log))), disk)
        assert compaction.next_job([log], NOW_MS) is None
        assert compaction.next_job([log], NOW_MS) is None
    assert len(caplog.records) == 1
    assert compaction.uncleanable == {log.topic_partition}
    compaction.deleted(log)
    assert compaction.uncleanable == set()


def test_a_failing_disk_is_handed_to_the_owner_of_the_directory() -> None:
    disk = SimulatedDisk()
    log, compaction = compacting(disk)
    job = started(compaction, log)
    disk.fail(DIRECTORY, errno.EIO)
    (failed,) = run(disk, job)
    assert isinstance(failed, JobFailed)
    applied = compaction.apply(failed, NOW_MS)
    assert applied.failure is not None
    assert applied.failure.errno == errno.EIO
    assert applied.log is log


def test_only_compacted_logs_are_cleaned_and_none_when_switched_off() -> None:
    disk = SimulatedDisk()
    log, compaction = compacting(disk)
    log.update_config(LogConfig(segment_bytes=2000))
    assert compaction.next_job([log], NOW_MS) is None
    log.update_config(COMPACT)
    off = Compaction(OpenFiles(disk), CleanerSettings(enable=False))
    assert off.next_job([log], NOW_MS) is None
    assert started(compaction, log).segments[0] == 0
    assert compaction.next_job([log], NOW_MS) is None  # it is being cleaned


def test_a_deleted_topic_leaves_the_checkpoint() -> None:
    disk = SimulatedDisk()
    log, compaction = compacting(disk)
    cleaned(compaction, log, disk)
    assert b"trucks 0" in disk.read_bytes("/data/cleaner-offset-checkpoint")
    stopped = compaction.deleted(log)
    assert stopped.work is not None
    stopped.work()
    assert b"trucks 0" not in disk.read_bytes("/data/cleaner-offset-checkpoint")
