"""The segments of one log, in order."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterator, Sequence
from operator import attrgetter

from barnabas.log.segment import Segment

_BASE_OFFSET = attrgetter("base_offset")


class Segments:
    """Never empty once a log is open; the last one is the active one."""

    __slots__ = ("_base_offsets", "_segments")

    def __init__(self, segments: Sequence[Segment] = ()) -> None:
        self._segments = sorted(segments, key=_BASE_OFFSET)
        self._base_offsets = [segment.base_offset for segment in self._segments]

    def __len__(self) -> int:
        return len(self._segments)

    def __iter__(self) -> Iterator[Segment]:
        return iter(self._segments)

    @property
    def first(self) -> Segment:
        return self._segments[0]

    @property
    def last(self) -> Segment:
        return self._segments[-1]

    @property
    def base_offsets(self) -> list[int]:
        return list(self._base_offsets)

    def add(self, segment: Segment) -> None:
        insort(self._segments, segment, key=_BASE_OFFSET)
        self._base_offsets = [each.base_offset for each in self._segments]

    def remove(self, segment: Segment) -> None:
        self._segments.remove(segment)
        self._base_offsets.remove(segment.base_offset)

    def floor(self, offset: int) -> Segment | None:
        """The segment whose range holds the offset."""
        place = bisect_right(self._base_offsets, offset) - 1
        return self._segments[place] if place >= 0 else None

    def after(self, segment: Segment) -> Segment | None:
        place = bisect_right(self._base_offsets, segment.base_offset)
        return self._segments[place] if place < len(self._segments) else None

    def from_offset(self, offset: int) -> list[Segment]:
        """Every segment that may hold the offset or later ones."""
        place = max(bisect_right(self._base_offsets, offset) - 1, 0)
        return self._segments[place:]

    def size(self) -> int:
        return sum(segment.size for segment in self._segments)
