"""Chance from a seed: `ports.Random` for tests of what asks for it."""

from __future__ import annotations

import random


class SeededRandom:
    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)

    def bytes(self, count: int) -> bytes:
        return self._random.randbytes(count)

    def below(self, bound: int) -> int:
        return self._random.randrange(bound)
