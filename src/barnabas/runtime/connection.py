"""One client connection: bytes in until a frame is whole, bytes and file slices out.

Memory is bounded per connection. A frame's buffer grows with what has arrived, not with what was announced;
an idle connection owns no buffer at all; and a connection whose reply has not drained is not read from, so
a slow reader costs its reply's few header bytes and nothing more.
"""

from __future__ import annotations

import os
import socket
import struct
from collections import deque
from collections.abc import Callable
from enum import Enum

from barnabas.broker.session import Part, Session
from barnabas.ports import FileSlice

SCRATCH_SIZE = 1 << 18
_GROWTH = 4
_SMALLEST_BUFFER = 1 << 12
_MSG_MORE = socket.MSG_MORE
LENGTH = struct.Struct(">i")


class Flushed(Enum):
    ALL = "nothing is left to send"
    A_SHARE = "the turn is over; the socket would take more"
    BLOCKED = "the socket is full, or the next slice is not in memory"


class Connection:
    __slots__ = (
        "buffer", "cold", "end", "fd", "interest", "last_active_ms", "out", "parked", "paused", "reserved",
        "session", "socket", "start", "view",
    )  # fmt: skip

    session: Session

    def __init__(self, accepted: socket.socket, now_ms: int) -> None:
        self.socket = accepted
        self.fd = accepted.fileno()
        self.buffer: bytearray | None = None
        self.view: memoryview | None = None
        self.start = 0
        self.end = 0
        self.out: deque[Part] = deque()
        self.parked = False  # a request waits in purgatory: later ones must not overtake it
        self.paused = False  # no memory for the announced frame yet
        self.cold = False  # a slice is being read from disk by a worker
        self.reserved = 0  # bytes taken from queued.max.request.bytes
        self.interest = 0
        self.last_active_ms = now_ms

    @property
    def is_between_requests(self) -> bool:
        """All that came is answered: what comes next is the beginning of a request."""
        return self.start == self.end and not self.out and not self.parked

    def keep(self, view: memoryview, start: int, end: int, need: int) -> None:
        """Move an unfinished frame to the front of a buffer of our own that has room for what comes next."""
        if self.buffer is not None and need <= len(self.buffer):
            self.buffer[: end - start] = view[start:end]
            self.start, self.end = 0, end - start
        else:
            self._grow(need, view[start:end])

    def room(self, need: int) -> memoryview:
        """Where the next bytes go; `need` is the whole frame, as far as it is known."""
        assert self.buffer is not None
        assert self.view is not None
        if self.end == len(self.buffer):
            self._grow(need, self.view[self.start : self.end])
        return self.view[self.end :]

    def _grow(self, need: int, content: memoryview) -> None:
        size = min(max(need, _SMALLEST_BUFFER), max(_SMALLEST_BUFFER, _GROWTH * len(content)))
        size = max(size, len(content) + 1)
        buffer = bytearray(size)
        buffer[: len(content)] = content
        self.start, self.end = 0, len(content)
        self.buffer = buffer
        self.view = memoryview(buffer)

    def release(self) -> None:
        self.buffer = self.view = None
        self.start = self.end = 0

    def drop_sent(self, count: int) -> None:
        """So many bytes of `out` have left. Of a slice only its place is kept, so that a slow reader holds
        no copy of it."""
        out = self.out
        while count > 0:
            part = out.popleft()
            if count < len(part):
                rest = part[count:] if isinstance(part, bytes) else _behind(part, count)
                out.appendleft(rest)
            count -= len(part)

    def flush(self, is_warm: Callable[[FileSlice], bool], share_bytes: int) -> Flushed:
        """Send what the socket takes and what is in memory, one turn's share of it: a reader on the same
        machine can drain as fast as we send, and would hold the loop for good. OSError means that the peer is
        gone."""
        out = self.out
        share = share_bytes
        try:
            while out:
                if share <= 0:
                    return Flushed.A_SHARE
                part = out[0]
                if isinstance(part, FileSlice):
                    part = self._shorten(part, share_bytes)
                    if not is_warm(part) or not self._send_file(part):
                        return Flushed.BLOCKED
                    out.popleft()
                    share -= part.size
                elif not self._send_bytes():
                    return Flushed.BLOCKED
        except BlockingIOError:
            return Flushed.BLOCKED
        return Flushed.ALL

    def _send_bytes(self) -> bool:
        """The byte parts up to the next file slice, in one call."""
        out = self.out
        parts: list[bytes] = []
        for part in out:
            if not isinstance(part, bytes):
                break
            parts.append(part)
        more = _MSG_MORE if len(out) > len(parts) else 0
        whole = parts[0] if len(parts) == 1 else b"".join(parts)
        sent = self.socket.send(whole, more)
        for _ in parts:
            out.popleft()
        if sent < len(whole):
            out.appendleft(whole[sent:])
            return False
        return True

    def _shorten(self, part: FileSlice, size_max: int) -> FileSlice:
        """A long slice goes piece by piece, so that others get their turn between, and a cold one begins to
        leave before all of it is read."""
        if part.size <= size_max:
            return part
        self.out[0] = _behind(part, size_max)
        piece = FileSlice(part.file, part.position, size_max)
        self.out.appendleft(piece)
        return piece

    def _send_file(self, part: FileSlice) -> bool:
        file, position, size = part.file, part.position, part.size
        fd: int = file.fd  # type: ignore[attr-defined]  # the runtime's own File
        while size > 0:
            try:
                sent = os.sendfile(self.fd, fd, position, size)
            except BlockingIOError:
                self.out[0] = FileSlice(file, position, size)
                return False
            if sent == 0:
                # The file ended before the slice: the frame's length is a lie now, only closing is honest.
                raise ConnectionAbortedError("log file ended inside a reply")
            position += sent
            size -= sent
        return True


def _behind(part: FileSlice, count: int) -> FileSlice:
    return FileSlice(part.file, part.position + count, part.size - count)
