"""Producer ids for this broker: handed out one by one from blocks that the controller allocates."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable


class ProducerIds:
    """`allocate(done)` fetches a block [first, last] that nobody else will ever get."""

    def __init__(self, allocate: Callable[[Callable[[int, int], None]], None]) -> None:
        self._allocate = allocate
        self._next = 0
        self._end = 0  # exclusive
        self._waiting: deque[Callable[[int], None]] = deque()
        self._asked = False

    def next(self, done: Callable[[int], None]) -> None:
        self._waiting.append(done)
        self._serve()

    def _serve(self) -> None:
        while self._waiting and self._next < self._end:
            producer_id = self._next
            self._next += 1
            self._waiting.popleft()(producer_id)
        if self._waiting and not self._asked:
            self._asked = True
            self._allocate(self._block)

    def _block(self, first: int, last: int) -> None:
        self._asked = False
        self._next, self._end = first, last + 1
        self._serve()
