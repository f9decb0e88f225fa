"""Variable-length integers of the flexible versions, and the tag section at the end of a struct."""

from __future__ import annotations

from barnabas.ports import Buffer

_ONE_BYTE = tuple(bytes((value,)) for value in range(128))


def unsigned(value: int) -> bytes:
    if value < 128:
        return _ONE_BYTE[value]
    result = bytearray()
    while value > 127:
        result.append(value & 127 | 128)
        value >>= 7
    result.append(value)
    return bytes(result)


def read_unsigned(buffer: Buffer, position: int) -> tuple[int, int]:
    value = shift = 0
    while shift < 35:
        byte = buffer[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, position
        shift += 7
    raise ValueError("varint longer than five bytes")


def skip_tags(buffer: Buffer, position: int) -> int:
    count, position = read_unsigned(buffer, position)
    for _ in range(count):
        _, position = read_unsigned(buffer, position)
        size, position = read_unsigned(buffer, position)
        position += size
        if position > len(buffer):
            raise ValueError("tag past the end")
    return position
