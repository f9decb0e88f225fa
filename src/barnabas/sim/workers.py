"""Worker threads without threads: the work takes effect at some moment, its result comes at a later one.

Each thread takes one job at a time, so that two jobs may overtake each other, as on a real machine.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol, TypeAlias

Done: TypeAlias = Callable[[object, BaseException | None], None]

_THREADS = 4


class Life(Protocol):
    def soon(self, most_ms: int, action: Callable[[], None]) -> None: ...

    def enter(self, action: Callable[[], None]) -> None: ...


class Slow(Protocol):
    most_ms: int


class _Job:
    __slots__ = ("done", "work")

    def __init__(self, work: Callable[[], object], done: Done) -> None:
        self.work = work
        self.done = done


class SimulatedWorkers:
    def __init__(self, life: Life, slowness: Slow) -> None:
        self._life = life
        self._slowness = slowness
        self._waiting: deque[_Job] = deque()
        self._running: list[_Job] = []
        self._results: deque[tuple[Done, object, BaseException | None]] = deque()

    def submit(self, work: Callable[[], object], done: Done) -> None:
        self._waiting.append(_Job(work, done))
        self._next()

    def _next(self) -> None:
        if len(self._running) < _THREADS and self._waiting:
            job = self._waiting.popleft()
            self._running.append(job)
            self._life.soon(self._slowness.most_ms, lambda: self._run(job))

    def _run(self, job: _Job) -> None:
        if job in self._running:
            self._running.remove(job)
            self._work(job)
            self._life.soon(self._slowness.most_ms, lambda: self._life.enter(self._deliver))
            self._next()

    def _work(self, job: _Job) -> None:
        try:
            self._results.append((job.done, job.work(), None))
        except OSError as error:
            self._results.append((job.done, None, error))

    def _deliver(self) -> None:
        while self._results:
            done, result, error = self._results.popleft()
            done(result, error)

    def finish(self) -> None:
        """Before an orderly stop: everything submitted is done and told."""
        while self._running or self._waiting or self._results:
            jobs = [*self._running, *self._waiting]
            self._running.clear()
            self._waiting.clear()
            for job in jobs:
                self._work(job)
            self._deliver()
