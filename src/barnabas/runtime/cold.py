"""Old data may not be in memory. Probe before sendfile; have a worker read it ahead when it is cold.

The probe reads a byte every so often with RWF_NOWAIT: it never waits for the disk. A stretch that was found
warm is believed for a second, so that a reader of small pieces is not probed at every one of them. A file
that was cold a moment ago is looked at closely: the kernel's own read-ahead is under way in it, with gaps.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from barnabas.ports import Clock, FileSlice, Workers

_STRIDE = 1 << 18
_CLOSE_STRIDE = 1 << 14
_SUSPECTED_MS = 10_000
_STRETCH = 1 << 20  # probed at once
_BELIEVED_MS = 1000
_READ_AHEAD = 1 << 18
_REMEMBERED_MAX = 1024


class ColdReads:
    def __init__(self, workers: Workers, clock: Clock) -> None:
        self._workers = workers
        self._clock = clock
        self._probe = bytearray(1)
        self._suspected: dict[int, int] = {}  # by descriptor: looked at closely until
        self._warm: dict[int, tuple[int, int, int]] = {}  # by descriptor: start, end, believed until

    def is_cold(self, part: FileSlice) -> bool:
        fd: int = part.file.fd  # type: ignore[attr-defined]  # the runtime's own File
        start, end = part.position, part.position + part.size
        now_ms = self._clock.monotonic_ms()
        known = self._warm.get(fd)
        if known is not None and known[0] <= start and end <= known[1] and now_ms < known[2]:
            return False
        stretch = min(max(end, start + _STRETCH), part.file.size())
        stride = _CLOSE_STRIDE if self._suspected.get(fd, 0) > now_ms else _STRIDE
        warm_until = self._warm_until(fd, start, stretch, stride)
        if warm_until < end:
            self._warm.pop(fd, None)
            if len(self._suspected) >= _REMEMBERED_MAX:
                self._suspected.clear()
            self._suspected[fd] = now_ms + _SUSPECTED_MS
            return True
        self._remember(part, warm_until)
        return False

    def _remember(self, part: FileSlice, warm_until: int) -> None:
        if len(self._warm) >= _REMEMBERED_MAX:
            self._warm.clear()
        fd: int = part.file.fd  # type: ignore[attr-defined]
        self._warm[fd] = (part.position, warm_until, self._clock.monotonic_ms() + _BELIEVED_MS)

    def _warm_until(self, fd: int, start: int, end: int, stride: int) -> int:
        """How far from `start` the file is in memory, as far as samples tell."""
        for position in range(start, end, stride):
            if self._missing(fd, position):
                return position
        return start if self._missing(fd, max(end - 1, start)) else end

    def _missing(self, fd: int, position: int) -> bool:
        try:
            os.preadv(fd, [self._probe], position, os.RWF_NOWAIT)
        except BlockingIOError:
            return True
        except OSError:
            return False  # this filesystem cannot tell: do as if it were warm
        return False

    @staticmethod
    def _ahead_of(part: FileSlice) -> int:
        """Beyond the slice: the next fetch looks at the batch header behind it, on the loop."""
        return min(part.position + part.size + _STRETCH, part.file.size())

    def warm(self, part: FileSlice, done: Callable[[], None]) -> None:
        def read() -> object:
            fd: int = part.file.fd  # type: ignore[attr-defined]
            os.posix_fadvise(fd, part.position, self._ahead_of(part) - part.position, os.POSIX_FADV_WILLNEED)
            position, end = part.position, self._ahead_of(part)
            # pread copies into a buffer we drop; what counts is that the pages are in memory now.
            while position < end:
                data = os.pread(fd, min(_READ_AHEAD, end - position), position)
                if not data:
                    break
                position += len(data)
            return None

        def finished(_result: object, _error: BaseException | None) -> None:
            # Believe it: a probe that says no again would have us read the same stretch for ever.
            self._remember(part, self._ahead_of(part))
            done()

        self._workers.submit(read, finished)
