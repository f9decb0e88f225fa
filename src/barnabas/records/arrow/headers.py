"""The headers of records as a column: a list of key and value, null for a record without any.

A key that is not UTF-8 comes with replacement characters, as Java's consumer gives it to Spark.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from barnabas.ports import Buffer
from barnabas.records.arrow.binary import gather
from barnabas.records.arrow.varints import Bytes, IntArray, Ints, read_varints
from barnabas.records.errors import TooLargeError
from barnabas.records.varint import read_varint

_ENTRY = pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])
_HEADERS_MAX = 1 << 24  # at once: the smallest take thirty times their bytes as columns
_FEW = 16  # records whose headers are still read one by one, when the others have no more
HEADERS: pa.Field = pa.field("headers", pa.list_(pa.field("element", _ENTRY)))


def headers_column(data: Buffer, starts: Ints, ends: Ints) -> pa.Array:
    """`starts` are the positions of the header counts of records that have been found sound."""
    counts, positions = read_varints(np.frombuffer(data, np.uint8), starts, ends)
    if counts.sum() > _HEADERS_MAX:
        raise TooLargeError(f"There are more than {_HEADERS_MAX} headers to read at once")
    offsets = np.zeros(len(counts) + 1, np.int32)
    np.cumsum(counts, out=offsets[1:])
    key_start, key_length, value_start, value_length = _find(data, counts, positions, ends, offsets)
    entries = pa.StructArray.from_arrays(
        [_text(gather(data, key_start, key_length)), gather(data, value_start, value_length)],
        fields=list(_ENTRY),
    )
    is_empty = counts == 0
    mask = pa.array(is_empty) if is_empty.any() else None
    return pa.ListArray.from_arrays(pa.array(offsets), entries, type=HEADERS.type, mask=mask)


def _find(data: Buffer, counts: Ints, positions: Ints, ends: Ints, offsets: IntArray) -> IntArray:
    """Key start and length, value start and length (negative: null) of each header, as four rows.

    In rounds: the first header of every record that has one, then the second…
    """
    array = np.frombuffer(data, np.uint8)
    found = np.empty((4, offsets[-1]), np.int64)
    active = np.flatnonzero(counts)
    done = 0
    while active.size > _FEW:
        fields, positions[active] = _next(array, positions[active], ends[active])
        found[:, offsets[active] + done] = fields
        done += 1
        active = active[counts[active] > done]
    for record in active.tolist():
        rest = slice(offsets[record] + done, offsets[record + 1])
        found[:, rest] = _rest(data, int(positions[record]), int(counts[record]) - done)
    return found


def _next(data: Bytes, positions: Ints, ends: Ints) -> tuple[tuple[Ints, ...], Ints]:
    key_length, key_start = read_varints(data, positions, ends)
    value_length, value_start = read_varints(data, key_start + key_length, ends)
    return (key_start, key_length, value_start, value_length), value_start + np.maximum(value_length, 0)


def _rest(data: Buffer, position: int, count: int) -> IntArray:
    pieces = np.empty((count, 4), np.int64)
    for index in range(count):
        key_length, key_start = read_varint(data, position)
        value_length, value_start = read_varint(data, key_start + key_length)
        pieces[index] = key_start, key_length, value_start, value_length
        position = value_start + max(value_length, 0)
    return pieces.T


def _text(keys: pa.Array) -> pa.Array:
    try:
        return keys.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([key.decode(errors="replace") for key in keys.to_pylist()], pa.string())
