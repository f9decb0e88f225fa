"""The cleaner process without a process: the real compaction, a step at a time, between other events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from barnabas.log.cleaning.job import CleaningJob, JobDone, JobFailed, Outcome
from barnabas.log.cleaning.rewrite import run
from barnabas.ports import Filesystem

_STEP_MS = 8


class Life(Protocol):
    def soon(self, most_ms: int, action: Callable[[], None]) -> None: ...

    def enter(self, action: Callable[[], None]) -> None: ...


class SimulatedCleaner:
    def __init__(self, life: Life, filesystem: Filesystem) -> None:
        self._life = life
        self._filesystem = filesystem
        self._running: Iterator[Outcome] | None = None

    @property
    def busy(self) -> bool:
        return self._running is not None

    def submit(self, job: CleaningJob, done: Callable[[Iterable[Outcome]], None]) -> None:
        running = iter(run(self._filesystem, job, lambda _byte_count: None))
        self._running = running
        self._life.soon(_STEP_MS, lambda: self._step(running, done))

    def abort(self) -> None:
        self._running = None

    def _step(self, running: Iterator[Outcome], done: Callable[[Iterable[Outcome]], None]) -> None:
        if self._running is not running:
            return
        outcome = next(running, None)
        if outcome is None:
            self._running = None
            return
        self._life.soon(_STEP_MS, lambda: self._life.enter(lambda: self._tell(running, outcome, done)))

    def _tell(
        self, running: Iterator[Outcome], outcome: Outcome, done: Callable[[Iterable[Outcome]], None]
    ) -> None:
        if self._running is not running:
            return
        if isinstance(outcome, JobDone | JobFailed):
            self._running = None
        else:
            self._life.soon(_STEP_MS, lambda: self._step(running, done))
        done([outcome])
