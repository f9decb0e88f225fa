"""CPU seconds of a process and all its descendants, those that come and go included.

Spark's Python workers end without anybody waiting for them who would inherit their time, so each is looked at
again and again, and what it had used when it was last seen counts.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from types import TracebackType

from bench.meter import process_tree

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
LOOK_EVERY_S = 0.1


class FamilyCpu:
    """`with FamilyCpu(pid) as cpu: …`, then `cpu.seconds`."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._before: dict[int, int] = {}
        self._seen: dict[int, int] = {}
        self._ended = threading.Event()
        self._looking = threading.Thread(target=self._look_on, daemon=True)

    def __enter__(self) -> FamilyCpu:
        self._look()
        self._before = dict(self._seen)
        self._looking.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._looking.join()
        self._look()

    @property
    def seconds(self) -> float:
        used = sum(ticks - self._before.get(pid, 0) for pid, ticks in self._seen.items())
        return used / _TICKS_PER_SECOND

    def _look_on(self) -> None:
        while not self._ended.wait(LOOK_EVERY_S):
            self._look()

    def _look(self) -> None:
        for pid in process_tree(self._pid):
            self._seen[pid] = max(self._seen.get(pid, 0), _own_ticks(pid))


def _own_ticks(pid: int) -> int:
    """User and system time of the process itself; 0 when it has just ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", maxsplit=1)[-1].split()
    except OSError:
        return 0
    return int(fields[11]) + int(fields[12])
