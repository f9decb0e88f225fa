"""Compaction on this broker: what is filthiest goes to the cleaner, what comes back is swapped in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from barnabas.log.cleaning.compaction import Applied, CleanerSettings, Compaction, UnreadableError
from barnabas.log.cleaning.job import CleaningJob, Outcome
from barnabas.log.log import Log
from barnabas.model.settings.broker import BrokerSettings

if TYPE_CHECKING:
    from barnabas.broker.node import Node


class Cleaner(Protocol):
    """Whoever does the work, one job at a time, beside the loop."""

    @property
    def busy(self) -> bool: ...

    def submit(self, job: CleaningJob, done: Callable[[Iterable[Outcome]], None]) -> None:
        """`done` is called on the loop, as often as there is something to tell."""
        ...

    def abort(self) -> None:
        """Give up the job; nothing more is told of it."""
        ...


class CleaningHost:
    def __init__(self, node: Node, cleaner: Cleaner) -> None:
        self._node = node
        self._cleaner = cleaner
        self._compaction = Compaction(node.logs.open_files, cleaner_settings(node.settings))
        node.on_settings.append(self._adopt)

    def _adopt(self, settings: BrokerSettings) -> None:
        self._compaction.settings = cleaner_settings(settings)

    def start(self) -> None:
        self._look()
        backoff_ms = max(self._compaction.settings.backoff_ms, 1)
        self._node.timers.at(self._node.now_ms + backoff_ms, self.start)

    def _look(self) -> None:
        node = self._node
        if self._cleaner.busy:
            return
        try:
            job = self._compaction.next_job(node.logs.logs.values(), node.wall_ms)
        except UnreadableError as error:
            self._unreadable(error)
            return
        if job is not None:
            self._cleaner.submit(job, self._outcomes)

    def _unreadable(self, error: UnreadableError) -> None:
        self._node.logs.fail_log(error.partition, error.failure)
        self._node.upkeep.notice_failures()

    def _outcomes(self, outcomes: Iterable[Outcome]) -> None:
        for outcome in outcomes:
            self._carry_out(self._compaction.apply(outcome, self._node.wall_ms))
        self._look()  # until everything is clean enough, without a pause

    def _carry_out(self, applied: Applied) -> None:
        node, log = self._node, applied.log
        if log is None:
            return
        if applied.failure is not None:
            node.logs.fail_log(log.topic_partition, applied.failure)
            node.upkeep.notice_failures()
            return
        directory = node.logs.directory_of(log.topic_partition)
        if directory is not None:
            for doomed in applied.doomed:
                node.logs.upkeep.remove_later(directory, doomed)
        self._in_background(log, applied.work)

    def deleted(self, log: Log) -> None:
        """The topic goes: what the cleaner still has of it must not come back."""
        try:
            stopped = self._compaction.deleted(log)
        except UnreadableError as error:
            self._unreadable(error)
            return
        if stopped.running:
            self._cleaner.abort()
        self._in_background(log, stopped.work)

    def _in_background(self, log: object, work: Callable[[], None] | None) -> None:
        if work is None:
            return

        def done(_result: object, error: BaseException | None) -> None:
            if isinstance(error, OSError) and isinstance(log, Log):
                self._node.logs.fail_log(log.topic_partition, error)
                self._node.upkeep.notice_failures()
            elif error is not None:
                raise error

        self._node.workers.submit(work, done)


def cleaner_settings(settings: BrokerSettings) -> CleanerSettings:
    return CleanerSettings(
        enable=settings.boolean("log.cleaner.enable"),
        backoff_ms=settings.integer("log.cleaner.backoff.ms"),
        dedupe_buffer_bytes=settings.integer("log.cleaner.dedupe.buffer.size"),
        dedupe_buffer_load_factor=settings.real("log.cleaner.io.buffer.load.factor"),
        io_bytes_per_second_max=settings.real("log.cleaner.io.max.bytes.per.second"),
    )
