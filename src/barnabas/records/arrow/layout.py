"""Records laid out byte by byte from columns, in C where that was built, in Python otherwise.

All records have the timestamp of their batch, so the timestamp delta is 0.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from barnabas.records.arrow import layout_reference, native
from barnabas.records.arrow.columns import Columns
from barnabas.records.arrow.varints import Ints, sizes_of_varints
from barnabas.records.batch import HEADER_SIZE
from barnabas.records.errors import TooLargeError

_OVERHEAD_MAX = 22  # four varints of five bytes, attributes and timestamp delta; headers bring their count
_NO_BYTES: Ints = np.zeros(0, np.int64)


def check_sizes(columns: Columns, room: int) -> None:
    """A record that `room` cannot hold is a TooLargeError."""
    if _largest(columns) <= room:
        return
    bodies = columns.body_sizes() + 1  # the offset delta of a record that is alone
    sizes = bodies + sizes_of_varints(bodies)
    row = int(sizes.argmax())
    if sizes[row] > room:
        raise TooLargeError(
            f"The record at row {row} takes {sizes[row] + HEADER_SIZE} bytes in a batch of its own, "
            f"which is more than the {room + HEADER_SIZE} of the largest request"
        )


def payloads(columns: Columns, room: int) -> Iterator[tuple[memoryview, int]]:
    """The records of each batch, and their number: as many as fit into `room` bytes, and one at least.

    A payload is good until the next one is asked for.
    """
    if native.lay_out is None:
        yield from layout_reference.payloads(columns, room)
        return
    keys, values, headers = columns
    pieces = (*keys.pieces, *values.pieces, *((_NO_BYTES,) * 3 if headers is None else headers.pieces))
    row_count = len(values.array)
    scratch = memoryview(bytearray(max(min(room, _total(columns)), 0)))
    row = 0
    while row < row_count:
        out = scratch
        count, size = native.lay_out(*pieces, out, row, row_count)
        if count == 0:  # larger than a batch should be: it gets one of its own
            out = memoryview(bytearray(_largest(columns.part(row, row + 1))))
            count, size = native.lay_out(*pieces, out, row, row + 1)
        yield out[:size], count
        row += count


def _largest(columns: Columns) -> int:
    """No record takes more bytes than this."""
    return sum((int(length.max(initial=0)) for length in _lengths(columns)), _OVERHEAD_MAX)


def _total(columns: Columns) -> int:
    """All records together do not take more bytes than this."""
    content = sum(int(length.sum(where=length > 0)) for length in _lengths(columns))
    return content + len(columns.values.array) * _OVERHEAD_MAX


def _lengths(columns: Columns) -> list[Ints]:
    return [column.pieces.length for column in columns if column is not None]
