"""Replies out: small ones in one piece, long ones share by share, cold ones when a worker has read them."""

from __future__ import annotations

import select
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

from barnabas.broker.session import Part
from barnabas.ports import FileSlice
from barnabas.runtime.connection import Connection, Flushed
from barnabas.runtime.small_replies import SMALL_PARTS_MAX, SmallReplies

_IN = select.EPOLLIN
_OUT = select.EPOLLOUT
_ANSWERS_MAX = 16
_SOON_NS = 128_000
_SHARES_MAX = 8  # of a long reply, before timers get their turn
# What the receiver's kernel does with the bytes happens inside our call: 256 KiB hold the loop for 0.1 ms.
_SHARE_BYTES = 1 << 18
_SHARE_BYTES_IN_COMPANY = 1 << 16
_COMPANY_SHARES = 256  # that are small after somebody else wanted something: it is likely to come back


class ColdReader(Protocol):
    def is_cold(self, part: FileSlice) -> bool: ...

    def warm(self, part: FileSlice, done: Callable[[], None]) -> None: ...


class Sender:
    def __init__(self, epoll: select.epoll, cold: ColdReader, close: Callable[[Connection], None]) -> None:
        self._epoll = epoll
        self._cold = cold
        self._close = close
        self._company = 0  # shares that will be small
        self.small = SmallReplies()
        self.answers: list[tuple[Connection, bytes]] = []  # that leave before the next look at epoll
        self._answered_ns = 0  # when the last of them came
        self.resumed: deque[Connection] = deque()  # something to send or to handle without an event

    def answer(self, connection: Connection, parts: list[Part] | None) -> None:
        """The reply to the only request there is. A small one leaves together with those of others who asked
        at the same time: a client that is awake when the next reply comes need not be woken for it."""
        if parts and len(parts) == 1 and isinstance(parts[0], bytes):
            self.answers.append((connection, parts[0]))
            if self._is_time_to_send():
                self.send_answers()
        elif connection.session.closed:
            pass
        elif parts and len(parts) <= SMALL_PARTS_MAX and connection.interest == _IN:
            if not self.small.send(connection, parts):
                self.drain(connection)
        else:
            connection.out.extend(parts or ())
            self.go_on(connection)

    def _is_time_to_send(self) -> bool:
        """There are many, or the last one took long: then so may the next, and waiting for it is no help."""
        count, now_ns = len(self.answers), time.monotonic_ns()
        since_ns, self._answered_ns = now_ns - self._answered_ns, now_ns
        return count >= _ANSWERS_MAX or (count > 1 and since_ns > _SOON_NS)

    def send_answers(self) -> None:
        """Small replies, which the sockets usually take whole."""
        answers, self.answers = self.answers, []
        for connection, part in answers:
            if connection.session.closed:
                continue
            try:
                sent = connection.socket.send(part)
            except OSError:  # full, or gone: `drain` finds out
                sent = 0
            if sent < len(part):
                connection.out.append(part[sent:])
                self.drain(connection)

    def deliver(self, connection: Connection, parts: list[Part]) -> None:
        """A parked request got its reply."""
        if connection.session.closed:
            return
        connection.parked = False
        connection.out.extend(parts)
        self.resumed.append(connection)

    def go_on(self, connection: Connection) -> None:
        """Send what there is; then either go on with buffered frames or wait for more."""
        out = connection.out
        is_small = 0 < len(out) <= SMALL_PARTS_MAX and connection.interest == _IN
        is_all = connection.start == connection.end and not connection.parked
        if is_small and is_all and self._sent_at_once(connection):
            return
        if out:
            self.drain(connection)
        else:
            self.watch(connection)

    def _sent_at_once(self, connection: Connection) -> bool:
        """The usual case, without ceremony: a small reply that the socket takes whole."""
        out = connection.out
        part = out[0]
        if len(out) > 1:
            parts = list(out)
            out.clear()
            return self.small.send(connection, parts)
        if not isinstance(part, bytes):
            return False
        try:
            sent = connection.socket.send(part)
        except OSError:  # full, or gone: `drain` finds out
            return False
        if sent == len(part):
            out.clear()
            return True
        out[0] = part[sent:]
        return False

    def drain(self, connection: Connection) -> None:
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
        self.watch(connection)
        if flushed is Flushed.ALL and not connection.parked and connection.end - connection.start >= 4:
            self.resumed.append(connection)

    def _flush(self, connection: Connection) -> Flushed:
        """A share at a time; another one only while nobody else wants anything."""

        def is_warm(part: FileSlice) -> bool:
            return self._is_warm(connection, part)

        if self.answers:
            self.send_answers()  # they need no time, and should not wait for what does
        flushed = connection.flush(is_warm, self._share_bytes())
        for _ in range(_SHARES_MAX):
            if flushed is not Flushed.A_SHARE:
                break
            if self.resumed or self._epoll.poll(0, 1):
                self._company = _COMPANY_SHARES
                break
            flushed = connection.flush(is_warm, self._share_bytes())
        return flushed

    def _share_bytes(self) -> int:
        """Small while others are about, who would wait for it; large shares cost less."""
        if self._company == 0:
            return _SHARE_BYTES
        self._company -= 1
        return _SHARE_BYTES_IN_COMPANY

    def flush_in_memory(self, connection: Connection) -> None:
        """What the socket takes at once of what need not be read first. OSError: the peer is gone."""
        connection.flush(lambda part: not self._cold.is_cold(part), _SHARE_BYTES)

    def _is_warm(self, connection: Connection, part: FileSlice) -> bool:
        """sendfile of a page that is not in memory would block the only loop: have a worker read it first."""
        if not self._cold.is_cold(part):
            return True
        connection.cold = True
        self._cold.warm(part, lambda: self._warmed(connection))
        return False

    def _warmed(self, connection: Connection) -> None:
        connection.cold = False
        if not connection.session.closed:
            self.resumed.append(connection)

    def watch(self, connection: Connection) -> None:
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
            self._epoll.modify(connection.fd, interest)
