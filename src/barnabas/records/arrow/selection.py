"""Which batches of a Fetch response have rows to give, and where their records lie, uncompressed.

Read committed is what Kafka's consumer does: an aborted transaction of a producer begins to count with the
first batch that ends at or behind its first offset, and ends with the producer's abort marker; in between the
producer's transactional batches are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from barnabas.ports import Buffer
from barnabas.records.arrow.scratch import Scratch
from barnabas.records.batch import (
    HEADER_SIZE,
    BatchHeader,
    check_crc,
    headers,
)
from barnabas.records.compress import Codec
from barnabas.records.control import EndTransactionMarker, parse_control, plain_marker
from barnabas.records.errors import CorruptRecordsError, MalformedRecordsError, TooLargeError
from barnabas.records.varint import INT32_MAX, INT64_MAX
from barnabas.records.walk import SMALLEST_RECORD_SIZE, records_of

# producer id -> first offsets of its aborted transactions, as the Fetch response lists them
Aborted: TypeAlias = Mapping[int, Sequence[int]]

_ROW_BYTES = 100  # of a row beside its own bytes, while it becomes columns: the smallest records take most
_MARKER_SIZE_MAX = 1 << 20  # of a control batch, uncompressed; real ones have less than a hundred bytes


class Region(NamedTuple):
    """The records of one batch: the bytes [start, end) of the selection's data."""

    start: int
    end: int
    header: BatchHeader


class Selection(NamedTuple):
    data: Buffer
    regions: list[Region]
    next_offset: int


class Limits(NamedTuple):
    """Bytes of records, uncompressed and as columns."""

    part: int  # a selection that has as many is complete
    whole: int  # a selection never has more, and neither has a batch


def select(
    view: memoryview,
    first_offset: int,
    end_offset: int,
    aborted: Aborted | None,
    limits: Limits,
    scratch: Scratch,
) -> Iterator[Selection]:
    """One selection, or several where one would take more than a part; the last may have no regions. The data
    of one is good until the next is asked for."""
    if len(view) > INT32_MAX:
        raise TooLargeError(
            f"A buffer of {len(view)} bytes is more than {INT32_MAX}, all that can be read at once"
        )
    transactions = None if aborted is None else _AbortedTransactions(aborted)
    gathered = _Gathered(view, limits, scratch)
    next_offset = first_offset
    for position, header in headers(view, 0, len(view)):
        _check_offsets(header)
        if header.base_offset >= end_offset:
            next_offset = max(next_offset, header.base_offset)  # nothing is left before the end: say so
            break
        check_crc(view, position, header)
        left_out = transactions is not None and transactions.leave_out(view, position, header)
        wanted = not left_out and not header.is_control and header.last_offset >= first_offset
        if wanted and not gathered.add(position, header):
            yield Selection(gathered.data(), gathered.regions, next_offset)
            gathered = _Gathered(view, limits, scratch)
            gathered.add(position, header)
        next_offset = max(next_offset, header.next_offset)
    yield Selection(gathered.data(), gathered.regions, next_offset)


def _check_offsets(header: BatchHeader) -> None:
    if header.base_offset < 0 or header.last_offset_delta < 0 or header.last_offset >= INT64_MAX:
        raise CorruptRecordsError(
            f"A batch cannot have base offset {header.base_offset} "
            f"and last offset delta {header.last_offset_delta}"
        )


class _Gathered:
    """Payloads in one buffer: the response itself while nothing in it is compressed, else the scratch."""

    def __init__(self, view: memoryview, limits: Limits, scratch: Scratch) -> None:
        self.regions: list[Region] = []
        self._view = view
        self._limits = limits
        self._scratch = scratch
        self._is_unpacked = False
        self._size = 0
        self._row_bytes = 0

    def add(self, position: int, header: BatchHeader) -> bool:
        """False if there is no room beside the others; a TooLargeError if there is none even for it alone."""
        if header.count < 0:
            raise MalformedRecordsError(f"A batch cannot have {header.count} records")
        if self.regions and self._size + self._row_bytes >= self._limits.part:
            return False
        try:
            if header.codec == Codec.NONE:
                self._add_plain(position, header)
            else:
                self._add_compressed(position, header)
        except TooLargeError:
            if not self.regions:
                raise
            return False
        self._row_bytes += header.count * _ROW_BYTES
        return True

    def _room(self, header: BatchHeader) -> int:
        """For the records of the next batch. Positions must fit into the 32 bits of Arrow's offsets."""
        limit = min(self._limits.whole, INT32_MAX)
        room = limit - self._size - self._row_bytes - header.count * _ROW_BYTES
        if room < 0:
            raise TooLargeError(f"The {header.count} records of the batch take more than {limit} bytes")
        return room

    def data(self) -> Buffer:
        return self._scratch.content[: self._size] if self._is_unpacked else self._view

    def _add_plain(self, position: int, header: BatchHeader) -> None:
        start, end = position + HEADER_SIZE, position + header.size
        _check_count(header, end - start)
        if end - start > self._room(header):
            raise TooLargeError(f"The records of the batch take {end - start} bytes, more than fit")
        if self._is_unpacked:
            self._append(self._scratch.put(self._size, self._view[start:end]), header)
            return
        self.regions.append(Region(start, end, header))
        self._size += end - start

    def _add_compressed(self, position: int, header: BatchHeader) -> None:
        packed = self._view[position + HEADER_SIZE : position + header.size]
        if not self._is_unpacked:
            self._copy_plain()
        self._append(self._scratch.unpack(self._size, header.codec, packed, self._room(header)), header)

    def _copy_plain(self) -> None:
        """The first compressed batch: what came before moves to the common buffer."""
        regions, self.regions, self._is_unpacked, self._size = self.regions, [], True, 0
        for start, end, header in regions:
            self._append(self._scratch.put(self._size, self._view[start:end]), header)

    def _append(self, size: int, header: BatchHeader) -> None:
        _check_count(header, size)
        self.regions.append(Region(self._size, self._size + size, header))
        self._size += size


def _check_count(header: BatchHeader, size: int) -> None:
    if header.count * SMALLEST_RECORD_SIZE > size:
        raise MalformedRecordsError(f"A batch of {header.count} records has only {size} bytes for them")
    if header.count == 0 < size:
        raise MalformedRecordsError("Incorrect declared batch size, records still remaining in file")


class _AbortedTransactions:
    def __init__(self, aborted: Aborted) -> None:
        begins = ((offset, producer_id) for producer_id, offsets in aborted.items() for offset in offsets)
        self._waiting = sorted(begins, reverse=True)
        self._producers: set[int] = set()

    def leave_out(self, view: memoryview, position: int, header: BatchHeader) -> bool:
        if not header.has_producer_id:
            return False
        while self._waiting and self._waiting[-1][0] <= header.last_offset:
            self._producers.add(self._waiting.pop()[1])
        if header.producer_id not in self._producers:
            return False
        if header.is_control and _is_abort(view, position, header):
            self._producers.discard(header.producer_id)
        return header.is_transactional


def _is_abort(view: memoryview, position: int, header: BatchHeader) -> bool:
    marker = plain_marker(view, position, header)
    if marker is None:
        first = next(records_of(view, position, header, _MARKER_SIZE_MAX), None)
        control = None if first is None else parse_control(first)
        return isinstance(control, EndTransactionMarker) and not control.committed
    return not marker.committed
