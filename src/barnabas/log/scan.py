"""Walking the batch headers of a segment file, a few kilobytes at a time."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from barnabas.ports import File
from barnabas.records.batch import HEADER_SIZE, LOG_OVERHEAD, BatchHeader, read_header

_CHUNK_BYTES = 8192
_LOOK_UP_BYTES = 4096
# What a look-up needs of a header: base offset, length, last offset delta.
_BOUNDS = struct.Struct(">qi11xi")


def walk(file: File, position: int, end: int) -> Iterator[tuple[int, BatchHeader]]:
    """(position, header) of every whole batch; stops at what cannot be a batch or reaches past `end`."""
    chunk = b""
    chunk_start = position
    while position + HEADER_SIZE <= end:
        at = position - chunk_start
        if at + HEADER_SIZE > len(chunk):
            chunk = file.read(position, min(_CHUNK_BYTES, end - position))
            chunk_start, at = position, 0
            if len(chunk) < HEADER_SIZE:
                return
        header = read_header(chunk, at)
        if header.length < HEADER_SIZE - LOG_OVERHEAD or position + header.size > end:
            return
        yield position, header
        position += header.size


def batch_holding(file: File, offset: int, position: int, end: int) -> tuple[int, int] | None:
    """(position, size) of the first batch from `position` on that ends at the offset or later.

    The same walk as above without an object per header: every fetch of older data goes through here.
    """
    while position + HEADER_SIZE <= end:
        chunk = file.read(position, min(_LOOK_UP_BYTES, end - position))
        at, last = 0, len(chunk) - _BOUNDS.size
        while at <= last:
            base, length, delta = _BOUNDS.unpack_from(chunk, at)
            size = length + LOG_OVERHEAD
            if size < HEADER_SIZE or position + at + size > end:
                return None
            if base + delta >= offset:
                return position + at, size
            at += size
        if at == 0:
            return None
        position += at
    return None


def batch_at(file: File, offset: int, position: int, end: int) -> tuple[int, int] | None:
    """(position, size) of the batch that begins there, if it holds the offset."""
    chunk = file.read(position, _BOUNDS.size)
    if len(chunk) < _BOUNDS.size:
        return None
    base, length, delta = _BOUNDS.unpack(chunk)
    size = length + LOG_OVERHEAD
    holds = base <= offset <= base + delta and HEADER_SIZE <= size <= end - position
    return (position, size) if holds else None
