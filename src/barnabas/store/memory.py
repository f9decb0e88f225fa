"""A metadata store in memory: every submission is carried out at once. For the simulation and for tests.

Several stores may share one `MemoryHome`, as brokers share an ensemble; the simulation ends their sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, cast

from barnabas.ports import (
    Completed,
    Delete,
    Read,
    SessionBegan,
    SessionEnded,
    StoreError,
    StoreEvent,
    Write,
)
from barnabas.store.session import EventQueue, Kind, Watches, check, lost, read, refused
from barnabas.store.tree import Changes, Tree


class Watcher(Protocol):
    def see(self, changes: Changes) -> None: ...


class MemoryHome:
    """What outlives the sessions."""

    def __init__(self) -> None:
        self.tree = Tree()
        self.sessions: dict[int, Watcher] = {}
        self._last_session_id = 0

    def begin(self, store: Watcher) -> int:
        self._last_session_id += 1
        self.sessions[self._last_session_id] = store
        return self._last_session_id

    def end(self, session_id: int) -> None:
        del self.sessions[session_id]
        operations = [Delete(path) for path in sorted(self.tree.ephemerals(session_id))]
        if operations:
            _, changes = self.tree.write(operations, session_id)
            self.publish(changes)

    def publish(self, changes: Changes) -> None:
        for store in list(self.sessions.values()):
            store.see(changes)


class MemoryStore:
    def __init__(self, home: MemoryHome | None = None) -> None:
        self._home = home or MemoryHome()
        self._session_id = 0  # none
        self._last_ticket = 0
        self._watches = Watches()
        self._events = EventQueue()
        self._notify: Callable[[], None] = lambda: None

    def start(self, notify: Callable[[], None]) -> None:
        assert self._session_id == 0, "started twice"
        self._notify = notify
        self._begin()

    def submit(self, operations: Sequence[Read] | Sequence[Write]) -> int:
        reading = check(operations) is Kind.READS
        self._last_ticket += 1
        ticket = self._last_ticket
        if self._session_id == 0:
            self._add(lost(ticket))
        elif reading:
            reads = cast(Sequence[Read], operations)
            self._add(read(self._home.tree, self._watches, ticket, reads))
        else:
            self._write(ticket, cast(Sequence[Write], operations))
        return ticket

    def events(self) -> list[StoreEvent]:
        return self._events.take()

    def close(self) -> None:
        if self._session_id:
            self._end()

    def expire(self) -> None:
        """The session is lost, as when an ensemble has not heard from a broker for too long, and a new one
        begins. Only the simulation does this."""
        self._end()
        self._add(SessionEnded())
        self._begin()

    def see(self, changes: Changes) -> None:
        fired = self._watches.fire(changes)
        if fired:
            self._add(*fired)

    def _write(self, ticket: int, operations: Sequence[Write]) -> None:
        try:
            answers, changes = self._home.tree.write(operations, self._session_id)
        except StoreError as error:
            self._add(refused(ticket, error))
            return
        self._home.publish(changes)
        self._add(Completed(ticket, answers))

    def _begin(self) -> None:
        self._session_id = self._home.begin(self)
        self._add(SessionBegan(self._session_id))

    def _end(self) -> None:
        session_id, self._session_id = self._session_id, 0
        self._watches.clear()
        self._home.end(session_id)

    def _add(self, *events: StoreEvent) -> None:
        self._events.add(*events)
        self._notify()
