"""Old data may not be in memory. Probe before sendfile; have a worker read it ahead when it is cold.

The probe reads one byte of the slice's first and last page with RWF_NOWAIT: it costs two system calls and
never waits for the disk. A slice of the file's warm tail (what was written since the broker started reading
it) is not probed at all.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from barnabas.ports import FileSlice, Workers

_STRIDE = 1 << 20
_READ_AHEAD = 1 << 18
_WARM_TAIL = 32 << 20  # this much before the end of a file that is being written is in memory


class ColdReads:
    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._probe = bytearray(1)

    def is_cold(self, part: FileSlice) -> bool:
        file = part.file
        if part.position + _WARM_TAIL >= file.size():
            return False
        fd: int = file.fd  # type: ignore[attr-defined]  # the runtime's own File
        end = part.position + part.size - 1
        return any(self._missing(fd, at) for at in (*range(part.position, end, _STRIDE), end))

    def _missing(self, fd: int, position: int) -> bool:
        try:
            os.preadv(fd, [self._probe], position, os.RWF_NOWAIT)
        except BlockingIOError:
            return True
        except OSError:
            return False  # this filesystem cannot tell: do as if it were warm
        return False

    def warm(self, part: FileSlice, done: Callable[[], None]) -> None:
        def read() -> object:
            fd: int = part.file.fd  # type: ignore[attr-defined]
            os.posix_fadvise(fd, part.position, part.size, os.POSIX_FADV_WILLNEED)
            position, end = part.position, part.position + part.size
            # pread copies into a buffer we drop; what counts is that the pages are in memory now.
            while position < end:
                data = os.pread(fd, min(_READ_AHEAD, end - position), position)
                if not data:
                    break
                position += len(data)
            return None

        self._workers.submit(read, lambda _result, _error: done())
