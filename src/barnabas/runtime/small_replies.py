"""A small slice leaves in one piece with the bytes around it, and the next one is made ready meanwhile.

One copy costs less than a second call. A client that asks, waits and asks again leaves us idle for as long as
it looks at what it got: the reply to what it will ask for next is read into memory then, and only sent when
it asks. Nothing else is handled in between, so the reply is the one it would get anyway.
"""

from __future__ import annotations

import select
from collections.abc import Sequence
from typing import NamedTuple

from barnabas.broker.session import Foreseen, Part
from barnabas.hot import gather
from barnabas.ports import FileSlice
from barnabas.runtime.connection import SCRATCH_SIZE, Connection
from barnabas.runtime.files import RealFile
from barnabas.runtime.foreseen import NOT_ASKED, reply_when_asked

SMALL_PARTS_MAX = 3
_COPIED_BYTES_MAX = 1 << 15  # sendfile wins above


class Ready(NamedTuple):
    """A reply, and what must be asked for to get it."""

    connection: Connection
    foreseen: Foreseen
    reply: memoryview


class SmallReplies:
    def __init__(self) -> None:
        self._buffer = memoryview(bytearray(SCRATCH_SIZE))  # the last one, after it has left
        self._spare = memoryview(bytearray(SCRATCH_SIZE))
        self._reader: Connection | None = None  # who got the last one
        self._parts: Sequence[Part] | None = None  # of it, if the one before went to the same reader

    def send(self, connection: Connection, parts: Sequence[Part]) -> bool:
        """True when all of it has left; otherwise what remains is in `out`."""
        size, sent = _gathered(parts, self._buffer), 0
        if size >= 0:
            try:
                sent = connection.socket.send(self._buffer[:size])
            except OSError:  # full, or gone: `drain` finds out
                sent = 0
            if sent == size:
                self._remember(connection, parts)
                return True
        connection.out.extend(parts)
        connection.drop_sent(sent)
        return False

    def _remember(self, connection: Connection, parts: Sequence[Part]) -> None:
        """Only of a reader who comes alone: of several, nobody knows who is next."""
        self._parts = parts if connection is self._reader else None
        self._reader = connection

    # --- ahead of the request ------------------------------------------------------------------------------

    def foresee(self) -> Ready | None:
        """The reply to what the last reader will ask for next, good until anything else is handled."""
        parts, reader = self._parts, self._reader
        if parts is None or reader is None or reader.session.closed or not reader.is_between_requests:
            return None
        self._parts = None
        template = reader.session.template
        start = len(parts[0])
        records = self._buffer[start : start + len(parts[1])]
        foreseen = None if template is None else template.foresee(records)
        if foreseen is None:
            return None
        size = _gathered(foreseen.parts, self._spare)
        return None if size < 0 else Ready(reader, foreseen, self._spare[:size])

    def send_when_asked(self, ready: Ready, epoll: select.epoll, looks: int) -> bool:
        """Whether the reader asked within so many looks, and nobody else wanted anything. What the socket
        did not take of the reply is in `out` then."""
        connection, (before, after, parts), reply = ready
        sent = reply_when_asked(epoll, connection.socket, looks, before, after, reply)
        if sent == NOT_ASKED:
            return False
        if sent == len(reply):
            self._buffer, self._spare = self._spare, self._buffer
            self._remember(connection, parts)
        else:
            connection.out.extend((bytes(reply[: len(parts[0])]), *parts[1:]))
            connection.drop_sent(sent)
        return True


def _gathered(parts: Sequence[Part], buffer: memoryview) -> int:
    """Bytes, a small slice and perhaps bytes again, as one piece of this size; -1 for anything else, and for
    what is not in memory."""
    head, part, tail = parts[0], parts[1], parts[2] if len(parts) > 2 else b""
    if not isinstance(part, FileSlice) or not isinstance(head, bytes) or not isinstance(tail, bytes):
        return -1
    file, size = part.file, part.size
    if size > _COPIED_BYTES_MAX:
        return -1
    assert isinstance(file, RealFile)
    if not file.is_probed:
        file.may_be_probed()
    return gather(buffer, head, file.fd, part.position, size, tail)
