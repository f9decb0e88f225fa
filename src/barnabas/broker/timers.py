"""What is to happen at a time: a heap that forgets cancelled entries before they pile up."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count

_WORTH_CLEANING = 1024
FOREVER_MS = 1 << 40


class Timer:
    __slots__ = ("action", "deadline_ms")

    def __init__(self, deadline_ms: int, action: Callable[[], None]) -> None:
        self.deadline_ms = deadline_ms
        self.action: Callable[[], None] | None = action


class Timers:
    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Timer]] = []
        self._sequence = count()
        self._cancelled = 0

    def __len__(self) -> int:
        return len(self._heap) - self._cancelled

    def at(self, deadline_ms: int, action: Callable[[], None]) -> Timer:
        timer = Timer(deadline_ms, action)
        heapq.heappush(self._heap, (deadline_ms, next(self._sequence), timer))
        return timer

    def cancel(self, timer: Timer) -> None:
        """A client may park for weeks and be woken every millisecond: do not keep the dead until then."""
        if timer.action is None:
            return
        timer.action = None
        self._cancelled += 1
        if self._cancelled > _WORTH_CLEANING and self._cancelled * 2 > len(self._heap):
            self._heap = [entry for entry in self._heap if entry[2].action is not None]
            heapq.heapify(self._heap)
            self._cancelled = 0

    def run_due(self, now_ms: int) -> int:
        """Run what is due; returns the milliseconds until the next one."""
        heap = self._heap
        while heap and heap[0][0] <= now_ms:
            timer = heapq.heappop(heap)[2]
            action, timer.action = timer.action, None
            if action is None:
                self._cancelled -= 1
            else:
                action()
                heap = self._heap
        return heap[0][0] - now_ms if heap else FOREVER_MS
