"""`<offset>.snapshot`: the producers of a partition as of an offset, in Kafka's bytes.

Version (int16), CRC-32C of the rest (uint32), count (int32), then one row per producer. Nothing is lost with
a bad file: an older snapshot and the log behind it give the same state.
"""

from __future__ import annotations

import struct
from bisect import bisect_left, insort
from collections.abc import Collection, Iterable

from crc32c import crc32c

from barnabas.log.producer_entry import NO_OFFSET, BatchInfo, ProducerEntry
from barnabas.ports import Filesystem

SUFFIX = ".snapshot"
_DELETED_SUFFIX = ".deleted"
_VERSION = 1
_HEADER = struct.Struct(">hI")
_COUNT = struct.Struct(">i")
# producer id, epoch, last sequence, last offset, offset delta, timestamp, coordinator epoch, the first
# offset of the open transaction
_ROW = struct.Struct(">qhiqiqiq")


class CorruptSnapshotError(Exception):
    """The bytes are no snapshot; the sentence says why."""


def encode(entries: Iterable[ProducerEntry]) -> bytes:
    rows = [
        _ROW.pack(
            entry.producer_id,
            entry.epoch,
            entry.last_sequence,
            entry.last_data_offset,
            entry.last_offset_delta,
            entry.last_timestamp_ms,
            entry.coordinator_epoch,
            entry.transaction_first_offset,
        )
        for entry in entries
    ]
    body = _COUNT.pack(len(rows)) + b"".join(rows)
    return _HEADER.pack(_VERSION, crc32c(body)) + body


def decode(data: bytes) -> list[ProducerEntry]:
    if len(data) < _HEADER.size + _COUNT.size:
        raise CorruptSnapshotError(f"Snapshot has only {len(data)} bytes")
    version, stored_crc = _HEADER.unpack_from(data)
    if version != _VERSION:
        raise CorruptSnapshotError(f"Snapshot contained an unknown file version {version}")
    body = memoryview(data)[_HEADER.size :]
    if crc32c(body) != stored_crc:
        raise CorruptSnapshotError("Snapshot is corrupt (CRC is no longer valid)")
    (count,) = _COUNT.unpack_from(body)
    if len(body) != _COUNT.size + count * _ROW.size:
        raise CorruptSnapshotError(f"Snapshot of {count} producers has {len(data)} bytes")
    return [_entry(row) for row in _ROW.iter_unpack(body[_COUNT.size :])]


def _entry(row: tuple[int, ...]) -> ProducerEntry:
    producer_id, epoch, last_sequence, last_offset, offset_delta, timestamp_ms, coordinator_epoch, first = row
    entry = ProducerEntry(producer_id, epoch, coordinator_epoch, timestamp_ms, max(first, NO_OFFSET))
    if last_offset >= 0:
        entry.batches.append(BatchInfo(last_sequence, last_offset, offset_delta, timestamp_ms))
    return entry


class SnapshotFiles:
    """The snapshot files of one partition's directory, by offset. A new directory has none to look for."""

    def __init__(self, fs: Filesystem, directory: str, *, is_new: bool = False) -> None:
        self._fs = fs
        self._directory = directory
        self._offsets: list[int] = []
        if not is_new:
            self.rescan()

    @property
    def offsets(self) -> tuple[int, ...]:
        return tuple(self._offsets)

    def rescan(self) -> None:
        names = self._fs.list(self._directory) if self._fs.is_directory(self._directory) else []
        stems = [name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX)]
        self._offsets = sorted(int(stem) for stem in stems if stem.isascii() and stem.isdigit())

    def latest(self) -> int | None:
        return self._offsets[-1] if self._offsets else None

    def oldest(self) -> int | None:
        return self._offsets[0] if self._offsets else None

    def path(self, offset: int) -> str:
        return f"{self._directory}/{offset:020d}{SUFFIX}"

    def read(self, offset: int) -> list[ProducerEntry]:
        return decode(self._fs.read_bytes(self.path(offset)))

    def write(self, offset: int, entries: Iterable[ProducerEntry], *, sync: bool) -> str:
        path = self.path(offset)
        file = self._fs.open(path, create=True)
        try:
            file.truncate(0)
            file.append([encode(entries)])
            if sync:
                file.sync()
        finally:
            file.close()
        if offset not in self._offsets:
            insort(self._offsets, offset)
        return path

    def remove(self, offset: int) -> None:
        self._forget(offset)
        try:
            self._fs.remove(self.path(offset))
        except FileNotFoundError:
            return

    def mark_deleted(self, offset: int) -> str | None:
        """Rename out of the way; the caller removes the returned path after file.delete.delay.ms."""
        if not self._forget(offset):
            return None
        target = self.path(offset) + _DELETED_SUFFIX
        try:
            self._fs.rename(self.path(offset), target)
        except FileNotFoundError:
            return None
        return target

    def remove_where(self, offsets: Iterable[int]) -> None:
        for offset in list(offsets):
            self.remove(offset)

    def remove_strays(self, segment_base_offsets: Collection[int]) -> None:
        """Keep the snapshots at the start of a segment, and the one of the last shutdown, which is past
        every segment's start."""
        self.rescan()
        strays = [offset for offset in self._offsets if offset not in segment_base_offsets]
        if strays and (not segment_base_offsets or strays[-1] >= max(segment_base_offsets)):
            strays.pop()
        self.remove_where(strays)

    def move_to(self, directory: str) -> None:
        self._directory = directory

    def _forget(self, offset: int) -> bool:
        place = bisect_left(self._offsets, offset)
        if place == len(self._offsets) or self._offsets[place] != offset:
            return False
        del self._offsets[place]
        return True
