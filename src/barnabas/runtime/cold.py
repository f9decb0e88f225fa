"""Old data may not be in memory. Ask before sendfile; have a worker read what is cold, and go on reading.

What was found warm is believed for a second, so that a reader of small pieces is not asked about every one of
them. The kernel reads nothing ahead by itself in a file that is asked about: it would do so on the loop, some
hundred microseconds at a time. The worker does instead, and begins the next stretch before it is needed.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from barnabas.ports import Clock, FileSlice, Workers
from barnabas.runtime.files import RealFile
from barnabas.runtime.page_cache import PageCache

_STRIDE = 1 << 16  # between samples, where the kernel cannot say it at once
_STRETCH = 1 << 20  # asked about at once
_BELIEVED_MS = 1000
_READ_AHEAD = 1 << 22  # by the worker, behind what is asked for
_READ_ON = 1 << 21  # so much before the end of what it has read
_PIECE = 1 << 20
_REMEMBERED_MAX = 1024


class _Warm:
    """A stretch of a file that is in memory, and for how long that is believed."""

    __slots__ = ("believed_until_ms", "end", "is_read_on", "start")

    def __init__(self, start: int, end: int, believed_until_ms: int, *, is_read_on: bool) -> None:
        self.start = start
        self.end = end
        self.believed_until_ms = believed_until_ms
        self.is_read_on = is_read_on  # no worker need be asked for what follows

    def covers(self, start: int, end: int, now_ms: int) -> bool:
        return self.start <= start and end <= self.end and now_ms < self.believed_until_ms


class ColdReads:
    def __init__(self, workers: Workers, clock: Clock) -> None:
        self._workers = workers
        self._clock = clock
        self._page_cache = PageCache()
        self._probe = bytearray(1)
        self._warm: dict[int, _Warm] = {}  # by descriptor

    def is_cold(self, part: FileSlice) -> bool:
        file = part.file
        assert isinstance(file, RealFile)
        start, end = part.position, part.position + part.size
        known = self._warm.get(file.fd)
        if known is not None and known.covers(start, end, self._clock.monotonic_ms()):
            if not known.is_read_on and end > known.end - _READ_ON:
                self._read_on(file, known)
            return False
        file.may_be_probed()
        stretch = min(max(end, start + _STRETCH), file.size())
        if self._is_in_memory(file.fd, start, stretch):
            self._remember(file.fd, start, stretch, is_read_on=True)
            return False
        return stretch == end or not self._is_in_memory(file.fd, start, end)

    def _is_in_memory(self, fd: int, start: int, end: int) -> bool:
        held = self._page_cache.holds(fd, start, end)
        if held is None:
            return not any(self._is_missing(fd, at) for at in (*range(start, end, _STRIDE), end - 1))
        # A page that is still on its way counts as held; the last one arrives last.
        return held and not self._is_missing(fd, start) and not self._is_missing(fd, end - 1)

    def _is_missing(self, fd: int, position: int) -> bool:
        try:
            os.preadv(fd, [self._probe], position, os.RWF_NOWAIT)
        except BlockingIOError:
            return True
        except OSError:
            return False  # this filesystem cannot tell: do as if it were warm
        return False

    def _remember(self, fd: int, start: int, end: int, *, is_read_on: bool) -> None:
        if len(self._warm) >= _REMEMBERED_MAX:
            self._warm.clear()
        until_ms = self._clock.monotonic_ms() + _BELIEVED_MS
        self._warm[fd] = _Warm(start, end, until_ms, is_read_on=is_read_on)

    # --- reading -------------------------------------------------------------------------------------------

    def warm(self, part: FileSlice, done: Callable[[], None]) -> None:
        """Have a worker read the slice and what is likely to be wanted next."""
        file = part.file
        assert isinstance(file, RealFile)
        start, end = part.position, min(part.position + part.size + _READ_AHEAD, file.size())

        def finished(_result: object, _error: BaseException | None) -> None:
            # Believe it: a probe that says no again would have us read the same stretch for ever.
            self._remember(file.fd, start, end, is_read_on=False)
            done()

        self._workers.submit(lambda: _read(file, start, end), finished)

    def _read_on(self, file: RealFile, known: _Warm) -> None:
        """Before the reader gets there, so that it does not have to wait again."""
        known.is_read_on = True
        start, end = known.end, min(known.end + _READ_AHEAD, file.size())
        if start >= end:
            return

        def finished(_result: object, _error: BaseException | None) -> None:
            if self._warm.get(file.fd) is known:
                self._remember(file.fd, known.start, end, is_read_on=False)

        self._workers.submit(lambda: _read(file, start, end), finished)


def _read(file: RealFile, start: int, end: int) -> None:
    """On a worker. What counts is not the copy but that the pages are in memory now."""
    os.posix_fadvise(file.fd, start, end - start, os.POSIX_FADV_WILLNEED)
    buffer = memoryview(bytearray(min(_PIECE, end - start)))
    while start < end:
        count = os.preadv(file.fd, [buffer[: end - start]], start)
        if count == 0:
            break
        start += count
