"""Old data may not be in memory. Ask before sendfile; have a worker read what is cold, and go on reading.

What was found warm is believed for a second, so that a reader of small pieces is not asked about every one of
them. The kernel reads nothing ahead by itself in a file that is asked about: it would do so on the loop, some
hundred microseconds at a time. The worker does instead, and begins the next stretch before it is needed.

Where memory is dear, as on a virtual machine whose host has to find every page first, the worker gives back
what its reader has passed, and reads on into that. Elsewhere it stays, for the next reader.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from barnabas.ports import Clock, FileSlice, Workers
from barnabas.runtime.files import RealFile
from barnabas.runtime.page_cache import PageCache
from barnabas.runtime.stretches import Stretch, Stretches

_STRIDE = 1 << 16  # between samples, where the kernel cannot say it at once
_STRETCH = 1 << 20  # asked about at once
_BELIEVED_MS = 1000
_READ_AHEAD = 1 << 22  # by the worker, behind what is asked for
_READ_ON = 1 << 21  # so much before the end of what it has read
_FAR_AHEAD = 1 << 25  # further than the kernel reads ahead
_LARGE_PAGE = 1 << 21  # the kernel gives none back of which only a part is named
# Of a worker's CPU for 4 KiB: 0.3 to 1 in memory that is at hand, 6 to 8 where the host has to find it.
_DEAR_NS_PER_PAGE = 2_500
_PAGE_BYTES = 4096
_PAGES_MIN = 256  # fewer say nothing: to begin costs something, too
_NOWHERE = memoryview(bytearray(1 << 16))  # where all workers read to, since nobody looks at it


class ColdReads:
    def __init__(self, workers: Workers, clock: Clock) -> None:
        self._workers = workers
        self._clock = clock
        self._page_cache = PageCache()
        self._probe = bytearray(1)
        self._stretches = Stretches()

    def is_cold(self, part: FileSlice) -> bool:
        file = part.file
        assert isinstance(file, RealFile)
        start, end = part.position, part.position + part.size
        now_ms = self._clock.monotonic_ms()
        for known in self._stretches.of(file.fd):
            if known.covers(start, end, now_ms):
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

    def _remember(self, fd: int, start: int, end: int, *, is_ours: bool) -> Stretch:
        now_ms = self._clock.monotonic_ms()
        known = Stretch(start, end, now_ms + _BELIEVED_MS, is_ours=is_ours)
        self._stretches.remember(fd, known, now_ms)
        return known

    # --- reading -------------------------------------------------------------------------------------------

    def warm(self, part: FileSlice, done: Callable[[], None]) -> None:
        """Have a worker read the slice and what is likely to be wanted next."""
        file = part.file
        assert isinstance(file, RealFile)
        start, end = part.position, part.position + part.size
        known = next((one for one in self._stretches.of(file.fd) if one.will_cover(start, end)), None)
        if known is not None:
            known.waiting.append(done)
            return
        known = self._remember(file.fd, start, start, is_ours=True)
        known.waiting.append(done)
        self._read_to(file, known, min(end + _READ_AHEAD, file.size()))

    def _read_on(self, file: RealFile, known: Stretch) -> None:
        """Before the reader gets there, so that it does not have to wait again."""
        end = min(known.end + _READ_AHEAD, file.size())
        if known.end == known.end_soon < end:
            self._read_to(file, known, end)

    def _read_to(self, file: RealFile, known: Stretch, end: int) -> None:
        start, known.end_soon = known.end, end
        passed = self._stretches.pass_by(file.fd, known, self._clock.monotonic_ms())
        if not known.is_dear or self._is_recent(file, end):
            passed = (0, 0)

        def finished(page_ns: object, _error: BaseException | None) -> None:
            # Believe it, whatever happened: to doubt would have us read the same stretch for ever.
            known.end = end
            known.believed_until_ms = self._clock.monotonic_ms() + _BELIEVED_MS
            known.is_dear |= isinstance(page_ns, int) and page_ns > _DEAR_NS_PER_PAGE
            waiting, known.waiting = known.waiting, []
            for done in waiting:
                done()

        file.open_ahead()
        self._workers.submit(lambda: _bring_in(file, start, end, passed), finished)

    def _is_recent(self, file: RealFile, end: int) -> bool:
        """What lies ahead is in memory, as the end of a log is that is written to: somebody else may want
        what is here, too."""
        at = min(end + _FAR_AHEAD, file.size()) - 1
        return self._is_in_memory(file.fd, at, at + 1)


def _bring_in(file: RealFile, start: int, end: int, passed: tuple[int, int]) -> int:
    """On a worker; returns its CPU time for each page. What counts is not the copy but that the pages are in
    memory now, and were touched: on a virtual machine the first touch is dear, and a client that receives
    them would pay for a MiB at once.

    It steps aside after every piece: the loop and the clients, who have had more of the CPU than a worker,
    would otherwise wait out its turn of some milliseconds."""
    source = file.fd_ahead if file.fd_ahead >= 0 else file.fd
    _give_back(source, *passed)
    pages = max(_PAGES_MIN, (end - start) // _PAGE_BYTES)
    began_ns = time.thread_time_ns()
    while start < end:
        count = os.preadv(source, [_NOWHERE[: end - start]], start)
        if count == 0:
            break
        start += count
        os.sched_yield()
    return (time.thread_time_ns() - began_ns) // pages


def _give_back(source: int, start: int, end: int) -> None:
    """The memory of what a reader has passed, to be read into again; what is in use the kernel keeps."""
    if start < end:
        before = max(0, start - _LARGE_PAGE)
        os.posix_fadvise(source, before, end - before, os.POSIX_FADV_DONTNEED)
