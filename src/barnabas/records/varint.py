"""Zigzag varints, as records use them. The walkers inline the one-byte case and come here for the rest."""

from __future__ import annotations

from barnabas.ports import Buffer
from barnabas.records.errors import MalformedRecordsError

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
_LONGEST = 10


def read_varlong(data: Buffer, position: int) -> tuple[int, int]:
    """(value, position behind it). IndexError where the data ends: walkers turn it into their own error."""
    byte = data[position]
    position += 1
    value = byte & 0x7F
    shift = 7
    while byte > 0x7F:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if shift > 7 * _LONGEST:
            raise MalformedRecordsError("Varint is too long")
    if value > 0xFFFFFFFFFFFFFFFF:
        raise MalformedRecordsError("Varlong does not fit into 64 bits")
    return (value >> 1) ^ -(value & 1), position


def read_varint(data: Buffer, position: int) -> tuple[int, int]:
    byte = data[position]
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), position + 1
    second = data[position + 1]
    if second < 0x80:
        value = byte & 0x7F | second << 7
        return (value >> 1) ^ -(value & 1), position + 2
    value, position = read_varlong(data, position)
    if not INT32_MIN <= value <= INT32_MAX:
        raise MalformedRecordsError(f"Varint {value} does not fit into 32 bits")
    return value, position


def write_varlong(out: bytearray, value: int) -> None:
    zigzag = (value << 1) ^ (value >> 63)
    while zigzag > 0x7F:
        out.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    out.append(zigzag)


def _encoded(value: int) -> bytes:
    out = bytearray()
    write_varlong(out, value)
    return bytes(out)


_SMALL = tuple(_encoded(value) for value in range(512))


def varlong(value: int) -> bytes:
    """Most lengths and deltas are small, and known by heart."""
    return _SMALL[value] if 0 <= value < 512 else _encoded(value)


def size_of_varlong(value: int) -> int:
    zigzag = (value << 1) ^ (value >> 63)
    return max(1, (zigzag.bit_length() + 6) // 7)
