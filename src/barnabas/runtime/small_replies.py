"""A small slice leaves in one piece with the bytes around it, and the next one is made ready meanwhile.

One copy costs less than a second call. A client that asks, waits and asks again leaves us idle for as long as
it looks at what it got: the reply to what it will ask for next is read into memory then, and only sent when
it asks. Nothing else is handled in between, so the reply is the one it would get anyway.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from barnabas.broker.session import Foreseen, Part
from barnabas.ports import FileSlice
from barnabas.runtime.connection import SCRATCH_SIZE, Connection
from barnabas.runtime.files import RealFile

_COPIED_BYTES_MAX = 1 << 15  # sendfile wins above


class _Ready(NamedTuple):
    connection: Connection
    foreseen: Foreseen
    reply: memoryview


class SmallReplies:
    def __init__(self) -> None:
        self._buffer = memoryview(bytearray(SCRATCH_SIZE))
        self._spare = memoryview(bytearray(SCRATCH_SIZE))
        self._reader: Connection | None = None  # who got the last one
        self._records: memoryview | None = None  # of it, if the one before went to the same reader
        self.ready: _Ready | None = None  # to what is expected next; None as soon as anything else may happen

    def send(self, connection: Connection) -> bool:
        """True when all of it has left; otherwise `flush` goes on with what remains in `out`."""
        out = connection.out
        reply = _copied(out, self._buffer)
        if reply is None:
            return False
        sent = connection.socket.send(reply)
        if sent < len(reply):
            connection.drop_sent(sent)
            return False
        self._remember(connection, reply, out)
        out.clear()
        return True

    def _remember(self, connection: Connection, reply: memoryview, parts: Sequence[Part]) -> None:
        """Only of a reader who comes alone: of several, nobody knows who is next."""
        start = len(parts[0])
        self._records = reply[start : start + len(parts[1])] if connection is self._reader else None
        self._reader = connection

    # --- ahead of the request ------------------------------------------------------------------------------

    def foresee(self) -> None:
        """Make the reply ready that the last reader will ask for next."""
        records, reader = self._records, self._reader
        if records is None or reader is None or reader.session.closed:
            return
        self._records = None
        template = reader.session.template
        foreseen = None if template is None else template.foresee(records)
        if foreseen is not None:
            reply = _copied(foreseen.parts, self._spare)
            self.ready = None if reply is None else _Ready(reader, foreseen, reply)

    def answer(self, connection: Connection, request: memoryview) -> bool:
        """Whether this request was foreseen. What the socket did not take of the reply is in `out` then."""
        ready = self.ready
        if ready is None or ready.connection is not connection:
            return False
        self.ready = None
        _, (before, after, parts), reply = ready
        if request[:8] != before or request[12:] != after:
            return False
        reply[4:8] = request[8:12]
        try:
            sent = connection.socket.send(reply)
        except OSError:  # full, or gone: `drain` finds out
            sent = 0
        if sent == len(reply):
            self._buffer, self._spare = self._spare, self._buffer
            self._remember(connection, reply, parts)
        else:
            connection.out.extend((bytes(reply[: len(parts[0])]), *parts[1:]))
            connection.drop_sent(sent)
        return True


def _copied(parts: Sequence[Part], buffer: memoryview) -> memoryview | None:
    """Bytes, a small slice and perhaps bytes again, as one piece; None for anything else. Reading without
    waiting also shows that the slice is not cold."""
    head, part, tail = parts[0], parts[1], parts[2] if len(parts) > 2 else b""
    if not isinstance(head, bytes) or not isinstance(part, FileSlice) or part.size > _COPIED_BYTES_MAX:
        return None
    start, end = len(head), len(head) + part.size
    size = end + len(tail)
    if not isinstance(tail, bytes) or size > len(buffer) or not _is_read_at_once(part, buffer[start:end]):
        return None
    buffer[:start] = head
    buffer[end:size] = tail
    return buffer[:size]


def _is_read_at_once(part: FileSlice, target: memoryview) -> bool:
    """Whether the whole slice was in memory, and is in `target` now."""
    file = part.file
    assert isinstance(file, RealFile)
    file.may_be_probed()
    try:
        return os.preadv(file.fd, (target,), part.position, os.RWF_NOWAIT) == part.size
    except OSError:  # cold; or a filesystem that cannot tell, which `flush` treats as warm
        return False
