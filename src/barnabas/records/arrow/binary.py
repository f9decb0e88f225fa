"""Between Arrow's binary columns and numpy's view of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from barnabas.ports import Buffer
from barnabas.records.arrow.varints import Bools, Bytes, Ints

_OFFSET_TYPES = {
    pa.binary(): np.int32,
    pa.string(): np.int32,
    pa.large_binary(): np.int64,
    pa.large_string(): np.int64,
}


class BinaryParts(NamedTuple):
    """Element i is data[start[i] : start[i] + length[i]]; a null has length 0 here."""

    data: Bytes
    start: Ints
    length: Ints
    is_null: Bools | None


def parts_of(array: pa.Array) -> BinaryParts:
    """A view on a column of binary or text, which may be a slice of a longer one."""
    if array.type not in _OFFSET_TYPES:
        raise TypeError(f"A column of bytes is needed, not of {array.type}")
    _, offsets_buffer, data_buffer = array.buffers()
    count = len(array)
    if count == 0 or offsets_buffer is None:
        empty = np.zeros(count, np.int64)
        return BinaryParts(np.zeros(0, np.uint8), empty, empty, None)
    every_offset = np.frombuffer(offsets_buffer, _OFFSET_TYPES[array.type])
    offsets = every_offset[array.offset : array.offset + count + 1].astype(np.int64)
    data = np.zeros(0, np.uint8) if data_buffer is None else np.frombuffer(data_buffer, np.uint8)
    lengths = offsets[1:] - offsets[:-1]
    if array.null_count == 0:
        return BinaryParts(data, offsets[:-1], lengths, None)
    is_null: Bools = array.is_null().to_numpy(zero_copy_only=False)
    lengths[is_null] = 0
    return BinaryParts(data, offsets[:-1], lengths, is_null)


def gather(data: Buffer, start: Ints, length: Ints) -> pa.Array:
    """A binary column of the pieces of `data`, which rise and do not overlap; a negative length is null.

    Arrow's own kernel copies them: the pieces and the gaps between them are one column over `data`, of which
    every second element is taken.
    """
    count = len(start)
    if count == 0:
        return pa.array([], pa.binary())
    is_null = length < 0
    offsets = np.empty(2 * count, np.int32)
    offsets[0::2] = start
    offsets[1::2] = start + np.maximum(length, 0)
    pieces = pa.Array.from_buffers(
        pa.binary(), 2 * count - 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    )
    indices = np.arange(0, 2 * count, 2, dtype=np.int32)
    return pieces.take(pa.array(indices, mask=is_null if is_null.any() else None))
