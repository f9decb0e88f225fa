"""Lines to other brokers: connections that we open, on the same loop as those that come in.

A response is read straight into a buffer of its own size once its length is known: a follower appends from
there. Names are looked up by a worker, since a resolver may take seconds; of the addresses that it finds, the
first that somebody answers at is taken.
"""

from __future__ import annotations

import errno
import logging
import select
import socket
import struct
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from barnabas.model.endpoint import Endpoint
from barnabas.ports import Caller, Line, Workers
from barnabas.runtime.socket_buffers import SocketBuffers

log = logging.getLogger("kafka.network.Lines")

_NO_SIZES = SocketBuffers()
_IN = select.EPOLLIN
_OUT = select.EPOLLOUT
_LENGTH = struct.Struct(">i")
_SCRATCH_BYTES = 1 << 16
_TURN_BYTES = 1 << 21  # then others get their turn
_RESPONSE_BYTES_MAX = 1 << 30
_FIRST_BYTES_MAX = 1 << 24  # of a buffer, before anything has arrived

_Address: TypeAlias = tuple[int, Any]  # family, and what `connect` takes for it


class Loop(Protocol):
    """What a line needs of the reactor."""

    epoll: select.epoll

    def attach(self, fd: int, ready: Callable[[], None]) -> None: ...

    def detach(self, fd: int) -> None: ...


class Lines:
    """`ports.Network`."""

    def __init__(self, workers: Workers, buffers: SocketBuffers = _NO_SIZES) -> None:
        self._loop: Loop | None = None
        self._workers = workers
        self._buffers = buffers
        self._scratch = memoryview(bytearray(_SCRATCH_BYTES))
        self._open: weakref.WeakSet[_Line] = weakref.WeakSet()

    def attach_to(self, loop: Loop) -> None:
        self._loop = loop

    def connect(self, endpoint: Endpoint, caller: Caller) -> Line:
        assert self._loop is not None
        line = _Line(self._loop, caller, self._scratch, self._buffers)
        self._open.add(line)
        self._workers.submit(lambda: _look_up(endpoint), line.found)
        return line

    def close(self) -> None:
        """Before the loop is: an address that is found later leads nowhere."""
        for line in list(self._open):
            line.close()


def _look_up(endpoint: Endpoint) -> list[_Address]:
    found = socket.getaddrinfo(endpoint.host, endpoint.port, type=socket.SOCK_STREAM)
    return [(family, address) for family, _, _, _, address in found]


class _Line:
    def __init__(self, loop: Loop, caller: Caller, scratch: memoryview, buffers: SocketBuffers) -> None:
        self._loop = loop
        self._caller = caller
        self._scratch = scratch
        self._buffers = buffers
        self._addresses: deque[_Address] = deque()  # not tried yet
        self._socket: socket.socket | None = None
        self._standing = False
        self._closed = False
        self.was_refused = False  # by the address that was tried last
        self._out: deque[bytes | memoryview] = deque()
        self._frame: bytearray | None = None  # being filled
        self._filled = 0
        self._announced = 0  # how long it will be
        self._loose = b""  # less than a length

    # --- coming about --------------------------------------------------------------------------------------

    def found(self, addresses: object, error: BaseException | None) -> None:
        """The worker has looked the name up."""
        if error is None and isinstance(addresses, list):
            self._addresses.extend(addresses)
        self._try_next()

    def _try_next(self) -> None:
        while self._addresses and not self._closed:
            family, address = self._addresses.popleft()
            self._hang_up()
            if self._begin(family, address):
                return
        self._die()

    def _begin(self, family: int, address: Any) -> bool:
        try:
            self._socket = opened = socket.socket(family, socket.SOCK_STREAM)
            opened.setblocking(False)
            self._buffers.apply(opened)
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            code = opened.connect_ex(address)
            if code not in {0, errno.EINPROGRESS}:
                self.was_refused = code == errno.ECONNREFUSED
                return False
        except OSError:  # no descriptors left, or a family that this machine does not have
            return False
        self._loop.attach(opened.fileno(), self._ready)
        self._loop.epoll.modify(opened.fileno(), _IN | _OUT)
        return True

    def send(self, frame: bytes) -> None:
        if self._closed:
            return
        self._out.append(frame)
        if self._standing and len(self._out) == 1:
            self._flush()

    def close(self) -> None:
        """Nobody is told: whoever closes knows."""
        self._closed = True
        self._out.clear()
        self._addresses.clear()
        self._frame = None
        self._hang_up()

    def _hang_up(self) -> None:
        opened, self._socket = self._socket, None
        if opened is not None:
            self._loop.detach(opened.fileno())
            opened.close()

    def _die(self) -> None:
        if not self._closed:
            self.close()
            self._caller.disconnected()

    # --- the loop's events ---------------------------------------------------------------------------------

    def _ready(self) -> None:
        opened = self._socket
        if opened is None:
            return
        if not self._standing:
            code = opened.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            self.was_refused = code == errno.ECONNREFUSED
            if code:
                self._try_next()
                return
            self._standing = True
            self._flush()
        elif self._out:
            self._flush()
        self._receive()

    def _flush(self) -> None:
        opened = self._socket
        if opened is None:
            return
        try:
            while self._out:
                data = self._out[0]
                sent = opened.send(data)
                if sent < len(data):
                    self._out[0] = memoryview(data)[sent:]
                else:
                    self._out.popleft()
        except BlockingIOError:
            pass
        except OSError:
            # The loop sees the dead socket and tells: whoever sends must not be called back from inside.
            self._out.clear()
        self._loop.epoll.modify(opened.fileno(), _IN | _OUT if self._out else _IN)

    def _receive(self) -> None:
        share = _TURN_BYTES
        while share > 0 and self._socket is not None:
            frame = self._frame
            target = self._scratch if frame is None else memoryview(frame)[self._filled :]
            try:
                count = self._socket.recv_into(target)
            except BlockingIOError:
                return
            except OSError:
                count = 0
            if count == 0:
                self._die()
                return
            share -= count
            if frame is None:
                self._take(target[:count])
            else:
                self._filled += count
                target.release()  # or the buffer could not grow
                self._deliver_if_whole()

    def _take(self, data: memoryview) -> None:
        """Whole frames, then the beginning of one."""
        view = memoryview(self._loose + data.tobytes()) if self._loose else data
        self._loose = b""
        at = 0
        while not self._closed and len(view) - at >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(view, at)
            if not 0 <= length <= _RESPONSE_BYTES_MAX:
                log.warning("A peer announces an answer of %d bytes; closing its line", length)
                self._die()
                return
            at += _LENGTH.size
            self._announced = length
            here = min(length, len(view) - at)
            self._frame = bytearray(max(here, min(length, _FIRST_BYTES_MAX)))
            self._frame[:here] = view[at : at + here]
            self._filled = here
            at += here
            self._deliver_if_whole()
        if not self._closed and self._frame is None and at < len(view):
            self._loose = view[at:].tobytes()

    def _deliver_if_whole(self) -> None:
        frame = self._frame
        if frame is None or self._filled < len(frame):
            return
        if self._filled < self._announced:
            # A buffer grows with what has arrived, not with what was announced.
            frame.extend(bytes(min(len(frame), self._announced - len(frame))))
            return
        self._frame = None
        self._caller.received(frame)
