"""`ports.Network` between simulated brokers: lines that stand, wait, break, or never come about."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from barnabas.model.endpoint import Endpoint
from barnabas.ports import Caller
from barnabas.sim.cluster.routes import Between, Routes
from barnabas.sim.network import LATENCY_MS, Connection, Peer

_PREFIX_BYTES = 4
_CONNECT_TRIES = 40
_CONNECT_AGAIN_MS = 25


class Life(Protocol):
    """The process that opens lines."""

    def soon(self, most_ms: int, action: Callable[[], None]) -> None: ...

    def after(self, delay_ms: int, action: Callable[[], None]) -> None: ...

    def enter(self, action: Callable[[], None]) -> None: ...


class Town(Protocol):
    """Where the others live."""

    routes: Routes

    def number_of(self, endpoint: Endpoint) -> int: ...

    def knock(self, broker_id: int, peer: Peer, route: Between) -> Connection | None:
        """None: nobody listens."""
        ...


class SimulatedLine:
    def __init__(self, town: Town, life: Life, source: int, target: int, caller: Caller) -> None:
        self._town = town
        self._life = life
        self._source = source
        self._target = target
        self._caller = caller
        self._waiting: deque[bytes] = deque()
        self._connection: Connection | None = None
        self._over = False
        self.was_refused = False
        self._tries = 0
        life.soon(LATENCY_MS, self._establish)

    @property
    def is_over(self) -> bool:
        return self._over

    def _establish(self) -> None:
        if self._over:
            return
        if not self._town.routes.is_whole(self._source, self._target):
            self._tries += 1
            if self._tries < _CONNECT_TRIES:
                self._life.after(_CONNECT_AGAIN_MS, self._establish)
            else:
                self.disconnected()
            return
        route = Between(self._town.routes, self._source, self._target)
        self._connection = self._town.knock(self._target, self, route)
        if self._connection is None:
            self.was_refused = True
            self.disconnected()
            return
        while self._waiting:
            self._connection.send(self._waiting.popleft())

    # --- ports.Line ----------------------------------------------------------------------------------------

    def send(self, frame: bytes) -> None:
        if self._over:
            return
        if self._connection is None:
            self._waiting.append(frame[_PREFIX_BYTES:])
        else:
            self._connection.send(frame[_PREFIX_BYTES:])

    def close(self) -> None:
        self._over = True
        if self._connection is not None:
            self._connection.close()

    # --- what comes back -----------------------------------------------------------------------------------

    def received(self, frame: bytes) -> None:
        self._life.enter(lambda: self._hear(frame))

    def _hear(self, frame: bytes) -> None:
        if not self._over:
            self._caller.received(bytearray(frame))

    def disconnected(self) -> None:
        self._life.enter(self._hang_up)

    def _hang_up(self) -> None:
        if not self._over:
            self._over = True
            self._caller.disconnected()


class Exchange:
    """All lines that one life of a broker has opened."""

    def __init__(self, town: Town, life: Life, broker_id: int) -> None:
        self._town = town
        self._life = life
        self._id = broker_id
        self._lines: list[SimulatedLine] = []

    def connect(self, endpoint: Endpoint, caller: Caller) -> SimulatedLine:
        line = SimulatedLine(self._town, self._life, self._id, self._town.number_of(endpoint), caller)
        self._lines = [one for one in self._lines if not one.is_over]
        self._lines.append(line)
        return line

    def die(self) -> None:
        for line in self._lines:
            line.close()
