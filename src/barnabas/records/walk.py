"""Walk the records inside one batch, strictly: what contradicts itself raises MalformedRecordsError.

Only where the broker must look inside; everything else treats batches as opaque bytes. All walkers are
generators: a batch of the smallest records becomes thirty times its size in Python objects, so nobody keeps
them all unasked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from barnabas.ports import Buffer
from barnabas.records.batch import HEADER_SIZE, LOG_OVERHEAD, BatchHeader
from barnabas.records.compress import Codec, decompress
from barnabas.records.errors import MalformedRecordsError, TooLargeError
from barnabas.records.varint import INT64_MAX, INT64_MIN, read_varint, read_varlong, size_of_varlong

SMALLEST_RECORD_SIZE = 7  # length, attributes, two deltas, two null lengths, no headers: one byte each

# A header's key is text to everybody, but nothing forces a producer to write UTF-8: such a key stays bytes.
Headers: TypeAlias = tuple[tuple[str | bytes, bytes | None], ...]

# start, end, timestamp delta, offset delta, key start (-1: null), key end, value start (-1: null), value end
Fields: TypeAlias = tuple[int, int, int, int, int, int, int, int]


class Record(NamedTuple):
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()


class KeyedRecord(NamedTuple):
    """A record's place in the payload (`start` is its length varint) and what compaction asks about it."""

    offset: int
    timestamp: int
    key: bytes | None
    has_value: bool
    start: int
    end: int


def payload_of(buffer: Buffer, position: int, header: BatchHeader, limit: int) -> bytes:
    """The uncompressed records of the batch at `position`, at most `limit` bytes of them."""
    start, end = position + HEADER_SIZE, position + LOG_OVERHEAD + header.length
    if not start <= end <= len(buffer):
        raise MalformedRecordsError(f"A batch of {header.size} bytes does not fit its buffer")
    if header.codec != Codec.NONE:
        return decompress(header.codec, memoryview(buffer)[start:end], limit) if end > start else b""
    if end - start > limit:
        raise TooLargeError(f"The records of the batch take more than {limit} bytes")
    return bytes(buffer[start:end])


def records_of(buffer: Buffer, position: int, header: BatchHeader, limit: int) -> Iterator[Record]:
    payload = payload_of(buffer, position, header, limit)
    base_offset, base_timestamp, append_time = _bases(header)
    for fields in walk_fields(payload, header.count, header.last_offset_delta):
        _, end, timestamp_delta, offset_delta, key_start, key_end, value_start, value_end = fields
        timestamp = base_timestamp + timestamp_delta
        if not INT64_MIN <= timestamp <= INT64_MAX:
            raise _beyond_64_bits(timestamp)
        yield Record(
            base_offset + offset_delta,
            timestamp if append_time is None else append_time,
            None if key_start < 0 else payload[key_start:key_end],
            None if value_start < 0 else payload[value_start:value_end],
            () if end - value_end == 1 else _read_headers(payload, value_end),
        )


def walk_keys(buffer: Buffer, position: int, header: BatchHeader, limit: int) -> Iterator[KeyedRecord]:
    """As `records_of`, without values and headers."""
    return walk_payload_keys(payload_of(buffer, position, header, limit), header)


def walk_payload_keys(payload: bytes, header: BatchHeader) -> Iterator[KeyedRecord]:
    """For callers that keep the payload, to copy records out of it."""
    base_offset, base_timestamp, append_time = _bases(header)
    for fields in walk_fields(payload, header.count, header.last_offset_delta):
        start, end, timestamp_delta, offset_delta, key_start, key_end, value_start, _ = fields
        timestamp = base_timestamp + timestamp_delta
        if not INT64_MIN <= timestamp <= INT64_MAX:
            raise _beyond_64_bits(timestamp)
        yield KeyedRecord(
            base_offset + offset_delta,
            timestamp if append_time is None else append_time,
            None if key_start < 0 else payload[key_start:key_end],
            value_start >= 0,
            start,
            end,
        )


def _bases(header: BatchHeader) -> tuple[int, int, int | None]:
    append_time = header.max_timestamp if header.is_log_append_time else None
    return header.base_offset, header.base_timestamp, append_time


def _beyond_64_bits(timestamp: int) -> MalformedRecordsError:
    return MalformedRecordsError(f"Timestamp {timestamp} does not fit into 64 bits")


def walk_fields(payload: bytes, count: int, last_offset_delta: int) -> Iterator[Fields]:
    """The one place that knows a record's layout:

    length  attributes  timestamp delta  offset delta  key length  key  value length  value  count  headers
    """
    if count < 0 or count * SMALLEST_RECORD_SIZE > len(payload):
        raise MalformedRecordsError(f"A batch of {count} records has only {len(payload)} bytes for them")
    position, previous_delta = 0, -1
    try:
        for _ in range(count):
            fields = _read_fields(payload, position)
            offset_delta = fields[3]
            if not previous_delta < offset_delta <= last_offset_delta:
                raise MalformedRecordsError(
                    f"Record offset delta {offset_delta} follows {previous_delta} in a batch whose last is "
                    f"{last_offset_delta}"
                )
            previous_delta = offset_delta
            position = fields[1]
            yield fields
    except IndexError:
        raise MalformedRecordsError("Incorrect declared batch size, premature EOF reached") from None
    if position != len(payload):
        raise MalformedRecordsError("Incorrect declared batch size, records still remaining in file")


def _read_fields(payload: bytes, start: int) -> Fields:
    """One-byte varints are decoded in place: a call costs more than the rest of the record."""
    length, position = read_varint(payload, start)
    end = position + length
    if length < 0 or end > len(payload):
        raise MalformedRecordsError(
            f"Invalid record size: expected {length} bytes in record payload, but instead the buffer has "
            f"only {len(payload) - position} remaining bytes."
        )
    position += 1  # attributes: unused
    byte = payload[position]
    if byte < 0x80:
        timestamp_delta, position = (byte >> 1) ^ -(byte & 1), position + 1
    else:
        timestamp_delta, position = read_varlong(payload, position)
    byte = payload[position]
    if byte < 0x80:
        offset_delta, position = (byte >> 1) ^ -(byte & 1), position + 1
    else:
        offset_delta, position = read_varint(payload, position)
    byte = payload[position]
    if byte < 0x80:
        length, position = (byte >> 1) ^ -(byte & 1), position + 1
    else:
        length, position = read_varint(payload, position)
    key_start = position if length >= 0 else -1
    key_end = position = position + length if length > 0 else position
    byte = payload[position]
    if byte < 0x80:
        length, position = (byte >> 1) ^ -(byte & 1), position + 1
    else:
        length, position = read_varint(payload, position)
    value_start = position if length >= 0 else -1
    value_end = position = position + length if length > 0 else position
    position = position + 1 if payload[position] == 0 else _skip_headers(payload, position)
    if position != end:
        raise MalformedRecordsError(
            f"Invalid record size: expected to read up to byte {end} of the payload, "
            f"but instead read up to {position}"
        )
    return start, end, timestamp_delta, offset_delta, key_start, key_end, value_start, value_end


def _header_count(payload: bytes, position: int) -> tuple[int, int]:
    count, position = read_varint(payload, position)
    if count < 0:
        raise MalformedRecordsError(f"Found invalid number of record headers {count}")
    if count > len(payload) - position:
        raise MalformedRecordsError(
            f"Found invalid number of record headers. {count} is larger than the remaining size of the buffer"
        )
    return count, position


def _skip_headers(payload: bytes, position: int) -> int:
    count, position = _header_count(payload, position)
    for _ in range(count):
        length, position = read_varint(payload, position)
        if length < 0:
            raise MalformedRecordsError(f"Invalid negative header key size {length}")
        position += length
        length, position = read_varint(payload, position)
        position += max(length, 0)
    return position


def _read_headers(payload: bytes, position: int) -> Headers:
    """Called after `_skip_headers` has found them sound."""
    count, position = _header_count(payload, position)
    headers: list[tuple[str | bytes, bytes | None]] = []
    for _ in range(count):
        length, position = read_varint(payload, position)
        key = _text(payload[position : position + length])
        position += length
        length, position = read_varint(payload, position)
        headers.append((key, None if length < 0 else payload[position : position + length]))
        position += max(length, 0)
    return tuple(headers)


def _text(raw: bytes) -> str | bytes:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def lengths_agree(buffer: Buffer, position: int, header: BatchHeader) -> bool:
    """Do the records' length prefixes of an uncompressed batch lead, in `count` steps, exactly to its end?

    The cheapest look inside: it finds a wrong count and a torn record, not a wrong field inside one.
    Neighbours of equal size are common, so a prefix that repeats is followed in one native comparison.
    """
    at, end, left = position + HEADER_SIZE, position + LOG_OVERHEAD + header.length, header.count
    previous_length = -1
    try:
        while left > 0:
            byte = buffer[at]
            if byte & 1:  # zigzag: a negative length
                return False
            if byte < 0x80:
                length = (byte >> 1) + 1
            elif (second := buffer[at + 1]) < 0x80:
                length = (byte & 0x7F | second << 7) // 2 + 2
            else:
                length, body = read_varint(buffer, at)
                length += body - at
            steps = 1
            if length == previous_length:
                steps = _equal_steps(buffer, at, length, min(left, (end - at) // length))
            at += length * steps
            left -= steps
            if at > end:
                return False
            previous_length = length
    except (IndexError, MalformedRecordsError):
        return False
    return at == end


def _equal_steps(buffer: Buffer, at: int, length: int, most: int) -> int:
    """How many records from `at` on, at most `most`, begin with the same length prefix as the first (≥ 1)."""
    steps = most
    for index in range(size_of_varlong(length)):
        column = bytes(buffer[at + index : at + index + steps * length : length])
        steps = len(column) - len(column.lstrip(column[:1]))
    return max(steps, 1)
