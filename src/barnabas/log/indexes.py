"""A segment's two sparse indexes, held as compact arrays and written as Kafka writes them.

`.index`: (offset relative to the base, byte position), both int32, in order. `.timeindex`: (largest
timestamp so far int64, offset of the batch that has it relative to the base int32), in order.
"""

from __future__ import annotations

import struct
import sys
from array import array
from bisect import bisect_left, bisect_right
from itertools import chain

OFFSET_ENTRY_BYTES = 8
TIME_ENTRY = struct.Struct(">qi")
_SWAPPED = sys.byteorder == "little"


class CorruptIndexError(Exception):
    """The file is not an index of its segment: rebuild it."""


def _sorted(values: array[int]) -> bool:
    """Sorting what is sorted costs one pass in C: a big index must not hold up the loop."""
    plain = values.tolist()
    return plain == sorted(plain)


class OffsetIndex:
    __slots__ = ("bare", "firsts", "offsets", "positions", "sizes", "written")

    def __init__(self) -> None:
        self.offsets = array("i")
        self.positions = array("i")
        # Of the entries behind the first `bare` ones, which were read from the file: from which offset on
        # they lead to their batch, and its size, so that a fetch need not ask the batch (0: it must).
        self.bare = 0
        self.firsts = array("i")
        self.sizes = array("i")
        self.written = 0  # entries that the file already holds

    def __len__(self) -> int:
        return len(self.offsets)

    def append(self, relative_offset: int, position: int, first: int = 0, size: int = 0) -> None:
        self.offsets.append(relative_offset)
        self.positions.append(position)
        self.firsts.append(first)
        self.sizes.append(size)

    def known_batch(self, entry: int, relative_offset: int) -> tuple[int, int] | None:
        """(position, size) of the entry's batch, if it is known to be the one that the offset leads to."""
        at = entry - self.bare
        if at < 0 or not self.sizes[at] or relative_offset < self.firsts[at]:
            return None
        return self.positions[entry], self.sizes[at]

    def floor_entry(self, relative_offset: int) -> int:
        """The greatest entry at or below the offset; -1 if there is none."""
        return bisect_right(self.offsets, relative_offset) - 1

    def floor_position(self, relative_offset: int) -> int:
        """Where to start walking for this offset: an entry names its batch's *last* offset, so the walk
        starts at the greatest entry at or below it."""
        entry = self.floor_entry(relative_offset)
        return self.positions[entry] if entry >= 0 else 0

    def batch_before(self, position: int) -> int:
        """Where some batch begins, at or before the position."""
        entry = bisect_right(self.positions, position) - 1
        return self.positions[entry] if entry >= 0 else 0

    def truncate(self, relative_offset: int) -> None:
        """Forget entries at or past the offset."""
        keep = bisect_left(self.offsets, relative_offset)
        self.bare = min(self.bare, keep)
        del self.offsets[keep:], self.positions[keep:]
        del self.firsts[keep - self.bare :], self.sizes[keep - self.bare :]

    def encode(self, first: int = 0) -> bytes:
        flat = array("i", chain.from_iterable(zip(self.offsets[first:], self.positions[first:], strict=True)))
        if _SWAPPED:
            flat.byteswap()
        return flat.tobytes()

    @classmethod
    def decode(cls, data: bytes, segment_bytes: int) -> OffsetIndex:
        """Kafka preallocates the active index and leaves zeros behind an unclean stop: a tail of zeros is
        cut, anything else that cannot be an index of this segment is corrupt."""
        if len(data) % OFFSET_ENTRY_BYTES:
            raise CorruptIndexError(f"size {len(data)} is not a multiple of {OFFSET_ENTRY_BYTES}")
        flat = array("i")
        flat.frombytes(data)
        if _SWAPPED:
            flat.byteswap()
        index = cls()
        index.offsets, index.positions = flat[::2], flat[1::2]
        cut_zeros = False
        while index.positions and index.positions[-1] == 0:
            index.offsets.pop()
            index.positions.pop()
            cut_zeros = True
        index._check(segment_bytes)
        index.bare = len(index)
        index.written = -1 if cut_zeros else len(index)
        return index

    def _check(self, segment_bytes: int) -> None:
        if not self.offsets:
            return
        rising = _sorted(self.offsets) and _sorted(self.positions)
        if not rising or self.offsets[0] < 0 or self.positions[0] < 0:
            raise CorruptIndexError("entries do not increase")
        if self.positions[-1] >= segment_bytes:
            raise CorruptIndexError("an entry points past the end of the segment")


class TimeIndex:
    __slots__ = ("offsets", "timestamps", "written")

    def __init__(self) -> None:
        self.timestamps = array("q")
        self.offsets = array("i")
        self.written = 0

    def __len__(self) -> int:
        return len(self.timestamps)

    def append(self, timestamp_ms: int, relative_offset: int) -> None:
        """Only a larger timestamp is news."""
        if timestamp_ms > (self.timestamps[-1] if self.timestamps else -1):
            self.timestamps.append(timestamp_ms)
            self.offsets.append(relative_offset)

    def floor_offset(self, timestamp_ms: int) -> int:
        """The relative offset to start looking from: all before it is older than the timestamp."""
        entry = bisect_left(self.timestamps, timestamp_ms) - 1
        return self.offsets[entry] if entry >= 0 else 0

    def truncate(self, relative_offset: int) -> None:
        keep = bisect_left(self.offsets, relative_offset)
        del self.timestamps[keep:]
        del self.offsets[keep:]

    def encode(self, first: int = 0) -> bytes:
        pack = TIME_ENTRY.pack
        return b"".join(
            pack(timestamp, offset)
            for timestamp, offset in zip(self.timestamps[first:], self.offsets[first:], strict=True)
        )

    @classmethod
    def decode(cls, data: bytes) -> TimeIndex:
        if len(data) % TIME_ENTRY.size:
            raise CorruptIndexError(f"size {len(data)} is not a multiple of {TIME_ENTRY.size}")
        entries = list(TIME_ENTRY.iter_unpack(data))
        cut_zeros = False
        while entries and entries[-1] == (0, 0):
            entries.pop()
            cut_zeros = True
        index = cls()
        index.timestamps.extend(timestamp for timestamp, _ in entries)
        index.offsets.extend(offset for _, offset in entries)
        index._check()
        index.written = -1 if cut_zeros else len(index)
        return index

    def _check(self) -> None:
        if not (_sorted(self.timestamps) and _sorted(self.offsets)):
            raise CorruptIndexError("entries do not increase")
        if self.offsets and self.offsets[0] < 0:
            raise CorruptIndexError("an entry points before the segment")
