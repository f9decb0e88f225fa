"""Requests in: whole frames to the node, one at a time per connection.

While a request is parked or its reply has not drained, the next one of that connection waits in the socket,
as in Kafka.
"""

from __future__ import annotations

import contextlib
import logging
import select
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

from barnabas.broker.session import Part, PeerFaultError, Session
from barnabas.runtime.attempts import Attempts
from barnabas.runtime.connection import LENGTH, SCRATCH_SIZE, Connection
from barnabas.runtime.listeners import Limits
from barnabas.runtime.sending import Sender

log = logging.getLogger("kafka.network.SocketServer")

_IN = select.EPOLLIN
_OUT = select.EPOLLOUT
_GONE = select.EPOLLHUP | select.EPOLLERR | select.EPOLLRDHUP
_AT_ONCE_MAX = 7
_AT_ONCE_NS = 250_000  # no matter how many: those who ask for much have a turn for each
_REPLIES_BYTES_MAX = 1 << 16  # of small replies to pipelined requests that leave in one send


class Application(Protocol):
    """What the loop drives: the node."""

    def handle(self, session: Session, frame: memoryview) -> list[Part] | None:
        """The reply; [] for no reply at all; None when it will come through `session.send`."""
        ...

    def disconnected(self, session: Session) -> None: ...

    def set_time(self, now_ms: int, wall_ms: int) -> None: ...

    def tick(self) -> int:
        """Do what is due; returns the milliseconds until the next thing is."""
        ...


class Receiver:
    def __init__(
        self, application: Application, limits: Limits, sender: Sender, close: Callable[[Connection], None]
    ) -> None:
        self._application = application
        self._limits = limits
        self._sender = sender
        self._close = close
        self._scratch = memoryview(bytearray(SCRATCH_SIZE))
        self._queued_bytes = 0
        self._hungry: deque[Connection] = deque()  # paused until memory is free
        self.is_alone = False  # whose event is next: nobody else's came with it, and it was there at once
        self._repeats = Attempts()  # to go on at once

    def event(self, connection: Connection, mask: int, now_ms: int) -> None:
        connection.last_active_ms = now_ms
        if mask == _IN and connection.buffer is None and not connection.out and not connection.parked:
            self._receive_afresh(connection)
            if self.is_alone:
                self._go_on_at_once(connection)
            return
        if mask & _OUT:
            self._sender.drain(connection)
        if mask & _IN and not connection.out and not connection.parked:
            self._receive(connection)
        elif mask & _GONE:
            self._close(connection)

    def resume(self, connection: Connection, now_ms: int) -> None:
        """Its turn without an event: a parked reply, a share of a long one, frames that waited."""
        if connection.session.closed:
            return
        connection.last_active_ms = now_ms
        if connection.out:
            self._sender.drain(connection)
        if not connection.out and not connection.parked and not connection.session.closed:
            if connection.end > connection.start:
                self._own_frames(connection)
            else:
                self._sender.watch(connection)

    # --- from the socket -----------------------------------------------------------------------------------

    def _go_on_at_once(self, connection: Connection) -> None:
        """A client that shares our core runs as soon as it has its answer, and has asked again before we
        look: then its next request needs no turn of its own. Not for long, others may want something."""
        if not self._repeats.is_due():
            return
        sender, until_ns = self._sender, time.monotonic_ns() + _AT_ONCE_NS
        for _ in range(_AT_ONCE_MAX):
            if sender.answers:
                sender.send_answers()
            if connection.buffer is not None or connection.out or connection.parked:
                return
            if connection.session.closed or time.monotonic_ns() > until_ns:
                return
            if not self._receive_afresh(connection):
                self._repeats.failed()
                return
            self._repeats.succeeded()

    def _receive_afresh(self, connection: Connection) -> bool:
        """Nothing of this connection is buffered. The usual case is one whole request, answered at once.
        False if there was nothing."""
        scratch = self._scratch
        try:
            count = connection.socket.recv_into(scratch)
        except BlockingIOError:
            return False
        except OSError:
            count = 0
        try:
            if count > 4 and LENGTH.unpack_from(scratch)[0] == count - 4 <= self._limits.request_max_bytes:
                self._sender.answer(connection, self._handle(connection, scratch[4:count]))
            elif count:
                self._scratch_frames(connection, count)
            else:
                self._close(connection)
        except PeerFaultError as fault:
            self._fault(connection, fault)
        return True

    def _receive(self, connection: Connection) -> None:
        """Into the connection's own buffer, behind what is there of an unfinished frame."""
        try:
            if connection.buffer is None:
                self._receive_afresh(connection)
                return
            if connection.end > connection.start:
                target = connection.room(self._frame_size(connection))
            else:
                connection.start = connection.end = 0
                assert connection.view is not None
                target = connection.view
            count = connection.socket.recv_into(target)
        except BlockingIOError:
            return
        except PeerFaultError as fault:
            self._fault(connection, fault)
            return
        except OSError:
            count = 0
        if count == 0:
            self._close(connection)
        else:
            connection.end += count
            self._own_frames(connection)

    # --- frames --------------------------------------------------------------------------------------------

    def _frame_size(self, connection: Connection) -> int:
        assert connection.buffer is not None
        if connection.end - connection.start < 4:
            return 4
        return 4 + self._length(connection.buffer, connection.start)

    def _length(self, buffer: bytearray | memoryview, position: int) -> int:
        (length,) = LENGTH.unpack_from(buffer, position)
        if 0 <= length <= self._limits.request_max_bytes:
            return int(length)
        raise PeerFaultError(
            f"Invalid receive (size = {length} is outside 0 to {self._limits.request_max_bytes}, "
            "socket.request.max.bytes)"
        )

    def _own_frames(self, connection: Connection) -> None:
        view = connection.view
        assert view is not None
        try:
            connection.start, need = self._frames(connection, view, connection.start, connection.end)
        except PeerFaultError as fault:
            self._fault(connection, fault)
            return
        if connection.session.closed or connection.buffer is None:
            return
        if connection.start == connection.end:
            connection.start = connection.end = 0
            self.unreserve(connection)
        elif need + connection.start > len(connection.buffer):
            # Not enough room behind the unfinished frame.
            connection.keep(view, connection.start, connection.end, need)
            self._reserve(connection, need)
        self._sender.go_on(connection)

    def _scratch_frames(self, connection: Connection, end: int) -> None:
        start, need = self._frames(connection, self._scratch, 0, end)
        if connection.session.closed:
            return
        if start < end:
            connection.keep(self._scratch, start, end, need)
            self._reserve(connection, need)
        self._sender.go_on(connection)

    def _frames(self, connection: Connection, view: memoryview, start: int, end: int) -> tuple[int, int]:
        """Hand every whole frame to the node until one parks or cannot drain; returns where the rest starts
        and the size of the frame it begins."""
        out = connection.out
        need, queued = 4, 0
        while end - start >= 4:
            need = 4 + self._length(view, start)
            stop = start + need
            if stop > end:
                break
            parts = self._handle(connection, view[start + 4 : stop])
            start = stop
            need = 4
            if parts is None:
                break
            if parts:
                out.extend(parts)
                queued += len(parts[0])
                if len(parts) > 1 or queued >= _REPLIES_BYTES_MAX:
                    break
        return start, need

    def _handle(self, connection: Connection, frame: memoryview) -> list[Part] | None:
        """One request: its reply, or None while the connection is parked."""
        # Set first: the reply of a parked request may arrive before `handle` returns.
        connection.parked = True
        try:
            parts = self._application.handle(connection.session, frame)
        except PeerFaultError:
            raise
        except Exception as bug:
            # Ours, not the peer's: loud, and at the price of this one connection, not of all.
            log.exception("Bug while handling a request of /%s", connection.session.peer)
            raise PeerFaultError("internal error") from bug
        if parts is not None:
            connection.parked = False
        return parts

    def _fault(self, connection: Connection, fault: PeerFaultError) -> None:
        log.warning("Closing connection of /%s: %s", connection.session.peer, fault)
        # What was answered before the fault still leaves, if the socket takes it at once.
        with contextlib.suppress(OSError):
            self._sender.flush_in_memory(connection)
        self._close(connection)

    # --- memory --------------------------------------------------------------------------------------------

    def _reserve(self, connection: Connection, need: int) -> None:
        """Count an unfinished frame against queued.max.request.bytes; wait when there is none left."""
        if self._limits.queued_max_bytes <= 0 or connection.reserved:
            return
        if self._queued_bytes >= self._limits.queued_max_bytes:
            connection.paused = True
            self._hungry.append(connection)
            return
        connection.reserved = need
        self._queued_bytes += need

    def unreserve(self, connection: Connection) -> None:
        """Its frame is handled or given up; those who wait for memory may go on."""
        if not connection.reserved:
            return
        self._queued_bytes -= connection.reserved
        connection.reserved = 0
        while self._hungry and self._queued_bytes < self._limits.queued_max_bytes:
            waiting = self._hungry.popleft()
            if waiting.session.closed:
                continue
            waiting.paused = False
            self._reserve(waiting, max(waiting.end - waiting.start, 4))
            self._sender.watch(waiting)
