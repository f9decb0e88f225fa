"""A small slice leaves in one piece with the bytes around it: one copy costs less than a second call."""

from __future__ import annotations

import os
from collections.abc import Sequence

from barnabas.broker.session import Part
from barnabas.ports import FileSlice
from barnabas.runtime.connection import SCRATCH_SIZE, Connection
from barnabas.runtime.files import RealFile

_COPIED_BYTES_MAX = 1 << 15  # sendfile wins above


class SmallReplies:
    def __init__(self) -> None:
        self._buffer = memoryview(bytearray(SCRATCH_SIZE))

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
        out.clear()
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
