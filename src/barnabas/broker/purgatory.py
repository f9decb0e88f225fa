"""Requests that wait: a fetch for bytes, a produce for replicas or the disk.

A parked request stands in the list of every partition it waits for, and has a timer. Whoever moves a
partition forward calls `Partition.progressed`; whichever comes first, data or deadline, completes it once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from barnabas.broker.timers import Timer, Timers

if TYPE_CHECKING:
    from barnabas.broker.partition import Partition
    from barnabas.broker.session import Session


class Parked(Protocol):
    def try_complete(self) -> bool:
        """Complete and return True if what was waited for is there."""
        ...


class Waiting:
    """The bookkeeping that all parked requests share; subclasses say when they are satisfied."""

    __slots__ = ("_finish", "_partitions", "_purgatory", "_satisfied", "_timer", "session")

    def __init__(
        self,
        purgatory: Purgatory,
        session: Session,
        partitions: Iterable[Partition],
        deadline_ms: int,
        satisfied: Callable[[], bool],
        finish: Callable[[], None],
    ) -> None:
        self._purgatory = purgatory
        self.session = session
        self._partitions = tuple(partitions)
        self._satisfied = satisfied
        self._finish: Callable[[], None] | None = finish
        for partition in self._partitions:
            partition.waiting.append(self)
        self._timer: Timer = purgatory.timers.at(deadline_ms, self._complete)
        purgatory.by_session[id(session)] = self

    def try_complete(self) -> bool:
        if self._finish is not None and self._satisfied():
            self._purgatory.timers.cancel(self._timer)
            self._complete()
        return self._finish is None

    def _complete(self) -> None:
        finish, self._finish = self._finish, None
        if finish is not None:
            self._leave()
            finish()

    def abandon(self) -> None:
        """The client is gone: nobody wants the answer."""
        if self._finish is not None:
            self._finish = None
            self._purgatory.timers.cancel(self._timer)
            self._leave()

    def _leave(self) -> None:
        self._purgatory.by_session.pop(id(self.session), None)
        for partition in self._partitions:
            if self in partition.waiting:
                partition.waiting.remove(self)


class Purgatory:
    """One parked request per connection at the most: the next waits behind it."""

    def __init__(self, timers: Timers) -> None:
        self.timers = timers
        self.by_session: dict[int, Waiting] = {}

    def __len__(self) -> int:
        return len(self.by_session)

    def park(
        self,
        session: Session,
        partitions: Iterable[Partition],
        deadline_ms: int,
        satisfied: Callable[[], bool],
        finish: Callable[[], None],
    ) -> None:
        Waiting(self, session, partitions, deadline_ms, satisfied, finish)

    def disconnected(self, session: Session) -> None:
        waiting = self.by_session.get(id(session))
        if waiting is not None:
            waiting.abandon()
