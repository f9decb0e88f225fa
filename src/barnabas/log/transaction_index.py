"""`.txnindex`: the aborted transactions whose markers lie in a segment, in the order of the markers.

34 bytes each: version 0, producer id, first offset, last offset (the marker's), and the last stable offset
when the marker was written, which tells a search where it may stop. The file appears with the first entry.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterator
from typing import NamedTuple

from barnabas.ports import File, Filesystem

SUFFIX = ".txnindex"
_ENTRY = struct.Struct(">hqqqq")
_VERSION = 0
_ENTRIES_PER_READ = 64


class AbortedTransaction(NamedTuple):
    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class SearchResult(NamedTuple):
    """`complete`: no later segment can hold more for this range."""

    aborted: list[AbortedTransaction]
    complete: bool


class CorruptTransactionIndexError(Exception):
    """The file contradicts itself or its segment; it is rebuilt from the log."""


class TransactionIndex:
    def __init__(self, fs: Filesystem, path: str, start_offset: int) -> None:
        self._fs = fs
        self._path = path
        self._start_offset = start_offset
        self._file: File | None = fs.open(path) if fs.exists(path) else None
        self._last_offset: int | None = None

    @property
    def path(self) -> str:
        return self._path

    def append(self, aborted: AbortedTransaction) -> None:
        last_offset = self._last_offset
        assert last_offset is None or last_offset < aborted.last_offset, (last_offset, aborted)
        if self._file is None:
            self._file = self._fs.open(self._path, create=True)
        self._file.append([_ENTRY.pack(_VERSION, *aborted)])
        self._last_offset = aborted.last_offset

    def all(self) -> list[AbortedTransaction]:
        return [AbortedTransaction(*row[1:]) for row in _ENTRY.iter_unpack(self._whole_entries())]

    def collect(self, fetch_offset: int, upper_bound_offset: int) -> SearchResult:
        """Those that overlap [fetch_offset, upper_bound_offset). Every committed reader's fetch asks, so no
        more of the file is read than it takes: markers stand in the order of their offsets."""
        found: list[AbortedTransaction] = []
        for one in self._from(self._first_that_ends_at(fetch_offset)):
            if one.first_offset < upper_bound_offset:
                found.append(one)
            if one.last_stable_offset >= upper_bound_offset:
                return SearchResult(found, complete=True)
        return SearchResult(found, complete=False)

    def _first_that_ends_at(self, offset: int) -> int:
        """The position of the first entry whose marker stands at `offset` or later."""
        low, high = 0, self._count()
        while low < high:
            middle = (low + high) // 2
            (one,) = self._read(middle, 1)
            if one.last_offset < offset:
                low = middle + 1
            else:
                high = middle
        return low

    def _from(self, position: int) -> Iterator[AbortedTransaction]:
        count = self._count()
        while position < count:
            rows = self._read(position, min(_ENTRIES_PER_READ, count - position))
            yield from rows
            position += len(rows)

    def _count(self) -> int:
        return 0 if self._file is None else self._file.size() // _ENTRY.size

    def _read(self, position: int, count: int) -> list[AbortedTransaction]:
        assert self._file is not None
        data = self._file.read(position * _ENTRY.size, count * _ENTRY.size)
        return [AbortedTransaction(*row[1:]) for row in _ENTRY.iter_unpack(data)]

    def check(self) -> None:
        """Raise CorruptTransactionIndexError if this cannot have been written for this segment."""
        size = self._file.size() if self._file is not None else 0
        if size % _ENTRY.size:
            raise CorruptTransactionIndexError(f"{self._path} has {size} bytes, no whole number of entries")
        last_offset = self._start_offset - 1
        for version, *fields in _ENTRY.iter_unpack(self._whole_entries()):
            one = AbortedTransaction(*fields)
            if version != _VERSION or not one.first_offset < one.last_offset > last_offset:
                raise CorruptTransactionIndexError(
                    f"Entry {one} of version {version} in {self._path}, which starts at offset "
                    f"{self._start_offset}"
                )
            last_offset = one.last_offset

    def truncate_to(self, offset: int) -> None:
        """Forget transactions whose marker is at `offset` or later."""
        kept = [one for one in self.all() if one.last_offset < offset]
        if self._file is not None:
            self._file.truncate(len(kept) * _ENTRY.size)
        self._last_offset = kept[-1].last_offset if kept else None

    def reset(self) -> None:
        if self._file is not None:
            self._file.truncate(0)
        self._last_offset = None

    def sync(self) -> None:
        if self._file is not None:
            self._file.sync()

    def rename_to(self, path: str) -> None:
        if self._file is not None:
            self._fs.rename(self._path, path)
        self._path = path

    def moved_to(self, directory: str) -> None:
        """The log's directory was renamed."""
        self._path = f"{directory}/{self._path.rpartition('/')[2]}"

    def remove(self) -> None:
        self.close()
        with contextlib.suppress(FileNotFoundError):
            self._fs.remove(self._path)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _whole_entries(self) -> bytes:
        if self._file is None:
            return b""
        size = self._file.size()
        return self._file.read(0, size - size % _ENTRY.size)
