"""Producer ids for this broker: handed out one by one from blocks that the controller allocates."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TypeAlias

Block: TypeAlias = tuple[int, int]  # first and last, inclusive


class ProducerIds:
    """`allocate(done)` asks for a block that nobody else will ever get; None when the store refuses."""

    def __init__(self, allocate: Callable[[Callable[[Block | None], None]], None]) -> None:
        self._allocate = allocate
        self._next = 0
        self._end = 0  # exclusive
        self._waiting: deque[Callable[[int | None], None]] = deque()
        self._asked = False

    def next(self, done: Callable[[int | None], None]) -> None:
        """`done` gets a fresh id, or None: the client may ask again."""
        self._waiting.append(done)
        self._serve()

    def _serve(self) -> None:
        while self._waiting and self._next < self._end:
            producer_id = self._next
            self._next += 1
            self._waiting.popleft()(producer_id)
        if self._waiting and not self._asked:
            self._asked = True
            self._allocate(self._allocated)

    def _allocated(self, block: Block | None) -> None:
        self._asked = False
        if block is None:
            refused, self._waiting = self._waiting, deque()
            for done in refused:
                done(None)
        else:
            self._next, self._end = block[0], block[1] + 1
        self._serve()
