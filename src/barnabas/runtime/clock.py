"""The real clocks and the real chance."""

from __future__ import annotations

import os
import secrets
import time


class SystemClock:
    def wall_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000


class SystemRandom:
    def bytes(self, count: int) -> bytes:
        return os.urandom(count)

    def below(self, bound: int) -> int:
        return secrets.randbelow(bound)
