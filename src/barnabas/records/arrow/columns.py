"""Rows to be written, as columns of bytes: keys, values and headers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from barnabas.model.errors import ErrorCode
from barnabas.records.arrow.binary import Pieces, binary_of, pieces_of, varint_column
from barnabas.records.arrow.varints import Ints, sizes_of_varints
from barnabas.records.errors import RejectedRecordsError

_ATTRIBUTES_AND_TIMESTAMP_DELTA = 2  # a byte each: the first is unused, the second 0


class Column(NamedTuple):
    """The same bytes, as Arrow and as numpy see them."""

    array: pa.Array
    pieces: Pieces

    def part(self, start: int, end: int) -> Column:
        data, starts, lengths = self.pieces
        return Column(self.array[start:end], Pieces(data, starts[start:end], lengths[start:end]))

    def without_nulls(self) -> pa.Array:
        binary = self.array.cast(pa.binary())
        return binary.fill_null(b"") if binary.null_count else binary


class Columns(NamedTuple):
    keys: Column
    values: Column
    headers: Column | None  # as they are written, their count before them; None: no record has any

    def part(self, start: int, end: int) -> Columns:
        headers = None if self.headers is None else self.headers.part(start, end)
        return Columns(self.keys.part(start, end), self.values.part(start, end), headers)

    def body_sizes(self) -> Ints:
        """Bytes of each record behind its own length, all but the offset delta."""
        sizes = np.full(len(self.values.array), _ATTRIBUTES_AND_TIMESTAMP_DELTA, np.int64)
        for column in (self.keys, self.values):
            sizes += sizes_of_varints(column.pieces.length) + np.maximum(column.pieces.length, 0)
        return sizes + (1 if self.headers is None else self.headers.pieces.length)


def columns_of(keys: pa.Array | None, values: pa.Array, headers: pa.Array | None) -> Columns:
    count = len(values)
    if (keys is not None and len(keys) != count) or (headers is not None and len(headers) != count):
        raise ValueError("Keys, values and headers must be of equal number")
    return Columns(
        _column(pa.nulls(count, pa.binary()) if keys is None else keys),
        _column(values),
        None if headers is None else _written_headers(headers),
    )


def _column(array: pa.Array) -> Column:
    return Column(array, pieces_of(array))


def join(*pieces: pa.Array | pa.Scalar) -> pa.Array:
    return pc.binary_join_element_wise(*pieces, pa.scalar(b"", pa.binary()))


def _written_headers(headers: pa.Array) -> Column | None:
    counts: Ints = pc.list_value_length(headers).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    entries = headers.flatten()
    if not len(entries):
        return None
    if entries.null_count or entries.field(0).null_count:
        raise RejectedRecordsError(ErrorCode.INVALID_RECORD, "A header must have a key that is not null")
    keys, values = map(_column, entries.flatten())
    written = pieces_of(
        join(
            varint_column(keys.pieces.length),
            keys.without_nulls(),
            varint_column(values.pieces.length),
            values.without_nulls(),
        )
    )
    before_entry = np.concatenate([[0], np.cumsum(written.length)])
    before_record = before_entry[np.concatenate([[0], np.cumsum(counts)])]
    return _column(join(varint_column(counts), binary_of(written.data, np.diff(before_record))))
