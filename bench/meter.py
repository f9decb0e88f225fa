"""What a broker process costs: CPU seconds and resident memory from /proc, its children included."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def process_tree(pid: int) -> list[int]:
    """The process and all its living descendants."""
    found = [pid]
    for known in found:
        for children in Path(f"/proc/{known}/task").glob("*/children"):
            found.extend(int(child) for child in _read(children).split())
    return found


def cpu_seconds(pid: int) -> float:
    """User and system time so far, with that of children who live and of those who have been waited for."""
    return sum(_ticks(member) for member in process_tree(pid)) / _TICKS_PER_SECOND


def _ticks(pid: int) -> int:
    fields = _read(Path(f"/proc/{pid}/stat")).rsplit(")", maxsplit=1)[-1].split()
    return sum(map(int, fields[11:15])) if fields else 0


def resident_mib(pid: int) -> float:
    pages = 0
    for member in process_tree(pid):
        fields = _read(Path(f"/proc/{member}/statm")).split()
        pages += int(fields[1]) if fields else 0
    return pages * _PAGE_BYTES / 1_048_576


def _read(path: Path) -> str:
    """A process may end between the listing and the reading."""
    try:
        return path.read_text()
    except OSError:
        return ""


@dataclass(slots=True)
class CpuMeter:
    """CPU seconds spent by a broker since the meter was made."""

    pid: int
    _start_s: float = 0.0

    def __post_init__(self) -> None:
        self._start_s = cpu_seconds(self.pid)

    def seconds(self) -> float:
        return cpu_seconds(self.pid) - self._start_s
