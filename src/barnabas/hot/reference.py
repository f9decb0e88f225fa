"""What the C module does, in Python: what it is tested against, and its stand-in where there is none."""

from __future__ import annotations

import os
import struct

from barnabas.protocol.varint import read_unsigned
from barnabas.records.batch import (
    CODEC_MASK,
    CONTROL_MASK,
    HEADER_SIZE,
    LOG_APPEND_TIME_MASK,
    LOG_OVERHEAD,
    MAGIC,
    NO_PRODUCER_ID,
    TRANSACTIONAL_MASK,
    read_header,
)
from barnabas.records.compress import Codec
from barnabas.records.walk import lengths_agree

# Behind the batch of a plain request: no tags of the partition, the topic and the request.
_REQUEST_END = b"\0\0\0"
_NOT_PLAIN = CONTROL_MASK | TRANSACTIONAL_MASK | LOG_APPEND_TIME_MASK
_INT32 = struct.Struct(">i")
_INT64 = struct.Struct(">q")
_OFFSET_AND_LENGTH = struct.Struct(">qi")
_LONG_MAX = (1 << 63) - 1
_LAST_DELTA_AT = 23


def plain_batch(frame: memoryview, head: bytes, middle: bytes) -> tuple[int, int, int, int, int, int] | None:
    """Of the one batch of a Produce request: where it begins and ends, its checksum, last offset delta,
    largest timestamp and producer id.

    The request must begin with `head`, go on with `middle` behind its correlation id, and hold nothing but
    the batch then; the batch must be sound as far as one can see without its checksum, and plain: no marker,
    no part of a transaction, no timestamp that only a broker may set. None for anything else.
    """
    start = 8 + len(middle)
    if frame[8:start] != middle or frame[:4] != head:
        return None
    try:
        size, start = read_unsigned(frame, start)
    except (IndexError, ValueError):
        return None
    end = start + size - 1
    if size <= HEADER_SIZE or frame[end:] != _REQUEST_END:
        return None
    header = read_header(frame, start)
    base_offset, length, _, magic, crc, attributes, last_delta = header[:7]
    _, max_timestamp, producer_id, _, sequence, count = header[7:]
    if not (
        length + LOG_OVERHEAD == end - start
        and magic == MAGIC
        and base_offset == 0
        and count == last_delta + 1
        and count > 0
        and not attributes & _NOT_PLAIN
        and (producer_id == NO_PRODUCER_ID or sequence >= 0)
        and attributes & CODEC_MASK <= Codec.ZSTD
        and (attributes & CODEC_MASK or lengths_agree(frame, start, header))
    ):
        return None
    return start, end, crc, last_delta, max_timestamp, producer_id


def fetch_offset(frame: memoryview, head: bytes, before: bytes, after: bytes, /) -> int | None:
    """The eight bytes between `before` and `after`, as a number; None if the frame is another one. What is
    in the place of the correlation id does not matter."""
    at = 8 + len(before)
    is_as_long = len(frame) == at + 8 + len(after)
    if not is_as_long or frame[8:at] != before or frame[at + 8 :] != after or frame[:4] != head:
        return None
    offset: int = _INT64.unpack_from(frame, at)[0]
    return offset


def offset_behind(records: memoryview, /) -> int | None:
    """The offset behind the last whole batch of what a log gave; None if there is none, or no such offset."""
    at, offset = 0, None
    while len(records) - at >= HEADER_SIZE:
        base_offset, length = _OFFSET_AND_LENGTH.unpack_from(records, at)
        last_delta = _INT32.unpack_from(records, at + _LAST_DELTA_AT)[0]
        size = length + LOG_OVERHEAD
        behind = base_offset + last_delta + 1
        if not HEADER_SIZE <= size <= len(records) - at or min(base_offset, last_delta) < 0:
            break
        if behind > _LONG_MAX:
            break
        offset = behind
        at += size
    return offset


def gather(buffer: memoryview, head: bytes, fd: int, position: int, size: int, tail: bytes, /) -> int:
    """Put `head`, a slice of a file and `tail` one behind the other; returns how many bytes that is.

    -1 if they do not fit, or the slice is not all in memory; also where the filesystem cannot tell.
    """
    start, end = len(head), len(head) + size
    whole = end + len(tail)
    if size < 0 or whole > len(buffer):
        return -1
    try:
        if os.preadv(fd, (buffer[start:end],), position, os.RWF_NOWAIT) != size:
            return -1
    except OSError:
        return -1
    buffer[:start] = head
    buffer[end:whole] = tail
    return whole
