"""What every simulated client shares: a connection, correlation ids, time-outs, and trying again.

Requests of one client are answered in order. Whatever goes wrong (no connection, no answer, an error that
tells the client to try again) ends the same way, as in librdkafka: the connection is dropped, and after a
pause the client connects again and says once more what was not answered.
"""

from __future__ import annotations

import abc
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from barnabas.protocol import codec
from barnabas.protocol.schema import Message
from barnabas.sim.network import LATENCY_MS, Door, Wire
from barnabas.sim.world import World

_BACKOFF_MS = 60
_PATIENCE_MS = 3000
_GOES_ASTRAY_MS = 20


@dataclass(frozen=True, slots=True)
class _Asked:
    correlation_id: int
    api_key: int
    version: int
    answered: Callable[[Message], None]


class Client(abc.ABC):
    may_stray = True  # what it says may arrive after it has gone on

    def __init__(self, world: World, host: Door, name: str) -> None:
        self.world = world
        self.host = host
        self.name = name
        self.finished = False
        self._connection: Wire | None = None
        self._asked: deque[_Asked] = deque()
        self._last_correlation_id = 0
        self._reconnecting = False
        self._stray_ms = 0
        self.patience_ms = _PATIENCE_MS  # then it asks again
        self.life = 0  # how often the power had been lost when it connected: answers under way are that old

    # --- what a client says --------------------------------------------------------------------------------

    def begin(self) -> None:
        self.world.soon(20, self._connect)

    @abc.abstractmethod
    def connected(self) -> None:
        """There is a connection: say what is to be said."""

    def lost(self) -> None:  # noqa: B027  # most need not care
        """What was asked will not be answered."""

    @property
    def is_connected(self) -> bool:
        return self._connection is not None

    @property
    def in_flight(self) -> int:
        return len(self._asked)

    def ask(self, request: Message, version: int, answered: Callable[[Message], None]) -> None:
        assert self._connection is not None
        self._last_correlation_id += 1
        asked = _Asked(self._last_correlation_id, request.API_KEY, version, answered)
        self._asked.append(asked)
        self._say(asked.correlation_id, request, version)
        self.world.after(self.patience_ms, lambda: self._timed_out(asked))
        connection = self._connection
        if connection.held:
            self.world.soon(_GOES_ASTRAY_MS, lambda: self._go_astray(connection))

    def tell(self, request: Message, version: int) -> None:
        """For what has no answer: Produce with acks=0."""
        self._last_correlation_id += 1
        self._say(self._last_correlation_id, request, version)

    def _say(self, correlation_id: int, request: Message, version: int) -> None:
        assert self._connection is not None
        header = codec.RequestHeader(request.API_KEY, version, correlation_id, self.name)
        self._connection.ask(header, request)

    def try_again(self) -> None:
        """Drop the connection; come back after a pause."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
        self._come_back()

    def stray(self, most_ms: int) -> None:
        """The next request is lost to this client, which asks again; it reaches the broker up to so much
        later."""
        self._stray_ms = most_ms
        if self._connection is not None and self.may_stray:
            self._connection.held = True

    def _go_astray(self, connection: Wire) -> None:
        if connection is self._connection:
            self._connection = None
            connection.stray(self._stray_ms)
            self._come_back()

    def _come_back(self) -> None:
        self._asked.clear()
        self.lost()
        if not self._reconnecting:
            self._reconnecting = True
            least_ms = 1 if self.may_stray else 2 * LATENCY_MS
            self.world.after(self.world.random.between(least_ms, _BACKOFF_MS), self._connect)

    def finish(self) -> None:
        self.finished = True
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    # --- what happens to it --------------------------------------------------------------------------------

    def _connect(self) -> None:
        self._reconnecting = False
        if self.finished or self._connection is not None:
            return
        self._connection = self.host.connect(self)
        self.life = self.world.history.power_losses
        if self._connection is None:
            self.try_again()
        else:
            self.connected()

    def received(self, frame: bytes) -> None:
        if not self.finished and self._asked:
            asked = self._asked[0]
            self.heard(*codec.read_response(asked.api_key, asked.version, frame))

    def heard(self, correlation_id: int, answer: Message) -> None:
        if not self.finished and self._asked:
            asked = self._asked.popleft()
            assert correlation_id == asked.correlation_id, "answers out of order"
            asked.answered(answer)

    def disconnected(self) -> None:
        if not self.finished:
            self.try_again()

    def _timed_out(self, asked: _Asked) -> None:
        if asked in self._asked and not self.finished:
            self.try_again()
