"""Memory that the host of a virtual machine does not take back before somebody needs it.

A guest tells its host which memory is free, and the host gives it to others; the first touch afterwards is a
fault that the host handles, some microseconds for every page of 4 KiB, ten times what a broker does with it.
Whoever is measured while files grow in memory, or are read into it, would be measured by that. A reserve
holds memory that was touched, and lets go of it as fast as others take some: what they get was in use a
moment before.

The telling itself stops the guest, a tenth of a second for each half GB, and comes every two seconds while whole blocks are
free that the host does not know of. So a reserve waits until it is over, and keeps little free ahead.
"""

from __future__ import annotations

import mmap
import os
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType

_PIECE = 1 << 21  # to give back more at once would hold a core
_HEAD_START = 1 << 23  # free before it is asked for
_LOOK_S = 0.001
_TOLD_S = 5  # until the host knows what is free: Linux tells it two seconds after, and looks once more


class Reserve:
    """As much as is asked for, but no more than half of what the machine has to spare."""

    def __init__(self, bytes_wanted: int) -> None:
        size = max(min(bytes_wanted, _meminfo_bytes("MemAvailable") // 2) // _PIECE, 1) * _PIECE
        self._memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        with suppress(OSError):  # a kernel without huge pages; then it takes longer
            self._memory.madvise(mmap.MADV_HUGEPAGE)  # in whole blocks, which are taken first
        for at in range(0, size, mmap.PAGESIZE):
            self._memory[at] = 1
        self._released = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._let_go, daemon=True)

    def __enter__(self) -> None:
        """From here on as much stays free as is now."""
        time.sleep(_TOLD_S)
        self._thread.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()
        self._memory.close()

    def _let_go(self) -> None:
        # It is in nobody's way: whoever wakes up goes first.
        os.sched_setscheduler(threading.get_native_id(), os.SCHED_IDLE, os.sched_param(0))
        free_at_first = _meminfo_bytes("MemFree")
        while not self._done.is_set():
            self._release(free_at_first + _HEAD_START - _meminfo_bytes("MemFree"))
            self._done.wait(_LOOK_S)

    def _release(self, wanted: int) -> None:
        end = min(self._released + max(wanted, 0), len(self._memory))
        while self._released < end:
            self._memory.madvise(mmap.MADV_DONTNEED, self._released, _PIECE)
            self._released += _PIECE


def _meminfo_bytes(name: str) -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/meminfo does not say {name}")
