"""Connections in memory: frames arrive late but in order; what is under way may be lost with the connection.

The broker's side keeps the reactor's rules: one request at a time, the next waits while one is parked or its
reply is not drained; file slices are read when they are sent, which may be long after they were promised.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from barnabas.broker.session import Part, PeerFaultError, Session
from barnabas.model.endpoint import Endpoint
from barnabas.ports import Caller, Line
from barnabas.protocol import codec
from barnabas.protocol.codec import RequestHeader
from barnabas.protocol.schema import Message
from barnabas.sim.world import World

LATENCY_MS = 3
_SLOW_READER_MS = 40
_SLOW_READER_CHANCE = 0.05


class Nowhere:
    """`ports.Network` of a broker that is alone."""

    def connect(self, endpoint: Endpoint, _caller: Caller) -> Line:
        raise AssertionError(f"a broker that is alone calls {endpoint}")


class Peer(Protocol):
    """The client's end."""

    def received(self, frame: bytes) -> None: ...

    def disconnected(self) -> None: ...


class Asker(Peer, Protocol):
    """A client that also takes an answer which somebody has read for it."""

    may_stray: bool  # what it says may arrive after it has gone on

    def heard(self, correlation_id: int, answer: Message) -> None: ...


class Wire(Protocol):
    """What a client holds of a connection."""

    held: bool

    def ask(self, header: RequestHeader, request: Message) -> None: ...

    def close(self) -> None: ...

    def stray(self, most_ms: int) -> None: ...


class Door(Protocol):
    """Where clients knock."""

    def connect(self, peer: Asker) -> Wire | None:
        """None: nobody listens."""
        ...


class Server(Protocol):
    """The broker's end: runs nothing once its process is dead."""

    def enter(self, action: Callable[[], None]) -> None: ...

    def soon(self, most_ms: int, action: Callable[[], None]) -> None: ...

    def after(self, delay_ms: int, action: Callable[[], None]) -> None: ...

    def handle(self, session: Session, frame: memoryview) -> list[Part] | None: ...

    def session_ended(self, session: Session) -> None: ...


class Route(Protocol):
    """How things get from one end to the other: later than usual, or not before a cut is mended."""

    def to_server(self, most_ms: int, action: Callable[[], None]) -> None: ...

    def to_client(self, most_ms: int, action: Callable[[], None]) -> None: ...


class Connection:
    def __init__(self, world: World, server: Server, peer: Peer, route: Route | None = None) -> None:
        self._world = world
        self._server = server
        self._peer = peer
        self._route = route
        self._session = Session("PLAINTEXT", "client", self._deliver)
        self._sent: deque[bytes] = deque()  # left the client, not yet with the broker
        self._inbox: deque[bytes] = deque()  # with the broker, not yet handled
        self._replies: deque[bytes] = deque()  # left the broker, not yet with the client
        self._parked = False
        self._draining = False
        self._client_gone = False
        self._broker_gone = False
        self._broken_off = False
        self.held = False  # what the client sends from now on stays somewhere in between, until `stray`

    @property
    def is_over(self) -> bool:
        return self._client_gone and self._broker_gone

    # --- the client's end ----------------------------------------------------------------------------------

    def ask(self, header: RequestHeader, request: Message) -> None:
        self.send(codec.write_request(header, request))

    def send(self, frame: bytes) -> None:
        if not self._client_gone:
            self._sent.append(frame)
            if not self.held:
                self._to_server(LATENCY_MS, self._arrive)

    def close(self) -> None:
        """The client goes away. What it sent may still arrive, all or part of it."""
        if self._client_gone:
            return
        self._client_gone = True
        self._replies.clear()
        self._cut(self._sent)
        self._to_server(2 * LATENCY_MS, self._ended)

    def stray(self, most_ms: int) -> None:
        """The client loses its connection; what is under way to the broker arrives, much later."""
        if self._client_gone:
            return
        self._client_gone = True
        self._replies.clear()
        delay_ms = self._world.random.between(0, most_ms)
        self._server.after(delay_ms, lambda: self._server.enter(self._arrive_late))

    def _to_server(self, most_ms: int, action: Callable[[], None]) -> None:
        if self._route is None:
            self._server.soon(most_ms, lambda: self._server.enter(action))
        else:
            self._route.to_server(most_ms, lambda: self._server.enter(action))

    def _to_client(self, most_ms: int, action: Callable[[], None]) -> None:
        if self._route is None:
            self._world.soon(most_ms, action)
        else:
            self._route.to_client(most_ms, action)

    def _arrive_late(self) -> None:
        while self._sent:
            self._arrive()
        self._server.soon(LATENCY_MS, lambda: self._server.enter(self._ended))

    # --- the broker's end ----------------------------------------------------------------------------------

    def _arrive(self) -> None:
        if self._sent:
            self._inbox.append(self._sent.popleft())
            self._work()

    def _work(self) -> None:
        while self._inbox and not (self._parked or self._draining or self._broker_gone):
            frame = bytearray(self._inbox.popleft())
            self._parked = True  # first: the reply may come before `handle` returns
            try:
                parts = self._server.handle(self._session, memoryview(frame))
            except PeerFaultError:
                self._hang_up()
                return
            if parts is not None:
                self._parked = False
                self._reply(parts)

    def _deliver(self, parts: list[Part]) -> None:
        """A parked request got its reply."""
        self._parked = False
        if not self._broker_gone:
            self._reply(parts)
            self._server.soon(0, lambda: self._server.enter(self._work))

    def _reply(self, parts: list[Part]) -> None:
        if not parts:
            return
        if all(isinstance(part, bytes) for part in parts):
            self._transmit(b"".join(part for part in parts if isinstance(part, bytes)))
            return
        self._draining = True
        slow = self._world.random.chance(_SLOW_READER_CHANCE)
        most_ms = _SLOW_READER_MS if slow else 1
        self._server.soon(most_ms, lambda: self._server.enter(lambda: self._drain(parts)))

    def _drain(self, parts: list[Part]) -> None:
        self._draining = False
        try:
            pieces = list(map(_bytes_of, parts))
        except OSError:
            self._hang_up()  # the frame's length is a lie now: only closing is honest
            return
        self._transmit(b"".join(pieces))
        self._work()

    def _transmit(self, frame: bytes) -> None:
        if not self._client_gone:
            self._replies.append(frame)
            self._to_client(LATENCY_MS, self._hand_over)

    def _hand_over(self) -> None:
        if self._replies and not self._client_gone:
            self._peer.received(self._replies.popleft()[4:])

    def _ended(self) -> None:
        """The broker notices that the client is gone."""
        if not self._broker_gone:
            self._broker_gone = True
            self._session.closed = True
            self._inbox.clear()
            self._server.session_ended(self._session)

    def _hang_up(self) -> None:
        self._ended()
        self.break_off()

    def break_off(self) -> None:
        """The broker's end is closed, by itself or by a crash: some of what it sent still gets through."""
        if not self._broken_off:
            self._broker_gone = self._broken_off = True
            self._cut(self._replies)
            self._to_client(2 * LATENCY_MS, self._told)

    def _told(self) -> None:
        if not self._client_gone:
            while self._replies:
                self._hand_over()
            self._client_gone = True
            self._peer.disconnected()

    def _cut(self, frames: deque[bytes]) -> None:
        """Keep a prefix."""
        for _ in range(self._world.random.between(0, len(frames))):
            frames.pop()


def _bytes_of(part: Part) -> bytes:
    if isinstance(part, bytes):
        return part
    piece = part.file.read(part.position, part.size)
    if len(piece) < part.size:
        raise ConnectionAbortedError("the file ended inside a reply")
    return piece
