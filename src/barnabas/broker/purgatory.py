"""Requests that wait: a fetch for bytes, a produce for replicas or the disk.

A parked request stands in the list of every partition it waits for, and has a timer. Whoever moves a
partition forward calls `Partition.progressed`; whichever comes first, data or deadline, completes it once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeAlias

from barnabas.broker.timers import Timer, Timers

if TYPE_CHECKING:
    from barnabas.broker.replication.partition import Partition
    from barnabas.broker.session import Session


# Asked when this partition has moved: is what was waited for there now?
Satisfied: TypeAlias = "Callable[[Partition], bool]"


class Waiting:
    """A parked request: completed once, by whichever comes first."""

    __slots__ = ("_finish", "_purgatory", "_queues", "_satisfied", "_timer", "session")

    def __init__(
        self,
        purgatory: Purgatory,
        session: Session,
        partitions: Iterable[Partition],
        deadline_ms: int,
        satisfied: Satisfied,
        finish: Callable[[], None],
        uncommitted: bool,
    ) -> None:
        self._purgatory = purgatory
        self.session = session
        self._queues = [each.following if uncommitted else each.waiting for each in partitions]
        self._satisfied = satisfied
        self._finish: Callable[[], None] | None = finish
        for queue in self._queues:
            queue[self] = None
        self._timer: Timer = purgatory.timers.at(deadline_ms, self._complete)
        purgatory.by_session[id(session)] = self

    def moved(self, partition: Partition) -> None:
        if self._finish is not None and self._satisfied(partition):
            self._purgatory.timers.cancel(self._timer)
            self._complete()

    def also_for(self, partition: Partition) -> None:
        """It waits for one more, committed or not."""
        if self._finish is not None and self not in partition.following:
            partition.following[self] = None
            self._queues.append(partition.following)

    def hasten(self, deadline_ms: int) -> None:
        """Complete it by then, whatever it was to wait for."""
        if self._finish is not None and deadline_ms < self._timer.deadline_ms:
            self._purgatory.timers.cancel(self._timer)
            self._timer = self._purgatory.timers.at(deadline_ms, self._complete)

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
        for queue in self._queues:
            queue.pop(self, None)


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
        satisfied: Satisfied,
        finish: Callable[[], None],
        *,
        uncommitted: bool = False,
    ) -> Waiting:
        """`uncommitted`: it also waits for what is appended and not committed yet, as followers do."""
        return Waiting(self, session, partitions, deadline_ms, satisfied, finish, uncommitted)

    def disconnected(self, session: Session) -> None:
        waiting = self.by_session.get(id(session))
        if waiting is not None:
            waiting.abandon()
