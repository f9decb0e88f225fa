"""Records laid out byte by byte from columns: the inverse of `fields.py`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from barnabas.model.errors import ErrorCode
from barnabas.records.arrow.binary import parts_of
from barnabas.records.arrow.varints import LONGEST_VARINT, Bools, Bytes, Ints, sizes_of_varints, write_varints
from barnabas.records.errors import RejectedRecordsError, TooLargeError
from barnabas.records.varint import INT32_MAX

_ATTRIBUTES_AND_TIMESTAMP_DELTA = 2  # a byte each: the first is unused, the second 0
_NO_HEADERS = b"\0"
_NULL = -1


class Columns(NamedTuple):
    """The columns, and their lengths as they are written: -1 for null."""

    keys: pa.Array | None  # None: not a byte in any of them
    key_length: Ints
    values: pa.Array
    value_length: Ints
    headers: pa.Array | None  # encoded, count included

    def part(self, start: int, end: int) -> Columns:
        count = end - start
        return Columns(
            None if self.keys is None else self.keys.slice(start, count),
            self.key_length[start:end],
            self.values.slice(start, count),
            self.value_length[start:end],
            None if self.headers is None else self.headers.slice(start, count),
        )


def columns_of(keys: pa.Array | None, values: pa.Array, headers: pa.Array | None) -> Columns:
    count = len(values)
    if (keys is not None and len(keys) != count) or (headers is not None and len(headers) != count):
        raise ValueError("Keys, values and headers must be of equal number")
    key_length = np.full(count, _NULL, np.int64) if keys is None else _written_lengths(keys)
    return Columns(
        keys if (key_length > 0).any() else None,
        key_length,
        values,
        _written_lengths(values),
        None if headers is None else _headers(headers),
    )


def body_sizes(columns: Columns) -> Ints:
    """Bytes of each record behind its own length, all but the offset delta."""
    sizes = np.full(len(columns.value_length), _ATTRIBUTES_AND_TIMESTAMP_DELTA, np.int64)
    for length in (columns.key_length, columns.value_length):
        sizes += sizes_of_varints(length) + np.maximum(length, 0)
    return sizes + (len(_NO_HEADERS) if columns.headers is None else parts_of(columns.headers).length)


def lay_out(columns: Columns, body_size: Ints, offset_delta: Ints) -> tuple[memoryview, Ints]:
    """The records in a row, and where each ends; `body_size` includes the offset delta."""
    before_key = _varint_column(body_size, b"\0\0", offset_delta, columns.key_length)
    before_value = _varint_column(columns.value_length)
    headers = pa.scalar(_NO_HEADERS, pa.binary()) if columns.headers is None else columns.headers
    keys = [] if columns.keys is None else [_without_nulls(columns.keys)]
    records = parts_of(_join(before_key, *keys, before_value, _without_nulls(columns.values), headers))
    return records.data.data, records.start + records.length


def _join(*pieces: pa.Array | pa.Scalar) -> pa.Array:
    return pc.binary_join_element_wise(*pieces, pa.scalar(b"", pa.binary()))


def _varint_column(*parts: Ints | bytes) -> pa.Array:
    """Each element: these numbers as varints, and these bytes as they are, in a row."""
    count = next(len(part) for part in parts if not isinstance(part, bytes))
    width = sum(len(part) if isinstance(part, bytes) else LONGEST_VARINT for part in parts)
    content: Bytes = np.empty((count, width), np.uint8)
    meant: Bools = np.ones((count, width), np.bool_)
    at = 0
    for part in parts:
        if isinstance(part, bytes):
            content[:, at : at + len(part)] = np.frombuffer(part, np.uint8)
            at += len(part)
        else:
            meant[:, at : at + LONGEST_VARINT] = write_varints(content[:, at : at + LONGEST_VARINT], part)
            at += LONGEST_VARINT
    return _binary(content[meant], meant.sum(axis=1))


def _binary(data: Bytes, lengths: Ints) -> pa.Array:
    if len(data) > INT32_MAX:
        raise TooLargeError(
            f"Headers of {len(data)} bytes are more than {INT32_MAX}, all that fit into a column"
        )
    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    return pa.Array.from_buffers(pa.binary(), len(lengths), [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def _written_lengths(array: pa.Array) -> Ints:
    _, _, length, is_null = parts_of(array)
    return length if is_null is None else np.where(is_null, _NULL, length)


def _without_nulls(array: pa.Array) -> pa.Array:
    binary = array.cast(pa.binary())
    return binary.fill_null(b"") if binary.null_count else binary


# --- headers ---------------------------------------------------------------------------------------------


def _headers(headers: pa.Array) -> pa.Array:
    """The headers of each record as they are written, their count before them."""
    counts = pc.list_value_length(headers).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    entries = headers.flatten()
    if not len(entries):
        return _binary(np.zeros(len(headers), np.uint8), np.ones(len(headers), np.int64))
    if entries.null_count or entries.field(0).null_count:
        raise RejectedRecordsError(ErrorCode.INVALID_RECORD, "A header must have a key that is not null")
    keys, values = entries.flatten()
    written = _join(
        _varint_column(_written_lengths(keys)),
        _without_nulls(keys),
        _varint_column(_written_lengths(values)),
        _without_nulls(values),
    )
    ends = np.concatenate([[0], np.cumsum(counts)])
    sizes = np.concatenate([[0], np.cumsum(parts_of(written).length)])
    _, _, data = written.buffers()
    blocks = _binary(np.frombuffer(data, np.uint8), np.diff(sizes[ends]))
    return _join(_varint_column(counts), blocks)
