"""Work that a log directory owes: what blocks runs on a worker, what follows runs on the loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush

from barnabas.log.directory import LogDirectory
from barnabas.log.results import Doomed


def _nothing(_now_ms: int) -> None:
    return


@dataclass(frozen=True, slots=True, eq=False)
class Chore:
    """`run` touches only files and the values it was made with, so any thread may run it; then the loop's
    thread hands the outcome to `LogManager.finish`."""

    directory: LogDirectory
    run: Callable[[], None]
    then: Callable[[int], None] = _nothing
    key: object = None  # two chores with one key never run at the same time


class Removals:
    """Files and folders to remove, each at its time."""

    __slots__ = ("_heap", "_serial")

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, LogDirectory, str]] = []
        self._serial = 0

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, directory: LogDirectory, doomed: Doomed) -> None:
        self._serial += 1
        heappush(self._heap, (doomed.due_ms, self._serial, directory, doomed.path))

    def due(self, now_ms: int) -> list[tuple[LogDirectory, str]]:
        going = []
        while self._heap and self._heap[0][0] <= now_ms:
            _, _, directory, path = heappop(self._heap)
            going.append((directory, path))
        return going

    @property
    def next_due_ms(self) -> int | None:
        return self._heap[0][0] if self._heap else None
