"""A segment's files: the `.log`, opened when needed, and its sparse `.index` and `.timeindex`.

Index entries wait in memory and are written on roll, flush and close: after an unclean stop they are rebuilt.
So is an index that is missing, short or does not lead to the batches it names.
"""

from __future__ import annotations

import logging
from array import array
from collections.abc import Iterator
from itertools import chain

from barnabas.log import names, scan
from barnabas.log.config import LogConfig
from barnabas.log.indexes import CorruptIndexError, OffsetIndex, TimeIndex
from barnabas.log.open_files import OpenFiles
from barnabas.log.transaction_index import TransactionIndex
from barnabas.ports import File
from barnabas.records.batch import BatchHeader

_LOG = logging.getLogger(__name__)

RELATIVE_OFFSET_MAX = 2**31 - 1
NO_TIMESTAMP = -1


class IndexedSegment:
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
        "cut_waits",
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
        self.cut_waits = False  # for the disk: what was cut could come back after a power loss
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
        found = self.find(self.base_offset + index.offsets[-1])
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

    def seal(self) -> bool:
        """Becoming inactive or closing: the last time entry holds the largest timestamp of all. True if the
        index files have changed."""
        if self.max_timestamp > NO_TIMESTAMP:
            self.time_index.append(self.max_timestamp, self._max_timestamp_offset - self.base_offset)
        return self.persist_indexes()

    def persist_indexes(self) -> bool:
        changed = self._persist(names.INDEX, self._offset_index)
        return self._persist(names.TIME_INDEX, self._time_index) or changed

    def _persist(self, suffix: str, index: OffsetIndex | TimeIndex | None) -> bool:
        if index is None or index.written == len(index):
            return False
        if index.written < 0:
            self._rewrite(suffix, index.encode())
        else:
            file = self._open_files.filesystem.open(self.path(suffix), create=True)
            file.append((index.encode(index.written),))
            file.close()
        index.written = len(index)
        return True

    def _rewrite(self, suffix: str, data: bytes) -> None:
        file = self._open_files.filesystem.open(self.path(suffix), create=True)
        file.truncate(0)
        if data:
            file.append((data,))
        file.close()

    def walk_from(self, relative: int) -> Iterator[tuple[int, BatchHeader]]:
        """Every batch from the indexed position at or before the offset. An entry that does not lead to the
        batch it names unmasks the whole index as garbage."""
        index = self.offset_index
        entry = index.floor_entry(relative)
        if entry < 0:
            return scan.walk(self.file, 0, self.size)
        found = scan.walk(self.file, index.positions[entry], self.size)
        first = next(found, None)
        if first is not None and first[1].last_offset - self.base_offset == index.offsets[entry]:
            return chain((first,), found)
        _LOG.warning("Rebuilding the indexes of %s: an entry leads nowhere", self.path(names.LOG))
        self.rebuild_indexes()
        return scan.walk(self.file, self.offset_index.floor_position(relative), self.size)

    def find(self, offset: int) -> tuple[int, BatchHeader] | None:
        """The batch that holds the offset, or the next one when the offset lies in a hole."""
        for found in self.walk_from(offset - self.base_offset):
            if found[1].last_offset >= offset:
                return found
        return None

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
