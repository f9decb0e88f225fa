"""Lag as people see it at a glance: bars, and how it went lately. Numbers in, text out; no IO."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from barnabas.cli.parts.consumer_groups_rows import OffsetRow
from barnabas.model.ids import TopicPartition

HISTORY = 24  # how many looks back the trend shows
BAR_WIDTH = 16
_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")
_STEPS = "▁▂▃▄▅▆▇█"


def bar(value: int | None, largest: int, width: int = BAR_WIDTH) -> str:
    """As long as `value` is of `largest`; what is not zero is seen."""
    if not value or value < 0 or largest <= 0:
        return ""
    eighths = max(1, min(value, largest) * width * 8 // largest)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8]


def sparkline(values: Sequence[int]) -> str:
    """One step per value, the highest being as high as the largest of them; zero is the floor."""
    largest = max(values, default=0)
    if largest <= 0:
        return _STEPS[0] * len(values)
    return "".join(_STEPS[max(0, value) * (len(_STEPS) - 1) // largest] for value in values)


class LagHistory:
    """The last looks at each partition; partitions that are gone are forgotten."""

    def __init__(self) -> None:
        self._lags: dict[TopicPartition, deque[int]] = {}

    def see(self, rows: Iterable[OffsetRow]) -> None:
        seen = {row.partition: row.lag for row in rows}
        self._lags = {partition: self._lags.get(partition, deque(maxlen=HISTORY)) for partition in seen}
        for partition, lag in seen.items():
            self._lags[partition].append(lag or 0)

    def trend(self, partition: TopicPartition) -> str:
        return sparkline(list(self._lags.get(partition, ())))


def total(rows: Iterable[OffsetRow]) -> int:
    return sum(row.lag or 0 for row in rows)


def largest(rows: Iterable[OffsetRow]) -> int:
    return max((row.lag or 0 for row in rows), default=0)
