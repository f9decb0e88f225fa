"""Keeps the cleaner busy: the one place where compaction's decisions, its child process and the loop meet.

The reactor calls `tick` when `next_tick_ms` has come, and `on_readable` when `fileno` is readable. `fileno`
changes when a dead child is replaced: then it is registered anew.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Protocol

from barnabas.log.cleaning.compaction import Compaction, Stopped
from barnabas.log.cleaning.job import CleaningJob, JobDone, Outcome
from barnabas.log.core import LogCore
from barnabas.log.results import Doomed
from barnabas.model.ids import TopicPartition
from barnabas.ports import Workers

_logger = logging.getLogger(__name__)


class Cleaner(Protocol):
    """`runtime/cleaner.py`, or a stand-in that does the work in this process."""

    @property
    def busy(self) -> bool: ...

    def fileno(self) -> int: ...

    def submit(self, job: CleaningJob) -> None: ...

    def read_results(self) -> list[Outcome]: ...

    def abort(self) -> None: ...


class LogOwner(Protocol):
    """What the cleaner needs of whoever keeps the logs."""

    def compactable_logs(self) -> Iterable[LogCore]: ...

    def remove_later(self, partition: TopicPartition, doomed: Doomed) -> None: ...

    def fail_log(self, partition: TopicPartition, failure: OSError) -> object: ...


class CleanerLoop:
    def __init__(self, compaction: Compaction, cleaner: Cleaner, workers: Workers, owner: LogOwner) -> None:
        self._compaction = compaction
        self._cleaner = cleaner
        self._workers = workers
        self._owner = owner
        self.next_tick_ms = 0

    def fileno(self) -> int:
        return self._cleaner.fileno()

    def tick(self, now_ms: int) -> None:
        """Start on the filthiest log; if all are clean enough, look again after log.cleaner.backoff.ms."""
        if now_ms < self.next_tick_ms:
            return
        self.next_tick_ms = now_ms + self._compaction.settings.backoff_ms
        if self._cleaner.busy:
            return
        job = self._compaction.next_job(self._owner.compactable_logs(), now_ms)
        if job is not None:
            _logger.info("Beginning cleaning of %s from offset %d", job.partition, job.first_dirty_offset)
            self._cleaner.submit(job)

    def on_readable(self, now_ms: int) -> None:
        for outcome in self._cleaner.read_results():
            if isinstance(outcome, JobDone):
                self.next_tick_ms = now_ms  # there may be another; after a failure the backoff holds
            applied = self._compaction.apply(outcome, now_ms)
            if applied.log is None:
                continue
            partition = applied.log.topic_partition
            for doomed in applied.doomed:
                self._owner.remove_later(partition, doomed)
            if applied.work is not None:
                self._run(partition, applied.work)
            if applied.failure is not None:
                self._owner.fail_log(partition, applied.failure)

    def truncating(self, log: LogCore) -> None:
        """Before a log is cut short."""
        self._stop(log, self._compaction.truncated(log))

    def deleting(self, log: LogCore) -> None:
        self._stop(log, self._compaction.deleted(log))

    def _stop(self, log: LogCore, stopped: Stopped) -> None:
        if stopped.running:
            self._cleaner.abort()
        if stopped.work is not None:
            self._run(log.topic_partition, stopped.work)

    def _run(self, partition: TopicPartition, work: Callable[[], None]) -> None:
        def done(_result: object, error: BaseException | None) -> None:
            if isinstance(error, OSError):
                self._owner.fail_log(partition, error)
            elif error is not None:
                raise error

        self._workers.submit(work, done)
