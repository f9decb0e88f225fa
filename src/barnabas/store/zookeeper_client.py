"""What we add to kazoo's client: a multi whose creations answer with their stat, an order between answers and
watches that fired, and no write of an ended session carried out in the next."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeAlias

from kazoo import exceptions
from kazoo.client import KazooClient
from kazoo.handlers.threading import AsyncResult, SequentialThreadingHandler
from kazoo.protocol import serialization
from kazoo.protocol.states import KazooState, KeeperState, ZnodeStat

Result: TypeAlias = Any  # kazoo says nothing about its types
Operation: TypeAlias = Any

GONE = (exceptions.SessionExpiredError, exceptions.AuthFailedError, exceptions.ConnectionClosedError)
DROPPED = (exceptions.ConnectionLoss, exceptions.OperationTimeoutError)

_CLOSE_MULTI = struct.pack("!iBi", -1, True, -1)
_NEVER_TRUE = 2**31 - 1  # a version that no node reaches


class Arrival(AsyncResult):  # type: ignore[misc]
    """An answer that knows when it came, compared with other answers and with watches that fired."""

    number = 0

    def set(self, value: Result = None) -> None:
        self.number = self._handler.next_number()
        super().set(value)

    def set_exception(self, exception: BaseException) -> None:
        self.number = self._handler.next_number()
        super().set_exception(exception)


@dataclass(frozen=True, slots=True)
class Watch:
    """Kazoo keeps watches in sets: two of the same path are one."""

    path: str
    handler: Handler = field(compare=False, repr=False)

    def __call__(self, event: object) -> None:
        self.handler.fired(event, self.path)


class Bell:
    """Rung for every request, by whoever makes it; heard on the connection's thread, once a request. Kazoo
    uses two sockets for that, which take a few hundred rings while nobody listens: without a connection
    whoever asks more than that, or wants to close, would wait until there is one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rings = 0
        self._inside, self._outside = socket.socketpair()

    def fileno(self) -> int:
        return self._inside.fileno()

    def send(self, ring: bytes) -> None:
        """OSError after the closing."""
        with self._lock:
            if self._rings == 0:
                self._outside.send(ring)
            self._rings += 1

    def recv(self, _size: int) -> None:
        with self._lock:
            if self._rings == 1:
                self._inside.recv(1)
            self._rings = max(0, self._rings - 1)

    def close(self) -> None:
        with self._lock:
            self._rings = 0
            self._inside.close()
            self._outside.close()


class Handler(SequentialThreadingHandler):  # type: ignore[misc]
    """Numbers answers and fired watches as they come from the socket, on the thread that reads it."""

    def __init__(self, context: ssl.SSLContext | None, wake: Callable[[], None]) -> None:
        super().__init__()
        self.next_number = count(1).__next__
        self.changes: deque[tuple[int, str]] = deque()
        self.last_problem: OSError | None = None
        self._context = context
        self._wake = wake
        self._last_fired: tuple[object, str] = (None, "")

    def fired(self, event: object, path: str) -> None:
        """A node that goes fires its two kinds of watches by one event: that is one change."""
        last_event, last_path = self._last_fired
        if event is last_event and path == last_path:
            return
        self._last_fired = (event, path)
        self.changes.append((self.next_number(), path))
        self._wake()

    def async_result(self) -> Arrival:
        return Arrival(self)

    def dispatch_callback(self, callback: Any) -> None:
        callback.func(*callback.args)

    def create_socket_pair(self) -> tuple[Bell, Bell]:
        bell = Bell()
        return bell, bell

    def create_connection(
        self, address: tuple[str, int], hostname: str | None = None, timeout: float | None = None, **_: object
    ) -> socket.socket:
        try:
            return self._connect(address, hostname or address[0], timeout)
        except OSError as problem:
            self.last_problem = problem
            raise

    def _connect(self, address: tuple[str, int], hostname: str, timeout: float | None) -> socket.socket:
        plain = socket.create_connection(address, timeout)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._context is None:
            return plain
        try:
            return self._context.wrap_socket(plain, server_hostname=hostname)
        except BaseException:
            plain.close()
            raise


class Multi:
    """Kazoo's own transaction cannot read the answer of `Create2`, which tells the stat of a new node."""

    type = serialization.Transaction.type

    def __init__(self, operations: Sequence[Operation], may_be_sent: Callable[[], bool]) -> None:
        self._may_be_sent = may_be_sent
        self.withheld = False
        self._body = b"".join(_operation_bytes(operation) for operation in operations) + _CLOSE_MULTI

    def __len__(self) -> int:
        return len(self._body)

    def serialize(self) -> bytes:
        """On the connection's thread, which is also the one that begins sessions: between this look and the
        sending no session can begin. What must not be sent any more becomes a check that cannot hold."""
        if self._may_be_sent():
            return self._body
        self.withheld = True
        return _operation_bytes(serialization.CheckVersion("/", _NEVER_TRUE)) + _CLOSE_MULTI

    def deserialize(self, data: bytes, offset: int) -> list[Result]:
        return _results(data, offset)


class MultiRead:
    """Many questions in one request, each answered or refused by itself. Kazoo's cost is by the request, and
    a controller reads tens of thousands of nodes. Since ZooKeeper 3.6; watches cannot be set this way."""

    type = 22

    def __init__(self, operations: Sequence[Operation]) -> None:
        self._body = b"".join(_operation_bytes(operation) for operation in operations) + _CLOSE_MULTI

    def serialize(self) -> bytes:
        return self._body

    def deserialize(self, data: bytes, offset: int) -> list[Result]:
        return _results(data, offset)


def _results(data: bytes, offset: int) -> list[Result]:
    results: list[Result] = []
    while True:
        header, offset = serialization.MultiHeader.deserialize(data, offset)
        if header.done:
            return results
        result, offset = _result(header.type, data, offset)
        results.append(result)


def _operation_bytes(operation: Operation) -> bytes:
    header = serialization.MultiHeader(operation.type, False, -1).serialize()
    return bytes(header + operation.serialize())


def _result(kind: int, data: bytes, offset: int) -> tuple[Result, int]:
    """What one operation of a multi answers: path and stat, stat, data and stat, names, None or an error."""
    if kind == serialization.Create2.type:
        path, offset = serialization.read_string(data, offset)
        stat, offset = _stat(data, offset)
        return (path, stat), offset
    if kind == serialization.SetData.type:
        return _stat(data, offset)
    if kind == serialization.GetData.type:
        value, offset = serialization.read_buffer(data, offset)
        stat, offset = _stat(data, offset)
        return (value, stat), offset
    if kind == serialization.GetChildren.type:
        return _names(data, offset)
    if kind == -1:
        (code,) = struct.unpack_from("!i", data, offset)
        return exceptions.EXCEPTIONS[code](), offset + 4
    return None, offset


def _names(data: bytes, offset: int) -> tuple[Result, int]:
    (size,) = struct.unpack_from("!i", data, offset)
    offset += 4
    names = []
    for _ in range(size):
        name, offset = serialization.read_string(data, offset)
        names.append(name)
    return names, offset


def _stat(data: bytes, offset: int) -> tuple[Result, int]:
    stat = ZnodeStat._make(serialization.stat_struct.unpack_from(data, offset))
    return stat, offset + serialization.stat_struct.size


class Client(KazooClient):  # type: ignore[misc]
    """One after the other, as many sessions as it takes. `generation` counts those that ended."""

    def __init__(self, on_began: Callable[[int], None], on_ended: Callable[[], None], **options: Any) -> None:
        super().__init__(**options)
        self.generation = 0
        self.is_denied = False  # the ensemble does not believe who we say we are
        self._on_began = on_began
        self._on_ended = on_ended
        self._begun: int | None = None
        self.add_listener(self._state_changed)

    @property
    def has_given_up(self) -> bool:
        """Kazoo tries for ever to reach a server, and never again after one has refused its login, or after
        an answer that it cannot read."""
        return self.client_state in (KeeperState.CLOSED, KeeperState.AUTH_FAILED)

    def multi(self, operations: Sequence[Operation], generation: int) -> Multi:
        """To be sent in the session after `generation` others, or not at all."""
        return Multi(operations, lambda: self.generation == generation)

    def send(self, request: Multi | MultiRead) -> Result:
        answer = self.handler.async_result()
        self._call(request, answer)
        return answer

    def _state_changed(self, state: str) -> None:
        """On the connection's thread, before anything is sent in the new state."""
        if state == KazooState.CONNECTED and self._session_id != self._begun:
            self._begun = self._session_id
            self._on_began(self._session_id)
        elif state == KazooState.LOST and self._begun is not None:
            self.is_denied = self.client_state == KeeperState.AUTH_FAILED
            self._begun = None
            self.generation += 1
            self._on_ended()
