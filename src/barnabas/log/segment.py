"""One segment: a `.log` of record batches, with its sparse `.index` and `.timeindex`.

The newest batches' places are kept in memory (bounded), so that a fetch at the tail reads no file to find its
bytes; elsewhere the cached index gives the neighbourhood and a short walk over headers the exact place.
Index entries wait in memory and are written on roll, flush and close: after an unclean stop they are rebuilt.
"""

from __future__ import annotations

import logging
from array import array
from bisect import bisect_left

from barnabas.log import names, scan
from barnabas.log.config import LogConfig
from barnabas.log.indexes import OFFSET_ENTRY_BYTES, TIME_ENTRY, CorruptIndexError, OffsetIndex, TimeIndex
from barnabas.log.open_files import OpenFiles
from barnabas.log.transaction_index import TransactionIndex
from barnabas.ports import Buffer, File
from barnabas.records.batch import BatchHeader

_LOG = logging.getLogger(__name__)

RECENT_BATCHES_MAX = 1024
RELATIVE_OFFSET_MAX = 2**31 - 1
NO_TIMESTAMP = -1


class Segment:
    __slots__ = (
        "_file",
        "_first_timestamp",
        "_max_timestamp",
        "_max_timestamp_offset",
        "_offset_index",
        "_open_files",
        "_time_index",
        "_transaction_index",
        "base_offset",
        "bytes_since_index_entry",
        "created_ms",
        "directory",
        "index_interval_bytes",
        "recent_offsets",
        "recent_positions",
        "recently_used",
        "roll_jitter_ms",
        "size",
    )

    def __init__(self, open_files: OpenFiles, directory: str, base_offset: int, config: LogConfig) -> None:
        self.directory = directory
        self.base_offset = base_offset
        self.index_interval_bytes = config.index_interval_bytes
        self.size = 0
        self.created_ms = 0
        self.roll_jitter_ms = 0
        self.recently_used = False
        self.bytes_since_index_entry = 0
        self.recent_offsets = array("i")  # last offset of each recent batch, relative to the base
        self.recent_positions = array("i")
        self._open_files = open_files
        self._file: File | None = None
        self._offset_index: OffsetIndex | None = None
        self._time_index: TimeIndex | None = None
        self._transaction_index: TransactionIndex | None = None
        self._first_timestamp: int | None = None
        self._max_timestamp: int | None = None  # None: still to be read from the time index
        self._max_timestamp_offset = base_offset

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
        segment._file.truncate(0)
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

    # --- files -------------------------------------------------------------------------------------------

    def path(self, suffix: str) -> str:
        return f"{self.directory}/{names.offset_file(self.base_offset, suffix)}"

    @property
    def file(self) -> File:
        file = self._file
        if file is None:
            file = self._file = self._open_files.open(self, self.path(names.LOG))
        else:
            self.recently_used = True
        return file

    def let_go(self) -> None:
        """Forget the open file and, if nothing in them waits to be written, the indexes."""
        self._file = None
        self._close_transaction_index()
        offset_index, time_index = self._offset_index, self._time_index
        if (
            offset_index is not None
            and time_index is not None
            and not len(self.recent_offsets)
            and offset_index.written == len(offset_index)
            and time_index.written == len(time_index)
        ):
            self._offset_index = self._time_index = None

    def _close_transaction_index(self) -> None:
        if self._transaction_index is not None:
            self._transaction_index.close()
            self._transaction_index = None

    def close(self) -> None:
        self._open_files.forget(self)
        self._close_transaction_index()
        if self._file is not None:
            self._file.close()
            self._file = None

    def drop(self) -> None:
        """Stop using the files without closing what a reader may still hold."""
        self._open_files.forget(self)
        self._close_transaction_index()
        self._file = None

    def moved_to(self, directory: str) -> None:
        self.drop()
        self.directory = directory

    # --- writing -----------------------------------------------------------------------------------------

    def write(self, data: Buffer) -> None:
        self.file.append((data,))

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
        if self.bytes_since_index_entry > self.index_interval_bytes:
            self.offset_index.append(relative, position)
            self.time_index.append(largest, self._max_timestamp_offset - self.base_offset)
            self.bytes_since_index_entry = 0
        self.bytes_since_index_entry += size
        recent = self.recent_offsets
        if len(recent) >= RECENT_BATCHES_MAX:
            del recent[: RECENT_BATCHES_MAX // 2]
            del self.recent_positions[: RECENT_BATCHES_MAX // 2]
        recent.append(relative)
        self.recent_positions.append(position)
        self.size = position + size

    def must_roll(self, config: LogConfig, size: int, last_offset: int, timestamp: int, now_ms: int) -> bool:
        """Would this append (its bytes, last offset and largest timestamp) outgrow the segment?"""
        if self.size > config.segment_bytes - size:
            return True
        if last_offset - self.base_offset > RELATIVE_OFFSET_MAX:
            return True
        if self.size and self.waited_ms(timestamp, now_ms) > config.segment_ms - self.roll_jitter_ms:
            return True
        return self._index_full(config.segment_index_bytes)

    def _index_full(self, index_bytes_max: int) -> bool:
        # Neither index grows by more than one entry per this many bytes, so mostly this settles it.
        if self.size < (self.index_interval_bytes + 1) * (index_bytes_max // TIME_ENTRY.size - 2):
            return False
        return (
            len(self.offset_index) >= index_bytes_max // OFFSET_ENTRY_BYTES
            or len(self.time_index) >= index_bytes_max // TIME_ENTRY.size - 1
        )

    def waited_ms(self, timestamp: int, now_ms: int) -> int:
        """Age by the records' own time when the first batch has one, else by the clock."""
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
        found = scan.first_ending_at_or_after(self.file, offset, self._walk_from(relative), self.size)
        return None if found is None else (found[0], found[1].size)

    def _walk_from(self, relative: int) -> int:
        """The indexed position at or before the offset. An entry that does not lead to the batch it names
        unmasks the whole index as garbage."""
        index = self.offset_index
        entry = index.floor_entry(relative)
        if entry < 0:
            return 0
        position = index.positions[entry]
        _, header = next(scan.walk(self.file, position, self.size), (0, None))
        if header is not None and header.last_offset - self.base_offset == index.offsets[entry]:
            return position
        _LOG.warning("Rebuilding the indexes of %s: an entry leads nowhere", self.path(names.LOG))
        self.rebuild_indexes()
        return self.offset_index.floor_position(relative)

    def end(self) -> tuple[int, int]:
        """(one past the last record, where the last whole batch ends), read from the file."""
        next_offset, position = self.base_offset, 0
        for at, header in scan.walk(self.file, self._walk_from(RELATIVE_OFFSET_MAX), self.size):
            next_offset, position = header.next_offset, at + header.size
        return next_offset, position

    def has_transaction_index(self) -> bool:
        return self._open_files.filesystem.exists(self.path(names.TRANSACTION_INDEX))

    @property
    def transaction_index(self) -> TransactionIndex:
        if self._transaction_index is None:
            _ = self.file  # counted among the open files, and closed with this one
            path = self.path(names.TRANSACTION_INDEX)
            self._transaction_index = TransactionIndex(self._open_files.filesystem, path, self.base_offset)
        return self._transaction_index

    @property
    def offset_index(self) -> OffsetIndex:
        if self._offset_index is None:
            self._load_indexes()
        assert self._offset_index is not None
        return self._offset_index

    @property
    def time_index(self) -> TimeIndex:
        if self._time_index is None:
            self._load_indexes()
        assert self._time_index is not None
        return self._time_index

    @property
    def max_timestamp(self) -> int:
        if self._max_timestamp is None:
            index = self.time_index
            has_entry = len(index) > 0
            self._max_timestamp = index.timestamps[-1] if has_entry else NO_TIMESTAMP
            self._max_timestamp_offset = self.base_offset + (index.offsets[-1] if has_entry else 0)
        return self._max_timestamp

    @property
    def max_timestamp_offset(self) -> int:
        """Last offset of the earliest batch that has the largest timestamp."""
        _ = self.max_timestamp
        return self._max_timestamp_offset

    # --- indexes -----------------------------------------------------------------------------------------

    def _load_indexes(self) -> None:
        filesystem = self._open_files.filesystem
        try:
            self._offset_index = OffsetIndex.decode(filesystem.read_bytes(self.path(names.INDEX)), self.size)
            self._time_index = TimeIndex.decode(filesystem.read_bytes(self.path(names.TIME_INDEX)))
            self._check_time_index(self._time_index)
        except (CorruptIndexError, FileNotFoundError) as problem:
            _LOG.warning("Rebuilding the indexes of %s: %s", self.path(names.LOG), problem)
            self.rebuild_indexes()

    def _check_time_index(self, index: TimeIndex) -> None:
        """Its last entry decides about retention, so it must name a batch that has that timestamp."""
        if not self.size:
            return
        if not len(index):
            raise CorruptIndexError("no entry for the largest timestamp")
        start = self._walk_from(index.offsets[-1])
        offset = self.base_offset + index.offsets[-1]
        found = scan.first_ending_at_or_after(self.file, offset, start, self.size)
        if found is None or found[1].max_timestamp != index.timestamps[-1]:
            raise CorruptIndexError("the last entry names a batch without its timestamp")

    def rebuild_indexes(self) -> None:
        """From the batch headers alone. Nothing is written until the next flush, roll or close."""
        self.reset_indexes()
        for position, header in scan.walk(self.file, 0, self.size):
            self.index_batch(position, header)

    def reset_indexes(self) -> None:
        self._offset_index, self._time_index = OffsetIndex(), TimeIndex()
        self._offset_index.written = self._time_index.written = -1
        self._max_timestamp = NO_TIMESTAMP
        self._max_timestamp_offset = self.base_offset
        self._first_timestamp = None
        self.bytes_since_index_entry = 0
        self.forget_recent()

    def index_batch(self, position: int, header: BatchHeader) -> None:
        """Account for a batch that the file already holds."""
        if header.max_timestamp > self.max_timestamp:
            self._max_timestamp, self._max_timestamp_offset = header.max_timestamp, header.last_offset
        if self.bytes_since_index_entry > self.index_interval_bytes:
            self.offset_index.append(header.last_offset - self.base_offset, position)
            self.time_index.append(self.max_timestamp, self._max_timestamp_offset - self.base_offset)
            self.bytes_since_index_entry = 0
        self.bytes_since_index_entry += header.size

    def forget_recent(self) -> None:
        del self.recent_offsets[:]
        del self.recent_positions[:]

    def seal(self) -> None:
        """Becoming inactive or closing: the last time entry holds the largest timestamp of all."""
        if self.max_timestamp > NO_TIMESTAMP:
            self.time_index.append(self.max_timestamp, self._max_timestamp_offset - self.base_offset)
        self.persist_indexes()

    def persist_indexes(self) -> None:
        offset_index, time_index = self._offset_index, self._time_index
        if offset_index is not None:
            self._persist(names.INDEX, offset_index)
        if time_index is not None:
            self._persist(names.TIME_INDEX, time_index)

    def _persist(self, suffix: str, index: OffsetIndex | TimeIndex) -> None:
        if index.written == len(index):
            return
        if index.written < 0:
            self._rewrite(suffix, index.encode())
        else:
            file = self._open_files.filesystem.open(self.path(suffix), create=True)
            file.append((index.encode(index.written),))
            file.close()
        index.written = len(index)

    def _rewrite(self, suffix: str, data: bytes) -> None:
        file = self._open_files.filesystem.open(self.path(suffix), create=True)
        file.truncate(0)
        if data:
            file.append((data,))
        file.close()

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
        start = self._walk_from(self._max_timestamp_offset - self.base_offset)
        for _, header in scan.walk(self.file, start, self.size):
            if header.max_timestamp > largest:
                largest = header.max_timestamp
                self._max_timestamp, self._max_timestamp_offset = largest, header.last_offset
