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
_REMEMBERED_MAX = 1024
_NOWHERE = memoryview(bytearray(1 << 16))  # where all workers read to, since nobody looks at it


class _Warm:
    """A stretch of a file that is in memory, for how long that is believed, and how far a worker is about to
    make it longer."""

    __slots__ = ("believed_until_ms", "end", "end_soon", "is_ours", "start", "waiting")

    def __init__(self, start: int, end: int, believed_until_ms: int, *, is_ours: bool) -> None:
        self.start = start
        self.end = end
        self.end_soon = end
        self.believed_until_ms = believed_until_ms
        self.is_ours = is_ours  # a worker read it, and reads on behind it
        self.waiting: list[Callable[[], None]] = []  # for the worker who is at it

    def covers(self, start: int, end: int, now_ms: int) -> bool:
        return self.start <= start and end <= self.end and now_ms < self.believed_until_ms

    def will_cover(self, start: int, end: int) -> bool:
        return self.end < self.end_soon and self.start <= start and end <= self.end_soon


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
        if known is not None:
            if known.covers(start, end, self._clock.monotonic_ms()):
                if known.is_ours and end > known.end - _READ_ON:
                    self._read_on(file, known)
                return False
            if known.will_cover(start, end):
                return True  # its pages are in memory, but what belongs into them is still on its way
        file.may_be_probed()
        stretch = min(max(end, start + _STRETCH), file.size())
        if self._is_in_memory(file.fd, start, stretch):
            self._remember(file.fd, start, stretch, is_ours=False)
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

    def _remember(self, fd: int, start: int, end: int, *, is_ours: bool) -> _Warm:
        if len(self._warm) >= _REMEMBERED_MAX:
            self._warm.clear()
        known = _Warm(start, end, self._clock.monotonic_ms() + _BELIEVED_MS, is_ours=is_ours)
        self._warm[fd] = known
        return known

    # --- reading -------------------------------------------------------------------------------------------

    def warm(self, part: FileSlice, done: Callable[[], None]) -> None:
        """Have a worker read the slice and what is likely to be wanted next."""
        file = part.file
        assert isinstance(file, RealFile)
        start, end = part.position, part.position + part.size
        known = self._warm.get(file.fd)
        if known is None or not known.will_cover(start, end):
            known = self._remember(file.fd, start, start, is_ours=True)
            known.waiting.append(done)
            self._read_to(file, known, min(end + _READ_AHEAD, file.size()))
        else:
            known.waiting.append(done)

    def _read_on(self, file: RealFile, known: _Warm) -> None:
        """Before the reader gets there, so that it does not have to wait again."""
        end = min(known.end + _READ_AHEAD, file.size())
        if known.end == known.end_soon < end:
            self._read_to(file, known, end)

    def _read_to(self, file: RealFile, known: _Warm, end: int) -> None:
        start, known.end_soon = known.end, end

        def finished(_result: object, _error: BaseException | None) -> None:
            # Believe it, whatever happened: to doubt would have us read the same stretch for ever.
            known.end = end
            known.believed_until_ms = self._clock.monotonic_ms() + _BELIEVED_MS
            waiting, known.waiting = known.waiting, []
            for done in waiting:
                done()

        file.open_ahead()
        self._workers.submit(lambda: _bring_in(file, start, end), finished)


def _bring_in(file: RealFile, start: int, end: int) -> None:
    """On a worker. What counts is not the copy but that the pages are in memory now, and were touched: on a
    virtual machine the first touch is dear, and a client that receives them would pay for a MiB at once.

    It steps aside after every piece: the loop and the clients, who have had more of the CPU than a worker,
    would otherwise wait out its turn of some milliseconds."""
    source = file.fd_ahead if file.fd_ahead >= 0 else file.fd
    while start < end:
        count = os.preadv(source, [_NOWHERE[: end - start]], start)
        if count == 0:
            break
        start += count
        os.sched_yield()
