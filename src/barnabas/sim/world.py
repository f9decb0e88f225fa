"""Virtual time, seeded chance and the queue of what happens next.

Two things due at the same millisecond happen in a seeded order: whoever needs an order keeps a queue.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Sequence
from typing import TypeVar

from barnabas.sim.history import History

T = TypeVar("T")

_FIRST_WALL_MS = 1_700_000_000_000


class SeededRandom:
    """`ports.Random`, and what a scheduler asks of chance besides."""

    def __init__(self, seed: int | str) -> None:
        self._random = random.Random(seed)

    def bytes(self, count: int) -> bytes:
        return self._random.randbytes(count)

    def below(self, bound: int) -> int:
        return self._random.randrange(bound)

    def between(self, low: int, high: int) -> int:
        """Both ends included."""
        return self._random.randint(low, high)

    def chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def pick(self, items: Sequence[T]) -> T:
        return self._random.choice(items)


class QuickRandom(SeededRandom):
    """The same with other choices, which cost less: clusters ask of chance all the time."""

    def below(self, bound: int) -> int:
        return int(self._random.random() * bound)

    def between(self, low: int, high: int) -> int:
        return low + int(self._random.random() * (high - low + 1))

    def pick(self, items: Sequence[T]) -> T:
        return items[int(self._random.random() * len(items))]


class World:
    def __init__(self, seed: int | str, chance: type[SeededRandom] = SeededRandom) -> None:
        self.random = chance(f"{seed}/world")
        self.history = History(lambda: self.now_ms)
        self.now_ms = 0
        self.wall_skew_ms = 0  # what clock jumps added up to
        self._queue: list[tuple[int, int, int, Callable[[], None]]] = []
        self._serial = 0

    @property
    def wall_ms(self) -> int:
        return _FIRST_WALL_MS + self.now_ms + self.wall_skew_ms

    def after(self, delay_ms: int, action: Callable[[], None]) -> None:
        self._serial += 1
        entry = (self.now_ms + delay_ms, self.random.below(1 << 30), self._serial, action)
        heapq.heappush(self._queue, entry)

    def soon(self, most_ms: int, action: Callable[[], None]) -> None:
        """At any moment within `most_ms`."""
        self.after(self.random.between(0, most_ms), action)

    @property
    def next_ms(self) -> int | None:
        """When the next thing happens."""
        return self._queue[0][0] if self._queue else None

    def step(self) -> bool:
        """Let the next thing happen. False when nothing is left to happen."""
        if not self._queue:
            return False
        due_ms, _, _, action = heapq.heappop(self._queue)
        self.now_ms = max(self.now_ms, due_ms)
        action()
        return True

    def run_until(self, reached: Callable[[], bool], deadline_ms: int) -> bool:
        """Let things happen until `reached` or the deadline. True if it was reached."""
        while not reached():
            if not self._queue or self._queue[0][0] > deadline_ms:
                self.now_ms = max(self.now_ms, deadline_ms)
                return reached()
            self.step()
        return True
