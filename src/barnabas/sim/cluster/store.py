"""`ports.MetadataStore` on a simulated ensemble, for one life of a broker, as `store/zookeeper.py` has it.

Submissions travel there in order, answers and changes travel back in order. A connection that drops costs
the writes on their way, done or not, and fires every watch; reads are asked again. A session that ends takes
with it every submission that was made before its owner knew of the end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from barnabas.ports import (
    Changed,
    Completed,
    Read,
    SessionBegan,
    SessionEnded,
    StoreError,
    StoreEvent,
    Write,
)
from barnabas.sim.cluster.ensemble import Ensemble
from barnabas.sim.cluster.routes import ENSEMBLE, Routes
from barnabas.store.session import Kind, Watches, check, lost, read, refused
from barnabas.store.tree import Changes

_LATENCY_MS = 3
_RECONNECT_MS = 40


class Life(Protocol):
    def soon(self, most_ms: int, action: Callable[[], None]) -> None: ...


@dataclass(slots=True)
class _Submission:
    ticket: int
    operations: Sequence[Read] | Sequence[Write]
    kind: Kind
    generation: int  # how many sessions its author knew to have ended
    is_lost: bool = False


class EnsembleStore:
    def __init__(self, life: Life, broker_id: int, ensemble: Ensemble, routes: Routes) -> None:
        self._life = life
        self._id = broker_id
        self._ensemble = ensemble
        self._routes = routes
        self._world = ensemble.world
        self._watches = Watches()
        self._session_id = 0
        self._connection = 0  # what belongs to an earlier one is over
        self._connected = False
        self._generation = 0  # sessions that have ended
        self._ends_known = 0
        self._unanswered: deque[_Submission] = deque()  # oldest first; `_arrived` of them are carried out
        self._arrived = 0
        self._underway: deque[StoreEvent] = deque()  # from the ensemble to the broker
        self._missed: set[str] = set()  # changes that were under way when the connection broke
        self._taken: list[StoreEvent] = []
        self._last_ticket = 0
        self._notify: Callable[[], None] = lambda: None
        self._closed = False
        self._asleep = False

    # --- ports.MetadataStore -------------------------------------------------------------------------------

    def start(self, notify: Callable[[], None]) -> None:
        self._notify = notify
        self._reconnect_soon()

    def submit(self, operations: Sequence[Read] | Sequence[Write]) -> int:
        kind = check(operations)
        self._last_ticket += 1
        if self._closed:
            self._hand_over(lost(self._last_ticket))
            return self._last_ticket
        self._unanswered.append(_Submission(self._last_ticket, operations, kind, self._ends_known))
        if self._connected:
            self._send_one()
        return self._last_ticket

    def events(self) -> list[StoreEvent]:
        taken, self._taken = self._taken, []
        self._ends_known += sum(isinstance(event, SessionEnded) for event in taken)
        return taken

    def close(self) -> None:
        """In good order: the session's nodes are gone at once. Nothing is done in one that has ended."""
        reaches = self._connected and self._routes.is_whole(self._id, ENSEMBLE)
        if reaches and self._ensemble.knows(self._session_id):
            while self._arrived < len(self._unanswered):
                self._carry_out()
            while self._underway:
                self._receive(self._underway.popleft())
            self._ensemble.end(self._session_id)
        self.die()

    # --- what happens to the process -----------------------------------------------------------------------

    def die(self) -> None:
        """What is under way may still arrive, all or part of it."""
        if self._closed:
            return
        self._closed = True
        if self._connected and not self._routes.is_cut(self._id, ENSEMBLE):
            self._carry_out_some()
        self._drop()

    def sleep(self) -> None:
        self._asleep = True
        self._ensemble.silent(self._session_id)

    def wake(self) -> None:
        """It takes a moment until it is heard of, or hears that its session is gone."""
        self._asleep = False
        self._world.soon(_RECONNECT_MS, self._look)

    def _look(self) -> None:
        if self._closed or self._asleep or not self._connected:
            return
        if not self._routes.is_whole(self._id, ENSEMBLE):
            return
        if self._ensemble.knows(self._session_id):
            self._ensemble.heard(self._session_id)
        else:
            self._disconnect()

    def expire(self) -> None:
        """The ensemble forgets the session, for whatever reason."""
        if self._session_id and not self._closed:
            self._ensemble.end(self._session_id)
            self._world.soon(_RECONNECT_MS, self._look)

    # --- the connection ------------------------------------------------------------------------------------

    def _reconnect_soon(self) -> None:
        self._life.soon(_RECONNECT_MS, self._reconnect)

    def _reconnect(self) -> None:
        if self._closed or self._connected:
            return
        if self._ensemble.is_out or not self._routes.is_whole(self._id, ENSEMBLE):
            self._reconnect_soon()
            return
        self._connection += 1
        self._connected = True
        if self._session_id and self._ensemble.knows(self._session_id):
            self._resume()
        else:
            self._begin()
        for _ in range(len(self._unanswered)):
            self._send_one()

    def _resume(self) -> None:
        self._ensemble.heard(self._session_id)
        for path in sorted(self._missed.union(self._watches.all())):
            self._tell(Changed(path))
        self._watches.clear()
        self._missed.clear()

    def _begin(self) -> None:
        if self._session_id:
            self._generation += 1
            self._tell(SessionEnded())
        self._watches.clear()
        self._missed.clear()
        self._session_id = self._ensemble.begin(self)
        self._tell(SessionBegan(self._session_id))

    def cut_off(self) -> None:
        """A route to or from the ensemble was cut. It takes a while until the client gives the line up."""
        if self._routes.is_cut(self._id, ENSEMBLE):
            self._ensemble.silent(self._session_id)
        patience_ms = self._ensemble.session_timeout_ms * 2 // 3
        connection = self._connection

        def gave_up() -> None:
            unreachable = self._ensemble.is_out or not self._routes.is_whole(self._id, ENSEMBLE)
            if unreachable and connection == self._connection:
                self._disconnect()

        self._life.soon(patience_ms, gave_up)

    def mended(self) -> None:
        if self._connected:
            self._look()

    def break_off(self) -> None:
        """The connection breaks; nothing stands in the way of the next one."""
        self._disconnect()

    def _disconnect(self) -> None:
        if self._closed or not self._connected:
            return
        reaches = not self._routes.is_cut(self._id, ENSEMBLE) and not self._ensemble.is_out
        if reaches and self._ensemble.knows(self._session_id):
            self._carry_out_some()
        self._drop()
        for one in self._unanswered:
            one.is_lost = one.is_lost or one.kind is Kind.WRITES
        while self._unanswered and self._unanswered[0].is_lost:
            self._hand_over(lost(self._unanswered.popleft().ticket))
        self._reconnect_soon()

    def _drop(self) -> None:
        self._connection += 1
        self._connected = False
        self._arrived = 0
        underway, self._underway = self._underway, deque()
        for event in underway:
            if isinstance(event, Changed):
                self._missed.add(event.path)
            elif not isinstance(event, Completed) and not self._closed:
                self._hand_over(event)  # of its sessions the client library itself tells
        self._ensemble.silent(self._session_id)

    # --- there ---------------------------------------------------------------------------------------------

    def _send_one(self) -> None:
        connection = self._connection

        def arrive() -> None:
            if connection == self._connection:
                self._carry_out()

        self._routes.carry(self._id, ENSEMBLE, _LATENCY_MS, arrive)

    def _carry_out_some(self) -> None:
        for _ in range(self._world.random.between(0, len(self._unanswered) - self._arrived)):
            self._carry_out()

    def _carry_out(self) -> None:
        if self._arrived == len(self._unanswered):
            return
        one = self._unanswered[self._arrived]
        if one.is_lost or one.generation != self._generation:
            completed = lost(one.ticket)
        elif not self._ensemble.knows(self._session_id):
            return  # whoever is there hangs up: `_look` tells
        elif one.kind is Kind.READS:
            completed = read(self._ensemble.home.tree, self._watches, one.ticket, self._reads(one))
        else:
            completed = self._write(one)
        self._arrived += 1
        self._tell(completed)

    def _reads(self, one: _Submission) -> Sequence[Read]:
        return cast(Sequence[Read], one.operations)

    def _write(self, one: _Submission) -> Completed:
        operations = cast(Sequence[Write], one.operations)
        try:
            answers, changes = self._ensemble.home.tree.write(operations, self._session_id)
        except StoreError as error:
            return refused(one.ticket, error)
        self._ensemble.home.publish(changes)
        return Completed(one.ticket, answers)

    def see(self, changes: Changes) -> None:
        if not self._connected:
            return  # every watch fires when it is connected again
        for changed in self._watches.fire(changes):
            self._tell(changed)

    # --- and back ------------------------------------------------------------------------------------------

    def _tell(self, event: StoreEvent) -> None:
        self._underway.append(event)
        connection = self._connection

        def arrive() -> None:
            if connection == self._connection and self._underway:
                self._receive(self._underway.popleft())

        self._routes.carry(ENSEMBLE, self._id, _LATENCY_MS, arrive)

    def _receive(self, event: StoreEvent) -> None:
        if isinstance(event, Completed):
            assert self._unanswered[0].ticket == event.ticket, "answers out of order"
            self._unanswered.popleft()
            self._arrived -= 1
        self._hand_over(event)

    def _hand_over(self, event: StoreEvent) -> None:
        self._taken.append(event)
        self._life.soon(0, self._notify)
