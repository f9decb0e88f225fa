"""The segment that compaction writes: `<base>.log.cleaned` and its three indexes."""

from __future__ import annotations

import contextlib
import struct

from barnabas.log.cleaning.retention import Kept
from barnabas.log.names import (
    CLEANED,
    INDEX,
    LOG,
    SEGMENT_SUFFIXES,
    TIME_INDEX,
    TRANSACTION_INDEX,
    offset_file,
)
from barnabas.log.transaction_index import TransactionIndex
from barnabas.ports import Buffer, Filesystem
from barnabas.records.batch import NO_TIMESTAMP
from barnabas.records.errors import CorruptRecordsError

_WRITE_BYTES = 1 << 20
_RELATIVE_OFFSET_MAX = 2**31 - 1
_INDEX_ENTRY = struct.Struct(">ii")
_TIME_ENTRY = struct.Struct(">qi")


def segment_path(directory: str, base_offset: int, suffix: str) -> str:
    return f"{directory}/{offset_file(base_offset, suffix)}"


class CleanedSegment:
    def __init__(self, fs: Filesystem, directory: str, base_offset: int, index_interval_bytes: int) -> None:
        self._fs = fs
        self._directory = directory
        self._base_offset = base_offset
        self._index_interval_bytes = index_interval_bytes
        for suffix in SEGMENT_SUFFIXES:  # what an abandoned attempt left behind
            with contextlib.suppress(FileNotFoundError):
                fs.remove(self._path(suffix))
        self._file = fs.open(self._path(LOG), create=True)
        self._transaction_index = TransactionIndex(fs, self._path(TRANSACTION_INDEX), base_offset)
        self._parts: list[Buffer] = []
        self._waiting_bytes = 0
        self._bytes_since_entry = 0
        self._index = bytearray()
        self._time_index = bytearray()
        self._max_timestamp = (NO_TIMESTAMP, base_offset)
        self._time_indexed = NO_TIMESTAMP
        self.size = 0

    def _path(self, suffix: str) -> str:
        return segment_path(self._directory, self._base_offset, suffix) + CLEANED

    def add(self, kept: Kept, last_offset: int) -> None:
        if last_offset - self._base_offset > _RELATIVE_OFFSET_MAX:
            raise CorruptRecordsError(f"Offset {last_offset} cannot be in segment {self._base_offset}")
        if kept.aborted is not None:
            self._transaction_index.append(kept.aborted)
        if kept.max_timestamp_ms > self._max_timestamp[0]:
            self._max_timestamp = (kept.max_timestamp_ms, last_offset)
        if self._bytes_since_entry > self._index_interval_bytes:
            self._index += _INDEX_ENTRY.pack(last_offset - self._base_offset, self.size)
            self._add_time_entry()
            self._bytes_since_entry = 0
        length = len(kept.data)
        self._bytes_since_entry += length
        self._waiting_bytes += length
        self.size += length
        self._parts.append(kept.data)
        if self._waiting_bytes >= _WRITE_BYTES:
            self._write()

    def _add_time_entry(self) -> None:
        timestamp_ms, offset = self._max_timestamp
        if timestamp_ms > self._time_indexed:
            self._time_index += _TIME_ENTRY.pack(timestamp_ms, offset - self._base_offset)
            self._time_indexed = timestamp_ms

    def _write(self) -> None:
        self._file.append(self._parts)
        self._parts = []
        self._waiting_bytes = 0

    def finish(self) -> None:
        """Everything durable, names included: what is swapped in later replaces the only other copy."""
        self._write()
        self._file.sync()
        self._add_time_entry()
        for suffix, content in ((INDEX, self._index), (TIME_INDEX, self._time_index)):
            file = self._fs.open(self._path(suffix), create=True)
            file.append([content])
            file.sync()
            file.close()
        self._transaction_index.sync()
        self._fs.sync_directory(self._directory)

    def close(self) -> None:
        self._file.close()
        self._transaction_index.close()
