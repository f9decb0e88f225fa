"""Between Arrow's binary columns and numpy's view of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from barnabas.ports import Buffer
from barnabas.records.arrow import native
from barnabas.records.arrow.varints import LONGEST_VARINT, Bools, Bytes, Ints, write_varints
from barnabas.records.errors import TooLargeError
from barnabas.records.varint import INT32_MAX

NULL = -1

_NOTHING: Bytes = np.zeros(0, np.uint8)

_OFFSET_TYPES = {
    pa.binary(): np.int32,
    pa.string(): np.int32,
    pa.large_binary(): np.int64,
    pa.large_string(): np.int64,
}


class Pieces(NamedTuple):
    """Element i is data[start[i] : start[i] + length[i]]; a length of -1 is null."""

    data: Bytes
    start: Ints
    length: Ints


def pieces_of(array: pa.Array) -> Pieces:
    """A view on a column of binary or text, which may be a slice of a longer one."""
    if array.type not in _OFFSET_TYPES:
        raise TypeError(f"A column of bytes is needed, not of {array.type}")
    _, offsets_buffer, data_buffer = array.buffers()
    count = len(array)
    if count == 0 or offsets_buffer is None:
        return Pieces(_NOTHING, np.zeros(count, np.int64), np.zeros(count, np.int64))
    every_offset = np.frombuffer(offsets_buffer, _OFFSET_TYPES[array.type])
    offsets = every_offset[array.offset : array.offset + count + 1].astype(np.int64)
    data = np.frombuffer(data_buffer, np.uint8) if data_buffer is not None and data_buffer.size else _NOTHING
    length = offsets[1:] - offsets[:-1]
    if array.null_count:
        length[array.is_null().to_numpy(zero_copy_only=False)] = NULL
    return Pieces(data, offsets[:-1], length)


def binary_of(data: Bytes, length: Ints) -> pa.Array:
    """A column of pieces that lie in a row."""
    if len(data) > INT32_MAX:
        raise TooLargeError(f"{len(data)} bytes are more than {INT32_MAX}, all that fit into a column")
    offsets = np.zeros(len(length) + 1, np.int32)
    np.cumsum(length, out=offsets[1:])
    return pa.Array.from_buffers(pa.binary(), len(length), [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def gather(data: Buffer, start: Ints, length: Ints) -> pa.Array:
    """A binary column of the pieces of `data`, which rise and do not overlap; a negative length is null."""
    count = len(start)
    if count == 0:
        return pa.array([], pa.binary())
    if native.gather is None:
        return take(data, start, length)
    is_null = length < 0
    has_nulls = bool(is_null.any())
    offsets = np.empty(count + 1, np.int32)
    out = np.empty(int(length.sum(where=~is_null) if has_nulls else length.sum()), np.uint8)
    if not native.gather(data, start, length, offsets, out):
        raise AssertionError("pieces lie outside of their data")
    validity = pa.py_buffer(np.packbits(~is_null, bitorder="little")) if has_nulls else None
    return pa.Array.from_buffers(pa.binary(), count, [validity, pa.py_buffer(offsets), pa.py_buffer(out)])


def take(data: Buffer, start: Ints, length: Ints) -> pa.Array:
    """`gather` by Arrow's own kernel: the pieces and the gaps between them are one column over `data`, of
    which every second element is taken."""
    count = len(start)
    is_null = length < 0
    offsets = np.empty(2 * count, np.int32)
    offsets[0::2] = start
    offsets[1::2] = start + np.maximum(length, 0)
    pieces = pa.Array.from_buffers(
        pa.binary(), 2 * count - 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    )
    indices = np.arange(0, 2 * count, 2, dtype=np.int32)
    return pieces.take(pa.array(indices, mask=is_null if is_null.any() else None))


def varint_column(*parts: Ints | bytes) -> pa.Array:
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
    return binary_of(content[meant], meant.sum(axis=1))
