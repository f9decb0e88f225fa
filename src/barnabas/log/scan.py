"""Walking the batch headers of a segment file, a few kilobytes at a time."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.ports import File
from barnabas.records.batch import HEADER_SIZE, LOG_OVERHEAD, BatchHeader, read_header

_CHUNK_BYTES = 8192


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
