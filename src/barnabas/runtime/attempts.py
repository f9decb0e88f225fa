"""What pays only under conditions that nobody tells: tried less and less while it is in vain."""

from __future__ import annotations

_PAUSE_MAX = 63


class Attempts:
    """More than half must succeed; otherwise soon only one chance in 64 is taken, to notice a change."""

    def __init__(self) -> None:
        self._pause = _PAUSE_MAX  # how many chances are left out after an attempt
        self._left_out = 0

    def is_due(self) -> bool:
        if self._left_out == 0:
            return True
        self._left_out -= 1
        return False

    def succeeded(self) -> None:
        self._left_out = self._pause = self._pause // 2

    def failed(self) -> None:
        self._left_out = self._pause = min(2 * self._pause + 1, _PAUSE_MAX)
