"""The loop hands out jobs and applies what comes back."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable

from tests.unit.log.log_support import append, open_test_log

from barnabas.log.cleaning.compaction import Compaction
from barnabas.log.cleaning.job import CleaningJob, Outcome
from barnabas.log.cleaning.rewrite import run
from barnabas.log.config import LogConfig
from barnabas.log.core import LogCore
from barnabas.log.log import Log
from barnabas.log.open_files import OpenFiles
from barnabas.log.results import Doomed
from barnabas.model.ids import TopicPartition
from barnabas.records.build import build_batch
from barnabas.records.walk import Record
from barnabas.runtime.cleaner_loop import CleanerLoop
from barnabas.sim.disk import SimulatedDisk

BACKOFF_MS = 15_000


class InlineCleaner:
    """Does the work when asked for the results."""

    def __init__(self, disk: SimulatedDisk) -> None:
        self.job: CleaningJob | None = None
        self.aborted = 0
        self._disk = disk

    @property
    def busy(self) -> bool:
        return self.job is not None

    def fileno(self) -> int:
        return 42

    def submit(self, job: CleaningJob) -> None:
        self.job = job

    def read_results(self) -> list[Outcome]:
        job, self.job = self.job, None
        return [] if job is None else list(run(self._disk, job))

    def abort(self) -> None:
        self.job = None
        self.aborted += 1


class InlineWorkers:
    def submit(
        self, work: Callable[[], object], done: Callable[[object, BaseException | None], None]
    ) -> None:
        try:
            result = work()
        except OSError as error:
            done(None, error)
        else:
            done(result, None)


class Owner:
    def __init__(self, log: Log) -> None:
        self.log = log
        self.doomed: list[Doomed] = []
        self.failures: list[OSError] = []

    def compactable_logs(self) -> Iterable[LogCore]:
        return [self.log]

    def remove_later(self, partition: TopicPartition, doomed: Doomed) -> None:
        self.doomed.append(doomed)

    def fail_log(self, partition: TopicPartition, failure: OSError) -> None:
        self.failures.append(failure)


def dirty_log(disk: SimulatedDisk) -> Log:
    log = open_test_log(disk, LogConfig(cleanup_policy=frozenset({"compact"}), segment_bytes=1000))
    for value in range(100):
        append(log, build_batch([Record(0, 1000, b"key", b"%d" % value)]))
    log.update_high_watermark(log.log_end_offset)
    return log


def scene() -> tuple[SimulatedDisk, Owner, InlineCleaner, CleanerLoop]:
    disk = SimulatedDisk()
    owner = Owner(dirty_log(disk))
    cleaner = InlineCleaner(disk)
    return disk, owner, cleaner, CleanerLoop(Compaction(OpenFiles(disk)), cleaner, InlineWorkers(), owner)


def test_a_dirty_log_is_cleaned_and_then_the_loop_rests() -> None:
    disk, owner, cleaner, loop = scene()
    size = owner.log.size
    loop.tick(0)
    assert cleaner.busy
    loop.on_readable(100)
    assert owner.log.size < size / 3
    assert owner.doomed
    assert all(disk.exists(doomed.path) for doomed in owner.doomed)
    assert disk.exists("/data/cleaner-offset-checkpoint")
    assert loop.next_tick_ms == 100
    loop.tick(100)
    assert not cleaner.busy
    assert loop.next_tick_ms == 100 + BACKOFF_MS


def test_while_the_cleaner_works_nothing_else_is_asked_of_it() -> None:
    _, _, cleaner, loop = scene()
    loop.tick(0)
    first = cleaner.job
    loop.tick(BACKOFF_MS)
    assert cleaner.job is first


def test_truncating_a_log_that_is_being_cleaned_stops_the_cleaner() -> None:
    _, owner, cleaner, loop = scene()
    loop.tick(0)
    loop.truncating(owner.log)
    assert cleaner.aborted == 1
    loop.truncating(owner.log)
    assert cleaner.aborted == 1


def test_a_failing_disk_reaches_the_owner_of_the_logs() -> None:
    disk, owner, _, loop = scene()
    loop.tick(0)
    disk.fail("/data/trucks-0", errno.ENOSPC)
    loop.on_readable(100)
    assert [failure.errno for failure in owner.failures] == [errno.ENOSPC]
    assert loop.next_tick_ms == BACKOFF_MS  # no hurry to try again


def test_a_checkpoint_that_cannot_be_written_reaches_the_owner_too() -> None:
    disk, owner, _cleaner, loop = scene()
    loop.tick(0)
    disk.fail("/data/cleaner-offset-checkpoint.tmp", errno.EIO)
    loop.on_readable(100)
    assert [failure.errno for failure in owner.failures] == [errno.EIO]


def test_deleting_a_log_forgets_how_clean_it_was() -> None:
    disk, owner, _, loop = scene()
    loop.tick(0)
    loop.on_readable(100)
    loop.deleting(owner.log)
    assert disk.read_bytes("/data/cleaner-offset-checkpoint") == b"0\n0\n"
