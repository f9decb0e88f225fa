"""Records laid out from columns, in numpy and Arrow; `layout.py` says when."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from barnabas.records.arrow.binary import pieces_of, varint_column
from barnabas.records.arrow.columns import Columns, join
from barnabas.records.arrow.varints import Ints, sizes_of_varints

_ATTRIBUTES_AND_TIMESTAMP_DELTA = b"\0\0"
_NO_HEADERS = b"\0"
_STRETCH_BYTES = 16 << 20  # of records laid out at once, if a single batch does not need more


def payloads(columns: Columns, room: int) -> Iterator[tuple[memoryview, int]]:
    """The records of each batch, and their number: as many as fit into `room` bytes, and one at least."""
    bodies = columns.body_sizes()
    for bounds in _stretches(bodies, room):
        yield from _payloads(columns, bodies, bounds)


def _stretches(bodies: Ints, room: int) -> Iterator[list[int]]:
    """Bounds of neighbouring batches that are laid out together: numpy and Arrow ask for long columns."""
    bounds, size = [0], 0
    for end, batch_size in _bounds(bodies, room):
        bounds.append(end)
        size += batch_size
        if size >= _STRETCH_BYTES:
            yield bounds
            bounds, size = [end], 0
    if size:
        yield bounds


def _bounds(bodies: Ints, room: int) -> Iterator[tuple[int, int]]:
    """Where each batch ends, and the bytes of its records: as many as fit into `room`, and one at least."""
    at_least = np.cumsum(bodies + 2)  # a byte for the length and a byte for the offset delta
    start, before = 0, 0
    while start < len(bodies):
        most = max(int(np.searchsorted(at_least, before + room, "right")), start + 1)
        with_delta = bodies[start:most] + sizes_of_varints(np.arange(most - start))
        ends = np.cumsum(with_delta + sizes_of_varints(with_delta))
        count = max(int(np.searchsorted(ends, room, "right")), 1)
        start += count
        before = int(at_least[start - 1])
        yield start, int(ends[count - 1])


def _payloads(columns: Columns, bodies: Ints, bounds: list[int]) -> Iterator[tuple[memoryview, int]]:
    first, last = bounds[0], bounds[-1]
    counts = np.diff(bounds)
    offset_delta = np.arange(first, last) - np.repeat(bounds[:-1], counts)
    body = bodies[first:last] + sizes_of_varints(offset_delta)
    content, ends = _lay_out(columns.part(first, last), body, offset_delta)
    start = 0
    for bound, count in zip(bounds[1:], counts.tolist(), strict=True):
        end = int(ends[bound - first - 1])
        yield content[start:end], count
        start = end


def _lay_out(columns: Columns, body: Ints, offset_delta: Ints) -> tuple[memoryview, Ints]:
    """The records in a row, and where each ends; `body` is the size behind the length."""
    keys, values, headers = columns
    records = pieces_of(
        join(
            varint_column(body, _ATTRIBUTES_AND_TIMESTAMP_DELTA, offset_delta, keys.pieces.length),
            *([keys.without_nulls()] if (keys.pieces.length > 0).any() else []),
            varint_column(values.pieces.length),
            values.without_nulls(),
            pa.scalar(_NO_HEADERS, pa.binary()) if headers is None else headers.array,
        )
    )
    return records.data.data, records.start + records.length
