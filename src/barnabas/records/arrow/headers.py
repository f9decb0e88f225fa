"""The headers of records as a column: a list of key and value, null for a record without any.

A key that is not UTF-8 comes with replacement characters, as Java's consumer gives it to Spark.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from barnabas.ports import Buffer
from barnabas.records.arrow.binary import gather
from barnabas.records.arrow.varints import Ints
from barnabas.records.varint import read_varint

_ENTRY = pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])
HEADERS: pa.Field = pa.field("headers", pa.list_(pa.field("element", _ENTRY)))


def headers_column(data: Buffer, starts: Ints, ends: Ints) -> pa.Array:
    """`starts` are the positions of the header counts of records that have been found sound."""
    offsets = np.zeros(len(starts) + 1, np.int32)
    pieces: list[int] = []  # key start, key length, value start, value length (-1: null) of each header
    with_headers = np.flatnonzero(ends - starts > 1)
    for record, start in zip(with_headers.tolist(), starts[with_headers].tolist(), strict=True):
        offsets[record + 1] = _read(data, start, pieces)
    is_empty = offsets[1:] == 0
    np.cumsum(offsets, out=offsets)
    columns = np.array(pieces, np.int64).reshape(-1, 4).T
    entries = pa.StructArray.from_arrays(
        [_text(gather(data, columns[0], columns[1])), gather(data, columns[2], columns[3])],
        fields=list(_ENTRY),
    )
    return pa.ListArray.from_arrays(
        pa.array(offsets), entries, type=HEADERS.type, mask=pa.array(is_empty) if is_empty.any() else None
    )


def _read(data: Buffer, position: int, pieces: list[int]) -> int:
    count, position = read_varint(data, position)
    for _ in range(count):
        length, position = read_varint(data, position)
        pieces += (position, length)
        length, position = read_varint(data, position + length)
        pieces += (position, length)
        position += max(length, 0)
    return count


def _text(keys: pa.Array) -> pa.Array:
    try:
        return keys.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([key.decode(errors="replace") for key in keys.to_pylist()], pa.string())
