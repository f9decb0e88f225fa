"""Zigzag varints of many records at once. The scalar form, and the rules, are in `records/varint.py`."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from barnabas.records.errors import MalformedRecordsError
from barnabas.records.varint import INT32_MAX, INT32_MIN

Bytes: TypeAlias = npt.NDArray[np.uint8]
Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]
IntArray: TypeAlias = npt.NDArray[Any]

_LAST_SHIFT = 63  # of the tenth byte, of which one bit is left
LONGEST_VARINT = 5


def read_varlongs(data: Bytes, positions: Ints, limits: Ints) -> tuple[Ints, Ints]:
    """The numbers at `positions` and the positions behind them; none may reach its limit."""
    if (positions >= limits).any():
        raise _premature()
    byte = data[positions]
    value = (byte & 0x7F).astype(np.uint64)
    behind = positions + 1
    more = np.flatnonzero(byte & 0x80)
    shift = 7
    while more.size:
        at = behind[more]
        if (at >= limits[more]).any():
            raise _premature()
        byte = data[at]
        if shift == _LAST_SHIFT and (byte > 1).any():
            raise MalformedRecordsError("Varlong does not fit into 64 bits")
        value[more] |= (byte & 0x7F).astype(np.uint64) << np.uint64(shift)
        behind[more] = at + 1
        more = more[(byte & 0x80) != 0]
        shift += 7
    sign = -(value & np.uint64(1)).astype(np.int64)
    return (value >> np.uint64(1)).astype(np.int64) ^ sign, behind


def read_varints(data: Bytes, positions: Ints, limits: Ints) -> tuple[Ints, Ints]:
    values, behind = read_varlongs(data, positions, limits)
    if values.size and (values.max() > INT32_MAX or values.min() < INT32_MIN):
        raise MalformedRecordsError("A varint does not fit into 32 bits")
    return values, behind


def sizes_of_varints(values: Ints) -> Ints:
    """Bytes that each number takes; the numbers have 32 bits."""
    zigzag = values << 1 ^ values >> 63
    sizes = np.ones(len(values), np.int64)
    for bits in (7, 14, 21, 28):
        sizes += zigzag >= 1 << bits
    return sizes


def write_varints(into: Bytes, values: Ints) -> Bools:
    """Each number into its row of `into`, five bytes wide; returns which of those bytes are meant."""
    zigzag = values << 1 ^ values >> 63
    meant = np.empty(into.shape, np.bool_)
    for index in range(LONGEST_VARINT):
        rest = zigzag >> (7 * index)
        more = rest > 0x7F
        into[:, index] = (rest & 0x7F) | (more << 7)
        meant[:, index] = rest > 0
    meant[:, 0] = True
    return meant


def _premature() -> MalformedRecordsError:
    return MalformedRecordsError("Invalid record size: its fields do not end where the record does")
