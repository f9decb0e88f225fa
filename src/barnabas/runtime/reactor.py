"""The epoll loop: one thread, every socket, no coroutine per request.

Who may come in is in listeners.py, what a connection asks in receiving.py, what it gets in sending.py.
"""

from __future__ import annotations

import logging
import select
import socket
from collections.abc import Callable

from barnabas.broker.session import Session
from barnabas.ports import Clock
from barnabas.runtime.attempts import Attempts
from barnabas.runtime.connection import Connection
from barnabas.runtime.listeners import Limits, Listeners
from barnabas.runtime.loopback import send_without_timers
from barnabas.runtime.receiving import Application, Receiver
from barnabas.runtime.sending import ColdReader, Sender

log = logging.getLogger("kafka.network.SocketServer")

_IN = select.EPOLLIN
_SWEEP_MS = 2000
_EVENTS_MAX = 32  # per look: Python allocates room for as many each time, and few need no malloc
_LOOKS = 128  # of about half a microsecond each
_FORESEEN_LOOKS = 256  # in C they are shorter


class Reactor:
    def __init__(self, application: Application, clock: Clock, limits: Limits, cold: ColdReader) -> None:
        self.application = application
        self.clock = clock
        self.limits = limits
        self.epoll = select.epoll()
        self.connections: dict[int, Connection] = {}
        self.sources: dict[int, Callable[[], None]] = {}  # listeners, wake-ups, child pipes
        self.listeners = Listeners(limits, self.attach, self.detach, self._welcome)
        self.sender = Sender(self.epoll, cold, self._close)
        self.receiver = Receiver(application, limits, self.sender, self._close)
        self.next_sweep_ms = 0
        self.looks = Attempts()

    # --- what may be attached ------------------------------------------------------------------------------

    def accept_from(self, name: str, listener: socket.socket) -> None:
        self.listeners.accept_from(name, listener)

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
        application, clock, sender, receiver = self.application, self.clock, self.sender, self.receiver
        resumed = sender.resumed
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
                    receiver.event(connection, mask, now_ms)
                else:
                    source = self.sources.get(fd)
                    if source is not None:
                        source()
            if sender.answers:
                sender.send_answers()
            wait_ms = application.tick()
            for _ in range(len(resumed)):  # not those that come back for another turn
                receiver.resume(resumed.popleft(), now_ms)
            if now_ms >= self.next_sweep_ms:
                self._sweep(now_ms)
            wait_ms = max(0, min(wait_ms, self.next_sweep_ms - now_ms))

    def _poll(self, wait_ms: int) -> list[tuple[int, int]]:
        """Look again for a moment before going to sleep: to be woken costs more than a client that waits for
        us takes to ask again. Where nobody asks that soon, the moment would be lost."""
        events = self.epoll.poll(0, _EVENTS_MAX)
        self.receiver.is_alone = len(events) == 1
        if events or self.sender.resumed:
            return events
        if self.looks.is_due():
            found = self._look()
            if found is not None:
                self.looks.succeeded()
                return found
            self.looks.failed()
        return self.epoll.poll(wait_ms / 1000, _EVENTS_MAX)

    def _look(self) -> list[tuple[int, int]] | None:
        """What came within the moment, but for the request that was foreseen, which is answered; None if
        nothing did."""
        poll, small = self.epoll.poll, self.sender.small
        ready = small.foresee()
        if ready is None:
            for _ in range(_LOOKS):
                events = poll(0, _EVENTS_MAX)
                if events:
                    return events
            return None
        if not small.send_when_asked(ready, self.epoll, _FORESEEN_LOOKS):
            return poll(0, _EVENTS_MAX) or None
        ready.connection.last_active_ms = self.clock.monotonic_ms()
        if ready.connection.out:
            self.sender.drain(ready.connection)
        return []

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

    # --- connections come and go ---------------------------------------------------------------------------

    def _welcome(self, accepted: socket.socket, ip: str, name: str) -> None:
        accepted.setblocking(False)
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        send_without_timers(accepted, ip)
        connection = Connection(accepted, self.clock.monotonic_ms())
        connection.session = Session(name, ip, lambda parts: self.sender.deliver(connection, parts))
        self.connections[connection.fd] = connection
        connection.interest = _IN
        self.epoll.register(connection.fd, _IN)

    def _close(self, connection: Connection) -> None:
        session = connection.session
        if session.closed:
            return
        session.closed = True
        del self.connections[connection.fd]
        self.epoll.unregister(connection.fd)
        connection.socket.close()
        connection.out.clear()
        connection.release()
        self.receiver.unreserve(connection)
        self.listeners.left(session.peer)
        self.application.disconnected(session)

    def close(self) -> None:
        for fd in list(self.sources):
            self.detach(fd)
        self.limits.max_connections = 0  # nobody new while the last ones go
        for connection in list(self.connections.values()):
            self._close(connection)
        self.epoll.close()
