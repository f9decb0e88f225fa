"""Memory that the host of a virtual machine does not take back before somebody needs it.

A guest tells its host which memory is free, and the host gives it to others; the first touch afterwards is a
fault that the host handles, some microseconds for every page of 4 KiB, ten times what a broker does with it.
Whoever is measured while files grow in memory, or are read into it, would be measured by that. A reserve
holds memory that was touched, and lets go of it as fast as others take some: what they get was in use a
moment before.

The telling itself stops the guest, for a tenth of a second when half a GB is told, every two seconds while
there is something to tell. So a reserve keeps little free ahead.
"""

from __future__ import annotations

import mmap
import os
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType

_PIECE = 1 << 21  # to give back more at once would hold a core
_HEAD_START = 1 << 23  # free before it is asked for
_LOOK_S = 0.001


class Reserve:
    """As much as is asked for, but no more than half of what the machine has to spare."""

    def __init__(self, bytes_wanted: int) -> None:
        size = min(bytes_wanted, _meminfo_bytes("MemAvailable") // 2)
        self._held = [_touched_piece() for _ in range(size // _PIECE)]
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._let_go, daemon=True)

    def __enter__(self) -> None:
        """From here on as much stays free as is now."""
        self._thread.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()
        for piece in self._held:
            piece.close()

    def _let_go(self) -> None:
        # It is in nobody's way: whoever wakes up goes first.
        os.sched_setscheduler(threading.get_native_id(), os.SCHED_IDLE, os.sched_param(0))
        free_at_first = _meminfo_bytes("MemFree")
        while not self._done.is_set():
            self._release(free_at_first + _HEAD_START - _meminfo_bytes("MemFree"))
            self._done.wait(_LOOK_S)

    def _release(self, wanted: int) -> None:
        while self._held and wanted > 0:
            self._held.pop().close()
            wanted -= _PIECE


def _touched_piece() -> mmap.mmap:
    piece = mmap.mmap(-1, _PIECE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with suppress(OSError):  # a kernel without huge pages; then it takes longer
        piece.madvise(mmap.MADV_HUGEPAGE)  # in whole blocks, which are taken first
    for at in range(0, _PIECE, mmap.PAGESIZE):
        piece[at] = 1
    return piece


def _meminfo_bytes(name: str) -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/meminfo does not say {name}")
