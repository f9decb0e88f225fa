"""What of a file is in memory, asked of the kernel without touching the file: cachestat(2), since Linux 6.5.

A read that must not wait (RWF_NOWAIT) answers that, too, but only for the page it reads, and where that page
is missing the kernel begins to fetch it, and more behind it, in the caller's time.
"""

from __future__ import annotations

import ctypes
import os

_CACHESTAT = 451  # the same number on every architecture
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class _Range(ctypes.Structure):
    _fields_ = (("offset", ctypes.c_uint64), ("length", ctypes.c_uint64))


class _Statistics(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_uint64) for name in ("cached", "dirty", "writeback", "evicted", "recently_evicted")
    )


class PageCache:
    """For one thread: it asks with the same two structures every time."""

    def __init__(self) -> None:
        self._call = ctypes.CDLL(None, use_errno=True).syscall
        self._range = _Range()
        self._statistics = _Statistics()
        self._arguments = (ctypes.byref(self._range), ctypes.byref(self._statistics), 0)

    def holds(self, fd: int, start: int, end: int) -> bool | None:
        """Whether every page of [start, end) is there or on its way; None if this kernel does not say."""
        self._range.offset, self._range.length = start, end - start
        if self._call(_CACHESTAT, fd, *self._arguments) != 0:
            return None
        pages = (end - 1) // _PAGE_BYTES - start // _PAGE_BYTES + 1
        return int(self._statistics.cached) >= pages
