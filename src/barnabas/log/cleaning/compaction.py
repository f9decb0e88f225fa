"""Compaction as the live logs see it: choose, hand out a job, swap in what comes back. Nothing here waits.

One job at a time per cleaner. While a partition is being cleaned its retention waits (`is_cleaning`), and
whoever truncates or deletes it says so, so that late results do not bring old records back.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from barnabas.log.checkpoints import CLEANER_OFFSETS_FILE, read_offsets, write_offsets
from barnabas.log.cleaning.choose import CompactionSettings, LogView, filthiest
from barnabas.log.cleaning.job import CleaningJob, GroupCleaned, JobDone, JobFailed, Outcome, job_for
from barnabas.log.cleaning.swap import discard_cleaned, swap_in
from barnabas.log.config import LogConfig
from barnabas.log.core import LogCore
from barnabas.log.open_files import OpenFiles
from barnabas.log.results import Doomed
from barnabas.log.segment import Segment
from barnabas.model.ids import TopicPartition

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CleanerSettings:
    """log.cleaner.*"""

    enable: bool = True
    backoff_ms: int = 15_000
    dedupe_buffer_bytes: int = 128 << 20
    dedupe_buffer_load_factor: float = 0.9
    io_bytes_per_second_max: float = float("inf")


@dataclass(frozen=True, slots=True)
class Applied:
    """What follows from an outcome: files to remove later, work for a thread that may block, and the
    error of a disk that refused."""

    log: LogCore | None = None
    doomed: tuple[Doomed, ...] = ()
    work: Callable[[], None] | None = None
    failure: OSError | None = None


@dataclass(frozen=True, slots=True)
class Stopped:
    """`running`: the cleaner is busy with the log and should be told to give up."""

    running: bool
    work: Callable[[], None] | None = None


class UnreadableError(Exception):
    """The directory of this partition cannot be read: its disk is failing."""

    def __init__(self, partition: TopicPartition, failure: OSError) -> None:
        super().__init__(str(failure))
        self.partition = partition
        self.failure = failure


class Compaction:
    def __init__(self, open_files: OpenFiles, settings: CleanerSettings | None = None) -> None:
        self.settings = settings or CleanerSettings()
        self.uncleanable: set[TopicPartition] = set()
        self._open_files = open_files
        self._clean_offsets: dict[str, dict[TopicPartition, int]] = {}  # by log directory
        self._running: dict[int, LogCore] = {}  # by job id
        self._jobs = 0

    def is_cleaning(self, log: LogCore) -> bool:
        return log in self._running.values()

    def next_job(self, logs: Iterable[LogCore], now_ms: int) -> CleaningJob | None:
        """The filthiest of the logs that may be cleaned; None if all are clean enough."""
        if not self.settings.enable:
            return None
        by_partition = {log.topic_partition: log for log in logs if self._may_clean(log)}
        views = [self._view(log) for log in by_partition.values()]
        candidate = filthiest(views, now_ms)
        if candidate is None:
            return None
        log = by_partition[candidate.log.partition]
        self._jobs += 1
        self._running[self._jobs] = log
        return job_for(
            candidate,
            log.directory,
            log.producers.last_records(),
            job_id=self._jobs,
            now_ms=now_ms,
            dedupe_buffer_bytes=self.settings.dedupe_buffer_bytes,
            dedupe_buffer_load_factor=self.settings.dedupe_buffer_load_factor,
            bytes_per_second_max=self.settings.io_bytes_per_second_max,
        )

    def _may_clean(self, log: LogCore) -> bool:
        return (
            log.is_open
            and log.config.compact
            and log.topic_partition not in self.uncleanable
            and not self.is_cleaning(log)
        )

    def _view(self, log: LogCore) -> LogView:
        return LogView(
            log.topic_partition,
            list(log.segments),
            log.log_start_offset,
            log.log_end_offset,
            log.last_stable_offset,
            self._offsets_beside(log).get(log.topic_partition),
            settings_of(log.config),
        )

    def _offsets_beside(self, log: LogCore) -> dict[TopicPartition, int]:
        home = _home(log)
        if home not in self._clean_offsets:
            try:
                checkpoint = read_offsets(self._open_files.filesystem, f"{home}/{CLEANER_OFFSETS_FILE}")
            except OSError as failure:
                raise UnreadableError(log.topic_partition, failure) from failure
            if checkpoint.problem is not None:
                _logger.warning("%s", checkpoint.problem)
            self._clean_offsets[home] = checkpoint.offsets
        return self._clean_offsets[home]

    # --- results -----------------------------------------------------------------------------------------

    def apply(self, outcome: Outcome, now_ms: int) -> Applied:
        log = self._running.get(outcome.job_id)
        if log is None:
            return Applied()
        match outcome:
            case GroupCleaned():
                return self._swap(log, outcome, now_ms)
            case JobDone():
                del self._running[outcome.job_id]
                return Applied(log, work=self._checkpoint(log, outcome.end_offset))
            case JobFailed():
                del self._running[outcome.job_id]
                return self._fail(log, outcome)

    def _swap(self, log: LogCore, group: GroupCleaned, now_ms: int) -> Applied:
        try:
            doomed = replace_segments(log, self._open_files, group, now_ms)
        except OSError as failure:
            return Applied(log, failure=failure)
        return Applied(log, tuple(doomed))

    def _checkpoint(self, log: LogCore, clean_offset: int | None) -> Callable[[], None]:
        """The renames first: a checkpoint that survives must not call clean what is not."""
        offsets = self._offsets_beside(log)
        if clean_offset is None:
            offsets.pop(log.topic_partition, None)
        else:
            offsets[log.topic_partition] = clean_offset
        filesystem, home, directory = self._open_files.filesystem, _home(log), log.directory
        rows = dict(offsets)

        def work() -> None:
            if filesystem.is_directory(directory):
                filesystem.sync_directory(directory)
            write_offsets(filesystem, f"{home}/{CLEANER_OFFSETS_FILE}", rows)

        return work

    def _fail(self, log: LogCore, failed: JobFailed) -> Applied:
        if failed.disk_error is not None:
            reason = os.strerror(failed.disk_error)
            return Applied(log, failure=OSError(failed.disk_error, reason, log.directory))
        if failed.uncleanable:
            self.uncleanable.add(log.topic_partition)
            _logger.warning("Marking %s as uncleanable: %s", log.topic_partition, failed.reason)
        try:
            discard_cleaned(self._open_files.filesystem, log.directory)
        except OSError as failure:
            return Applied(log, failure=failure)
        return Applied(log)

    # --- what happens to a log meanwhile -----------------------------------------------------------------

    def truncated(self, log: LogCore) -> Stopped:
        """Call it before the log is cut, so that nothing cleaned earlier is swapped in afterwards."""
        clean_offset = self._offsets_beside(log).get(log.topic_partition)
        if clean_offset is None or clean_offset <= log.log_end_offset:
            return Stopped(self._stop(log))
        return Stopped(self._stop(log), self._checkpoint(log, log.log_end_offset))

    def deleted(self, log: LogCore) -> Stopped:
        self.uncleanable.discard(log.topic_partition)
        known = log.topic_partition in self._offsets_beside(log)
        return Stopped(self._stop(log), self._checkpoint(log, None) if known else None)

    def _stop(self, log: LogCore) -> bool:
        job_ids = [job_id for job_id, running in self._running.items() if running is log]
        for job_id in job_ids:
            del self._running[job_id]
        return bool(job_ids)


def _home(log: LogCore) -> str:
    return log.directory.rpartition("/")[0]


def settings_of(config: LogConfig) -> CompactionSettings:
    return CompactionSettings(
        min_cleanable_dirty_ratio=config.min_cleanable_dirty_ratio,
        min_compaction_lag_ms=config.min_compaction_lag_ms,
        max_compaction_lag_ms=config.max_compaction_lag_ms,
        delete_retention_ms=config.delete_retention_ms,
        segment_bytes=config.segment_bytes,
        segment_index_bytes=config.segment_index_bytes,
        index_interval_bytes=config.index_interval_bytes,
    )


def replace_segments(log: LogCore, open_files: OpenFiles, group: GroupCleaned, now_ms: int) -> list[Doomed]:
    """Put a cleaned segment into the live log. The old files are renamed, so readers in flight finish."""
    old = [segment for segment in log.segments if segment.base_offset in group.old_segments]
    if not _unchanged(log, old, group):
        discard_cleaned(open_files.filesystem, log.directory)
        return []
    renamed = swap_in(open_files.filesystem, log.directory, group.base_offset, group.old_segments)
    for segment in old:
        log.segments.remove(segment)
        segment.drop()
    log.segments.add(Segment.existing(open_files, log.directory, group.base_offset, log.config, now_ms))
    snapshots = [log.producers.snapshots.mark_deleted(base) for base in group.old_segments[1:]]
    due_ms = now_ms + log.config.file_delete_delay_ms
    return [Doomed(path, due_ms) for path in [*renamed, *snapshots] if path is not None]


def _unchanged(log: LogCore, old: list[Segment], group: GroupCleaned) -> bool:
    """Retention may have taken segments, truncation may have cut one: then the copy is of another log."""
    return (
        len(old) == len(group.old_segments)
        and sum(segment.size for segment in old) == group.bytes_before
        and log.active not in old
    )
