"""Transactions of a partition that readers may not see past: undecided, or decided but not yet replicated."""

from __future__ import annotations

from itertools import takewhile
from typing import NamedTuple


class CompletedTransaction(NamedTuple):
    producer_id: int
    first_offset: int
    last_offset: int
    aborted: bool
    last_stable_offset: int


class OpenTransactions:
    def __init__(self) -> None:
        # First offset → producer id. Transactions begin at rising offsets, so the first key is the lowest.
        self._ongoing: dict[int, int] = {}
        # First offset → last offset of transactions that ended above the high watermark, as they ended.
        self._unreplicated: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._ongoing) + len(self._unreplicated)

    @property
    def first_unstable_offset(self) -> int | None:
        ongoing = next(iter(self._ongoing), None)
        if not self._unreplicated:  # asked at every fetch, and nearly always so
            return ongoing
        lowest = min(self._unreplicated)
        return lowest if ongoing is None else min(lowest, ongoing)

    @property
    def first_undecided_offset(self) -> int | None:
        return next(iter(self._ongoing), None)

    @property
    def oldest_producer_id(self) -> int | None:
        return next(iter(self._ongoing.values()), None)

    def begin(self, first_offset: int, producer_id: int) -> None:
        self._ongoing[first_offset] = producer_id

    def last_stable_offset_without(self, producer_id: int, end_offset: int) -> int:
        """Where readers will stop once this producer's transaction has ended before `end_offset`."""
        others = (first for first, owner in self._ongoing.items() if owner != producer_id)
        return next(others, end_offset)

    def complete(self, completed: CompletedTransaction) -> None:
        del self._ongoing[completed.first_offset]
        self._unreplicated[completed.first_offset] = completed.last_offset

    def replicated_up_to(self, offset: int) -> None:
        if self._unreplicated:
            ended = takewhile(lambda ends: ends[1] < offset, self._unreplicated.items())
            for first, _ in tuple(ended):
                del self._unreplicated[first]

    def clear(self) -> None:
        self._ongoing.clear()
        self._unreplicated.clear()
