"""One segment of record batches: append at its end, find a batch by offset, cut it.

The newest batches' places are kept in memory (bounded), so that a fetch at the tail reads no file to find its
bytes; elsewhere the cached index gives the neighbourhood and a short walk over headers the exact place.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence

from barnabas.log import names, scan
from barnabas.log.config import LogConfig
from barnabas.log.indexed_segment import NO_TIMESTAMP, RELATIVE_OFFSET_MAX, IndexedSegment
from barnabas.log.indexes import OFFSET_ENTRY_BYTES, TIME_ENTRY, OffsetIndex, TimeIndex
from barnabas.log.open_files import OpenFiles
from barnabas.ports import Buffer

__all__ = ["NO_TIMESTAMP", "RECENT_BATCHES_MAX", "RELATIVE_OFFSET_MAX", "Segment"]

RECENT_BATCHES_MAX = 1024


class Segment(IndexedSegment):
    __slots__ = ()

    @classmethod
    def create(
        cls, open_files: OpenFiles, directory: str, base_offset: int, config: LogConfig, now_ms: int
    ) -> Segment:
        segment = cls(open_files, directory, base_offset, config)
        segment.created_ms = now_ms
        segment._offset_index = OffsetIndex()
        segment._time_index = TimeIndex()
        segment._max_timestamp = NO_TIMESTAMP
        segment._file = open_files.open(segment, segment.path(names.LOG), create=True)
        if segment._file.size():  # a name that was used before
            segment._file.truncate(0)
            segment.sync_cut()
        for suffix in (names.INDEX, names.TIME_INDEX):
            segment._rewrite(suffix, b"")
        return segment

    @classmethod
    def existing(
        cls, open_files: OpenFiles, directory: str, base_offset: int, config: LogConfig, now_ms: int
    ) -> Segment:
        segment = cls(open_files, directory, base_offset, config)
        segment.created_ms = now_ms
        file = open_files.filesystem.open(segment.path(names.LOG))
        segment.size = file.size()
        file.close()
        return segment

    # --- writing -----------------------------------------------------------------------------------------

    def write(self, data: Buffer) -> None:
        file = self._file
        if file is None:
            file = self.file
        self.recently_used = True
        if self.cut_waits:
            self.sync_cut()
        file.append((data,))

    def sync_cut(self) -> None:
        """Before anything is written where something was cut. After a power loss some pages may be old and
        others new, and together they can look like a log that never was: records that were cut, in front of
        the ones that came in their place. Nor may a segment that went come back behind them."""
        self.file.sync()
        self._open_files.filesystem.sync_directory(self.directory)
        self.cut_waits = False

    def note(self, last_offset: int, max_timestamp: int, size: int) -> None:
        """Account for one batch of bytes just written."""
        position = self.size
        relative = last_offset - self.base_offset
        largest = self._max_timestamp
        if largest is None:
            largest = self.max_timestamp
        if max_timestamp > largest:
            self._max_timestamp = largest = max_timestamp
            self._max_timestamp_offset = last_offset
        if position == 0:
            self._first_timestamp = max_timestamp
        recent = self.recent_offsets
        if self.bytes_since_index_entry > self.index_interval_bytes:
            if recent:
                self.offset_index.append(relative, position, recent[-1] + 1, size)
            else:
                self.offset_index.append(relative, position)
            self.time_index.append(largest, self._max_timestamp_offset - self.base_offset)
            self.bytes_since_index_entry = 0
        self.bytes_since_index_entry += size
        if len(recent) >= RECENT_BATCHES_MAX:
            del recent[: RECENT_BATCHES_MAX // 2]
            del self.recent_positions[: RECENT_BATCHES_MAX // 2]
        recent.append(relative)
        self.recent_positions.append(position)
        self.size = position + size

    def note_all(self, notes: Sequence[tuple[int, int, int]]) -> None:
        """The same for many at once: what a follower gets holds hundreds of small ones."""
        base_offset, interval = self.base_offset, self.index_interval_bytes
        position, since_entry, largest = self.size, self.bytes_since_index_entry, self.max_timestamp
        offsets, positions = array("i"), array("i")
        previous = self.recent_offsets[-1] if self.recent_offsets else None
        if position == 0:
            self._first_timestamp = notes[0][1]
        for last_offset, max_timestamp, size in notes:
            relative = last_offset - base_offset
            if max_timestamp > largest:
                self._max_timestamp = largest = max_timestamp
                self._max_timestamp_offset = last_offset
            if since_entry > interval:
                if previous is None:
                    self.offset_index.append(relative, position)
                else:
                    self.offset_index.append(relative, position, previous + 1, size)
                self.time_index.append(largest, self._max_timestamp_offset - base_offset)
                since_entry = 0
            since_entry += size
            previous = relative
            offsets.append(relative)
            positions.append(position)
            position += size
        self.recent_offsets = (self.recent_offsets + offsets)[-RECENT_BATCHES_MAX:]
        self.recent_positions = (self.recent_positions + positions)[-RECENT_BATCHES_MAX:]
        self.bytes_since_index_entry, self.size = since_entry, position

    def must_roll(self, config: LogConfig, size: int, last_offset: int, timestamp: int, now_ms: int) -> bool:
        """Would this append (its bytes, last offset and largest timestamp) outgrow the segment?"""
        if self.size > config.segment_bytes - size:
            return True
        if last_offset - self.base_offset > RELATIVE_OFFSET_MAX:
            return True
        if self.size and self.waited_ms(timestamp, now_ms) > config.segment_ms - self.roll_jitter_ms:
            return True
        index_entries_max = config.segment_index_bytes // TIME_ENTRY.size - 2
        # Neither index grows by more than one entry per this many bytes, so mostly this settles it.
        if self.size < (self.index_interval_bytes + 1) * index_entries_max:
            return False
        return self._index_full(config.segment_index_bytes)

    def _index_full(self, index_bytes_max: int) -> bool:
        return (
            len(self.offset_index) >= index_bytes_max // OFFSET_ENTRY_BYTES
            or len(self.time_index) >= index_bytes_max // TIME_ENTRY.size - 1
        )

    def waited_ms(self, timestamp: int, now_ms: int) -> int:
        """Age by the records' own time when the first batch has one, else by the clock."""
        first = self._first_timestamp
        if first is None:
            first = self.first_timestamp
        return timestamp - first if first >= 0 else now_ms - self.created_ms

    @property
    def first_timestamp(self) -> int:
        """Largest timestamp of the first batch; -1 while there is none."""
        if self._first_timestamp is None:
            first = next(scan.walk(self.file, 0, self.size), None) if self.size else None
            if first is None:
                return NO_TIMESTAMP
            self._first_timestamp = first[1].max_timestamp
        return self._first_timestamp

    # --- reading -----------------------------------------------------------------------------------------

    def locate(self, offset: int) -> tuple[int, int] | None:
        """(position, size) of the batch that holds the offset, or of the next one; None past the end."""
        relative = offset - self.base_offset
        recent, positions = self.recent_offsets, self.recent_positions
        if recent and (relative >= recent[0] or positions[0] == 0):
            entry = bisect_left(recent, relative)
            if entry == len(recent):
                return None
            position = positions[entry]
            following = positions[entry + 1] if entry + 1 < len(recent) else self.size
            return position, following - position
        if not self.size:
            return None
        index = self.offset_index
        entry = bisect_left(index.offsets, relative)
        floor = index.positions[entry - 1] if entry else 0
        if entry < len(index):
            found = index.known_batch(entry, relative)
            if found is not None:
                return found
            if index.positions[entry] - floor > 2 * self.index_interval_bytes:
                # Large batches have an entry each: most likely this one leads straight to ours.
                found = scan.batch_at(self.file, offset, index.positions[entry], self.size)
                if found is not None:
                    return found
        return scan.batch_holding(self.file, offset, floor, self.size)

    def end(self) -> tuple[int, int]:
        """(one past the last record, where the last whole batch ends), read from the file."""
        next_offset, position = self.base_offset, 0
        for at, header in self.walk_from(RELATIVE_OFFSET_MAX):
            next_offset, position = header.next_offset, at + header.size
        return next_offset, position

    # --- cutting -----------------------------------------------------------------------------------------

    def truncate_to(self, offset: int) -> int:
        """Drop every batch that holds the offset or comes later. Returns the bytes dropped."""
        found = self.locate(offset)
        relative = offset - self.base_offset
        self.offset_index.truncate(relative)
        self.time_index.truncate(relative)
        self.offset_index.written = self.time_index.written = -1
        self.transaction_index.truncate_to(offset)
        return self.truncate_bytes(self.size if found is None else found[0])

    def cut_bytes(self, size: int) -> int:
        """Shorten the file; what the indexes know of the rest is the caller's business."""
        dropped = self.size - size
        if dropped:
            self.file.truncate(size)
            self.size = size
            self.cut_waits = True
        return dropped

    def truncate_bytes(self, size: int) -> int:
        dropped = self.cut_bytes(size)
        self.forget_recent()
        self.bytes_since_index_entry = 0
        if size == 0:
            self._first_timestamp = None
        self._refresh_max_timestamp()
        return dropped

    def _refresh_max_timestamp(self) -> None:
        """The last time entry, or a larger timestamp among the batches behind it."""
        self._max_timestamp = None
        largest = self.max_timestamp
        for _, header in self.walk_from(self._max_timestamp_offset - self.base_offset):
            if header.max_timestamp > largest:
                largest = header.max_timestamp
                self._max_timestamp, self._max_timestamp_offset = largest, header.last_offset
