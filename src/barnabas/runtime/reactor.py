"""The epoll loop: one thread, every socket, no coroutine per request.

It feeds whole frames to the node, one at a time per connection: while a request is parked or its reply has
not drained, the next one of that connection waits in the socket, as in Kafka.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import select
import socket
import time
from collections import Counter, deque
from collections.abc import Callable
from typing import Protocol

from barnabas.broker.session import Part, PeerFaultError, Session
from barnabas.ports import Clock, FileSlice
from barnabas.runtime.connection import LENGTH, SCRATCH_SIZE, Connection, Flushed

log = logging.getLogger("kafka.network.SocketServer")

_IN = select.EPOLLIN
_OUT = select.EPOLLOUT
_GONE = select.EPOLLHUP | select.EPOLLERR | select.EPOLLRDHUP
_SWEEP_MS = 2000
_EVENTS_MAX = 32  # per look: Python allocates room for as many each time, and few need no malloc
_ANSWERS_MAX = 16
_SHARES_MAX = 8  # of a long reply, before timers get their turn
_LOOKS = 64  # of about half a microsecond each
_WORTH_LOOKING_NS = 40_000
_LONG_WAIT_NS = 200_000  # longer ones count as this long, so that a client that comes back is soon noticed
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


class Limits:
    """The named bounds of the network side; the node updates them when a setting changes."""

    def __init__(self) -> None:
        self.request_max_bytes = 104857600
        self.queued_max_bytes = -1
        self.max_connections = 2147483647
        self.max_connections_per_ip = 2147483647
        self.per_ip_overrides: dict[str, int] = {}
        self.idle_max_ms = 600000


class ColdReader(Protocol):
    def is_cold(self, part: FileSlice) -> bool: ...

    def warm(self, part: FileSlice, done: Callable[[], None]) -> None: ...


class Reactor:
    def __init__(self, application: Application, clock: Clock, limits: Limits, cold: ColdReader) -> None:
        self.application = application
        self.clock = clock
        self.limits = limits
        self.cold = cold
        self.epoll = select.epoll()
        self.connections: dict[int, Connection] = {}
        self.sources: dict[int, Callable[[], None]] = {}  # listeners, wake-ups, child pipes
        self.per_ip: Counter[str] = Counter()
        self.full_listeners: list[tuple[str, socket.socket]] = []  # not accepted from until there is room
        self.queued_bytes = 0
        self.hungry: deque[Connection] = deque()  # paused until memory is free
        self.resumed: deque[Connection] = deque()  # replies arrived for parked requests
        self.scratch = memoryview(bytearray(SCRATCH_SIZE))
        self.outgoing = memoryview(bytearray(SCRATCH_SIZE))
        self.next_sweep_ms = 0
        self.usual_wait_ns = _LONG_WAIT_NS
        self.answers: list[tuple[Connection, bytes]] = []  # that leave before the next look at epoll

    # --- what may be attached ------------------------------------------------------------------------------

    @staticmethod
    def bind(host: str, port: int, backlog: int) -> socket.socket:
        """A listening socket; clients wait in its backlog until `accept_from` is called."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError:
            listener.close()
            raise
        listener.listen(backlog)
        listener.setblocking(False)
        return listener

    def accept_from(self, name: str, listener: socket.socket) -> None:
        self.attach(listener.fileno(), lambda: self._accept(listener, name))

    def attach(self, fd: int, ready: Callable[[], None]) -> None:
        self.sources[fd] = ready
        self.epoll.register(fd, _IN)

    def detach(self, fd: int) -> None:
        if self.sources.pop(fd, None) is not None:
            self.epoll.unregister(fd)

    def forget(self, fd: int) -> None:
        """A source whose descriptor is closed already: the kernel dropped it from epoll by itself."""
        self.sources.pop(fd, None)

    # --- the loop ------------------------------------------------------------------------------------------

    def run(self, stopped: Callable[[], bool]) -> None:
        application, clock = self.application, self.clock
        wait_ms = 0
        while not stopped():
            try:
                events = self._poll(wait_ms)
            except InterruptedError:
                continue
            now_ms = clock.monotonic_ms()
            application.set_time(now_ms, clock.wall_ms())
            for fd, mask in events:
                connection = self.connections.get(fd)
                if connection is not None:
                    self._event(connection, mask, now_ms)
                else:
                    source = self.sources.get(fd)
                    if source is not None:
                        source()
            if self.answers:
                self._send_answers()
            wait_ms = application.tick()
            for _ in range(len(self.resumed)):  # not those that come back for another turn
                self._resume(self.resumed.popleft(), now_ms)
            if now_ms >= self.next_sweep_ms:
                self._sweep(now_ms)
            wait_ms = max(0, min(wait_ms, self.next_sweep_ms - now_ms))

    def _poll(self, wait_ms: int) -> list[tuple[int, int]]:
        """Look again for a moment before going to sleep: to be woken costs more than a client that waits for
        us takes to ask again. Where waits are usually longer than that moment, it would be lost."""
        poll = self.epoll.poll
        events = poll(0, _EVENTS_MAX)
        if events or self.resumed:
            return events
        before_ns = time.monotonic_ns()
        if self.usual_wait_ns < _WORTH_LOOKING_NS:
            for _ in range(_LOOKS):
                events = poll(0, _EVENTS_MAX)
                if events:
                    break
        if not events:
            events = poll(wait_ms / 1000, _EVENTS_MAX)
        waited_ns = min(time.monotonic_ns() - before_ns, _LONG_WAIT_NS)
        self.usual_wait_ns += (waited_ns - self.usual_wait_ns) // 8
        return events

    def close(self) -> None:
        for fd in list(self.sources):
            self.detach(fd)
        self.limits.max_connections = 0  # nobody new while the last ones go
        for connection in list(self.connections.values()):
            self._close(connection)
        self.epoll.close()

    def _accept(self, listener: socket.socket, name: str) -> None:
        for _ in range(64):  # leave room for others when a crowd arrives
            if len(self.connections) >= self.limits.max_connections:
                self._wait_for_room(listener, name)
                return
            try:
                accepted, address = listener.accept()
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno in {errno.EMFILE, errno.ENFILE}:
                    log.error("Cannot accept connections: out of file descriptors; raise `ulimit -n`")
                return
            self._welcome(accepted, str(address[0]), name)

    def _wait_for_room(self, listener: socket.socket, name: str) -> None:
        """As Kafka does: whoever comes above `max.connections` waits in the backlog until somebody leaves."""
        log.info("The broker has its maximum of %d connections.", self.limits.max_connections)
        self.detach(listener.fileno())
        self.full_listeners.append((name, listener))

    def _welcome(self, accepted: socket.socket, ip: str, name: str) -> None:
        limits = self.limits
        per_ip_max = limits.per_ip_overrides.get(ip, limits.max_connections_per_ip)
        if self.per_ip[ip] >= per_ip_max:
            log.info("Rejected connection from /%s, address already has the configured maximum of %d "
                     "connections.", ip, per_ip_max)  # fmt: skip
            accepted.close()
            return
        accepted.setblocking(False)
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = Connection(accepted, self.clock.monotonic_ms())
        connection.session = Session(name, ip, lambda parts: self._deliver(connection, parts))
        self.connections[connection.fd] = connection
        self.per_ip[ip] += 1
        connection.interest = _IN
        self.epoll.register(connection.fd, _IN)

    # --- one connection ------------------------------------------------------------------------------------

    def _event(self, connection: Connection, mask: int, now_ms: int) -> None:
        connection.last_active_ms = now_ms
        if mask == _IN and connection.buffer is None and not connection.out and not connection.parked:
            self._receive_afresh(connection)
            return
        if mask & _OUT:
            self._drain(connection)
        if mask & _IN and not connection.out and not connection.parked:
            self._receive(connection)
        elif mask & _GONE:
            self._close(connection)

    def _receive_afresh(self, connection: Connection) -> None:
        """Nothing of this connection is buffered. The usual case is one whole request, answered at once."""
        scratch = self.scratch
        try:
            count = connection.socket.recv_into(scratch)
        except BlockingIOError:
            return
        except OSError:
            count = 0
        try:
            if count > 4 and LENGTH.unpack_from(scratch)[0] == count - 4 <= self.limits.request_max_bytes:
                self._answer(connection, self._handle(connection, scratch[4:count]))
            elif count:
                self._scratch_frames(connection, count)
            else:
                self._close(connection)
        except PeerFaultError as fault:
            self._fault(connection, fault)

    def _answer(self, connection: Connection, parts: list[Part] | None) -> None:
        """The reply to the only request there is. A small one leaves together with those of others who asked
        at the same time: a client that is awake when the next reply comes need not be woken for it."""
        if parts:
            part = parts[0]
            if len(parts) == 1 and isinstance(part, bytes):
                self.answers.append((connection, part))
                if len(self.answers) >= _ANSWERS_MAX:
                    self._send_answers()
                return
            connection.out.extend(parts)
        if not connection.session.closed:
            self._after(connection)

    def _send_answers(self) -> None:
        """Small replies, which the sockets usually take whole."""
        answers, self.answers = self.answers, []
        for connection, part in answers:
            if connection.session.closed:
                continue
            try:
                sent = connection.socket.send(part)
            except OSError:  # full, or gone: `_drain` finds out
                sent = 0
            if sent < len(part):
                connection.out.append(part[sent:])
                self._drain(connection)

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

    def _frame_size(self, connection: Connection) -> int:
        assert connection.buffer is not None
        if connection.end - connection.start < 4:
            return 4
        return 4 + self._length(connection.buffer, connection.start)

    def _length(self, buffer: bytearray | memoryview, position: int) -> int:
        (length,) = LENGTH.unpack_from(buffer, position)
        if 0 <= length <= self.limits.request_max_bytes:
            return int(length)
        raise PeerFaultError(
            f"Invalid receive (size = {length} is outside 0 to {self.limits.request_max_bytes}, "
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
            self._unreserve(connection)
        elif need + connection.start > len(connection.buffer):
            # Not enough room behind the unfinished frame.
            connection.keep(view, connection.start, connection.end, need)
            self._reserve(connection, need)
        self._after(connection)

    def _scratch_frames(self, connection: Connection, end: int) -> None:
        start, need = self._frames(connection, self.scratch, 0, end)
        if connection.session.closed:
            return
        if start < end:
            connection.keep(self.scratch, start, end, need)
            self._reserve(connection, need)
        self._after(connection)

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
            parts = self.application.handle(connection.session, frame)
        except PeerFaultError:
            raise
        except Exception as bug:
            # Ours, not the peer's: loud, and at the price of this one connection, not of all.
            log.exception("Bug while handling a request of /%s", connection.session.peer)
            raise PeerFaultError("internal error") from bug
        if parts is not None:
            connection.parked = False
        return parts

    def _after(self, connection: Connection) -> None:
        """Send what there is; then either go on with buffered frames or wait for more."""
        out = connection.out
        is_plain = 0 < len(out) <= 3 and connection.start == connection.end and not connection.parked
        if is_plain and connection.interest == _IN and self._sent_at_once(connection):
            return
        if out:
            self._drain(connection)
        else:
            self._watch(connection)

    def _sent_at_once(self, connection: Connection) -> bool:
        """The usual case, without ceremony: a small reply that the socket takes whole."""
        out = connection.out
        try:
            if len(out) > 1:
                return connection.send_copied(self.outgoing)
            part = out[0]
            if not isinstance(part, bytes):
                return False
            sent = connection.socket.send(part)
        except OSError:  # full, or gone: `_drain` finds out
            return False
        if sent == len(part):
            out.clear()
            return True
        out[0] = part[sent:]
        return False

    def _drain(self, connection: Connection) -> None:
        """Flush; when everything left, frames that waited in the buffer get their turn."""
        if connection.cold:
            return
        try:
            flushed = self._flush(connection)
        except OSError:
            self._close(connection)
            return
        if flushed is Flushed.A_SHARE and connection.interest == _IN:
            self.resumed.append(connection)  # its next turn; to ask epoll for one would cost two calls
            return
        self._watch(connection)
        if flushed is Flushed.ALL and not connection.parked and connection.end - connection.start >= 4:
            self.resumed.append(connection)

    def _flush(self, connection: Connection) -> Flushed:
        """A share at a time; another one only while nobody else wants anything."""

        def is_warm(part: FileSlice) -> bool:
            return self._is_warm(connection, part)

        flushed = connection.flush(is_warm)
        for _ in range(_SHARES_MAX):
            if flushed is not Flushed.A_SHARE or self.resumed or self.epoll.poll(0, 1):
                break
            flushed = connection.flush(is_warm)
        return flushed

    def _is_warm(self, connection: Connection, part: FileSlice) -> bool:
        """sendfile of a page that is not in memory would block the only loop: have a worker read it first."""
        if not self.cold.is_cold(part):
            return True
        connection.cold = True
        self.cold.warm(part, lambda: self._warmed(connection))
        return False

    def _warmed(self, connection: Connection) -> None:
        connection.cold = False
        if not connection.session.closed:
            self.resumed.append(connection)

    def _deliver(self, connection: Connection, parts: list[Part]) -> None:
        """A parked request got its reply."""
        if connection.session.closed:
            return
        connection.parked = False
        connection.out.extend(parts)
        self.resumed.append(connection)

    def _resume(self, connection: Connection, now_ms: int) -> None:
        if connection.session.closed:
            return
        connection.last_active_ms = now_ms
        if connection.out:
            self._drain(connection)
        if not connection.out and not connection.parked and not connection.session.closed:
            if connection.end > connection.start:
                self._own_frames(connection)
            else:
                self._watch(connection)

    def _watch(self, connection: Connection) -> None:
        """Ask epoll for what we can use now; a parked or blocked connection is not read from."""
        if connection.session.closed:
            return
        if connection.out:
            interest = 0 if connection.cold else _OUT
        else:
            interest = 0 if connection.parked or connection.paused else _IN
        interest |= select.EPOLLRDHUP if interest != _IN else 0
        if interest != connection.interest:
            connection.interest = interest
            self.epoll.modify(connection.fd, interest)

    # --- memory --------------------------------------------------------------------------------------------

    def _reserve(self, connection: Connection, need: int) -> None:
        """Count an unfinished frame against queued.max.request.bytes; wait when there is none left."""
        if self.limits.queued_max_bytes <= 0 or connection.reserved:
            return
        if self.queued_bytes >= self.limits.queued_max_bytes:
            connection.paused = True
            self.hungry.append(connection)
            return
        connection.reserved = need
        self.queued_bytes += need

    def _unreserve(self, connection: Connection) -> None:
        if not connection.reserved:
            return
        self.queued_bytes -= connection.reserved
        connection.reserved = 0
        while self.hungry and self.queued_bytes < self.limits.queued_max_bytes:
            waiting = self.hungry.popleft()
            if waiting.session.closed:
                continue
            waiting.paused = False
            self._reserve(waiting, max(waiting.end - waiting.start, 4))
            self._watch(waiting)

    def _sweep(self, now_ms: int) -> None:
        """Close what has been idle too long, and take back the buffers of what is merely quiet."""
        self.next_sweep_ms = now_ms + _SWEEP_MS
        idle_before_ms = now_ms - self.limits.idle_max_ms
        quiet_before_ms = now_ms - _SWEEP_MS
        for connection in list(self.connections.values()):
            if connection.last_active_ms < idle_before_ms and not connection.parked:
                log.info("Closing idle connection of /%s", connection.session.peer)
                self._close(connection)
            elif connection.last_active_ms < quiet_before_ms and connection.start == connection.end:
                connection.release()

    # --- the end -------------------------------------------------------------------------------------------

    def _fault(self, connection: Connection, fault: PeerFaultError) -> None:
        log.warning("Closing connection of /%s: %s", connection.session.peer, fault)
        # What was answered before the fault still leaves, if the socket takes it at once.
        with contextlib.suppress(OSError):
            connection.flush(lambda part: not self.cold.is_cold(part))
        self._close(connection)

    def _close(self, connection: Connection) -> None:
        session = connection.session
        if session.closed:
            return
        session.closed = True
        del self.connections[connection.fd]
        self.per_ip[session.peer] -= 1
        if not self.per_ip[session.peer]:
            del self.per_ip[session.peer]
        self.epoll.unregister(connection.fd)
        connection.socket.close()
        connection.out.clear()
        connection.release()
        self._unreserve(connection)
        if self.full_listeners and len(self.connections) < self.limits.max_connections:
            waiting, self.full_listeners = self.full_listeners, []
            for name, listener in waiting:
                self.accept_from(name, listener)
        self.application.disconnected(session)
