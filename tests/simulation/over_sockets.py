"""The simulation's clients on real sockets and in real time: what they say is what a real broker understands.

`SocketStage` stands where the simulated host stands: it connects clients to an address. Nothing crashes here;
clients may freeze, lose connections and have their requests arrive late.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import struct
import time
from collections.abc import Callable

from barnabas.protocol import codec
from barnabas.protocol.codec import RequestHeader
from barnabas.protocol.schema import Message
from barnabas.sim.network import Asker
from barnabas.sim.world import World

_LENGTH = struct.Struct(">i")
_NAP_S = 0.001
_UNREAD_MS = 2000  # how long a connection that nobody reads stays open


class SocketConnection:
    def __init__(self, stage: SocketStage, peer: Asker) -> None:
        self._stage = stage
        self._peer = peer
        self._socket = socket.create_connection(stage.address, timeout=10)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._unread = bytearray()
        self._late: list[bytes] = []
        self._open = True
        self.held = False
        stage.selector.register(self._socket, selectors.EVENT_READ, self)

    def ask(self, header: RequestHeader, request: Message) -> None:
        frame = codec.write_request(header, request)
        framed = _LENGTH.pack(len(frame)) + frame
        if self.held:
            self._late.append(framed)
        elif self._open:
            self._transmit(framed)

    def _transmit(self, frame: bytes) -> None:
        """Into a broken connection too: that it is broken shows when we read."""
        with contextlib.suppress(OSError):
            self._socket.sendall(frame)

    def close(self) -> None:
        if self._open:
            self._open = False
            self._stage.selector.unregister(self._socket)
            self._socket.close()

    def stray(self, most_ms: int) -> None:
        """Nobody reads the answers any more."""
        self._stage.selector.unregister(self._socket)
        self._open = False
        self._stage.world.soon(most_ms, self._arrive_late)

    def _arrive_late(self) -> None:
        for frame in self._late:
            self._transmit(frame)
        self._stage.world.after(_UNREAD_MS, self._socket.close)

    def readable(self) -> None:
        try:
            data = self._socket.recv(1 << 20)
        except OSError:
            data = b""
        if not data:
            self.close()
            self._peer.disconnected()
            return
        self._unread += data
        while self._open and len(self._unread) >= _LENGTH.size:
            (size,) = _LENGTH.unpack_from(self._unread)
            if len(self._unread) < _LENGTH.size + size:
                return
            frame = bytes(self._unread[_LENGTH.size : _LENGTH.size + size])
            del self._unread[: _LENGTH.size + size]
            self._peer.received(frame)


class SocketStage:
    def __init__(self, world: World, address: tuple[str, int]) -> None:
        self.world = world
        self.address = address
        self.selector = selectors.DefaultSelector()
        self._started_s = time.monotonic()
        world.wall_skew_ms = int(time.time() * 1000) - world.wall_ms

    def connect(self, peer: Asker) -> SocketConnection | None:
        try:
            return SocketConnection(self, peer)
        except OSError:
            return None

    def run_until(self, reached: Callable[[], bool], patience_s: float) -> bool:
        """The world's queue against the real clock."""
        deadline_s = time.monotonic() + patience_s
        while not reached():
            if time.monotonic() > deadline_s:
                return False
            real_ms = int((time.monotonic() - self._started_s) * 1000)
            while self.world.next_ms is not None and self.world.next_ms <= real_ms:
                self.world.step()
            self.world.now_ms = max(self.world.now_ms, real_ms)
            for key, _ in self.selector.select(_NAP_S):
                key.data.readable()
        return True

    def close(self) -> None:
        for key in list(self.selector.get_map().values()):
            key.data.close()
        self.selector.close()
