"""The cleaner's child process, attached to the loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from barnabas.log.cleaning.job import CleaningJob, Outcome
from barnabas.runtime.cleaner import CleanerProcess
from barnabas.runtime.reactor import Reactor


class CleanerOnLoop:
    def __init__(self) -> None:
        self._process = CleanerProcess()
        self._reactor: Reactor | None = None
        self._watched = -1
        self._done: Callable[[Iterable[Outcome]], None] = lambda _outcomes: None

    def attach_to(self, reactor: Reactor) -> None:
        self._reactor = reactor

    @property
    def busy(self) -> bool:
        return self._process.busy

    def submit(self, job: CleaningJob, done: Callable[[Iterable[Outcome]], None]) -> None:
        self._done = done
        self._process.submit(job)
        self._watch()

    def _watch(self) -> None:
        """Follow the child's descriptor: it changes when a dead child is replaced."""
        assert self._reactor is not None
        fd = self._process.fileno()
        if fd != self._watched:
            self._watched = fd
            if fd >= 0:
                self._reactor.attach(fd, self._readable)

    def _readable(self) -> None:
        assert self._reactor is not None
        outcomes = self._process.read_results()
        if self._process.fileno() != self._watched:
            self._reactor.forget(self._watched)
            self._watched = -1
        self._done(outcomes)

    def abort(self) -> None:
        if self._reactor is not None and self._watched >= 0:
            self._reactor.detach(self._watched)
            self._watched = -1
        self._process.abort()
