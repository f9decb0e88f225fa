"""Write record batches: from records, or from a payload that is already encoded."""

from __future__ import annotations

from collections.abc import Iterable

from barnabas.ports import Buffer
from barnabas.records.batch import (
    CODEC_MASK,
    CONTROL_MASK,
    CREATE_TIME,
    DELETE_HORIZON_MASK,
    HEADER,
    HEADER_SIZE,
    LOG_APPEND_TIME,
    LOG_APPEND_TIME_MASK,
    LOG_OVERHEAD,
    MAGIC,
    NO_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    TRANSACTIONAL_MASK,
    BatchHeader,
    seal,
)
from barnabas.records.compress import Codec, compress
from barnabas.records.varint import size_of_varlong, varlong
from barnabas.records.walk import Headers, Record

_UNUSED_ATTRIBUTES = b"\0"
_NULL = varlong(-1)
_NO_HEADERS = varlong(0)


def build_batch(
    records: Iterable[Record],
    *,
    base_offset: int = 0,
    codec: int = Codec.NONE,
    level: int | None = None,
    timestamp_type: int = CREATE_TIME,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    base_sequence: int = NO_SEQUENCE,
    transactional: bool = False,
    control: bool = False,
    leader_epoch: int = NO_LEADER_EPOCH,
    delete_horizon: int | None = None,
    last_offset_delta: int | None = None,
    max_timestamp: int | None = None,
) -> bytearray:
    """Offsets of the records are absolute and increasing, gaps allowed. Compaction keeps `last_offset_delta`
    of the original batch, so that no offset or sequence seems lost when the last records go; `max_timestamp`
    stands in for records that are no longer there. A delete horizon takes the base timestamp's place."""
    payload = bytearray()
    base_timestamp, count, last_delta, max_seen = delete_horizon, 0, 0, NO_TIMESTAMP
    for record in records:
        if base_timestamp is None:
            base_timestamp = record.timestamp
        last_delta = record.offset - base_offset
        append_record(payload, record, record.timestamp - base_timestamp, last_delta)
        max_seen = max(max_seen, record.timestamp)
        count += 1
    fields = (
        base_offset,
        0,  # the length, and below the checksum, are known when the batch is whole
        leader_epoch,
        MAGIC,
        0,
        attributes_of(timestamp_type, transactional, control, delete_horizon is not None),
        last_delta if last_offset_delta is None else last_offset_delta,
        NO_TIMESTAMP if base_timestamp is None else base_timestamp,
        max_seen if max_timestamp is None else max_timestamp,
        producer_id,
        producer_epoch,
        base_sequence,
        count,
    )
    header: BatchHeader = tuple.__new__(BatchHeader, fields)
    return pack_batch(header, payload, codec, level)


def attributes_of(timestamp_type: int, transactional: bool, control: bool, has_delete_horizon: bool) -> int:
    return (
        (LOG_APPEND_TIME_MASK if timestamp_type == LOG_APPEND_TIME else 0)
        | (TRANSACTIONAL_MASK if transactional else 0)
        | (CONTROL_MASK if control else 0)
        | (DELETE_HORIZON_MASK if has_delete_horizon else 0)
    )


def pack_batch(header: BatchHeader, payload: Buffer, codec: int, level: int | None = None) -> bytearray:
    """A batch with the fields of `header` around uncompressed `payload`; length, codec and checksum are made
    to fit. Whoever drops records from the payload replaces `count` in the header first. An empty batch is
    never compressed, as in Kafka."""
    if codec == Codec.NONE or not len(payload):
        return frame_batch(header, payload, Codec.NONE)
    return frame_batch(header, compress(codec, payload, level), codec)


def frame_batch(header: BatchHeader, content: Buffer, codec: int) -> bytearray:
    """As `pack_batch`, around records that are compressed already."""
    batch = bytearray(HEADER_SIZE)
    batch += content
    base_offset, _, leader_epoch, magic, _, attributes, *others = header
    length, attributes = len(batch) - LOG_OVERHEAD, attributes & ~CODEC_MASK | codec
    HEADER.pack_into(batch, 0, base_offset, length, leader_epoch, magic, 0, attributes, *others)
    seal(batch, 0, len(batch))
    return batch


def append_record(out: bytearray, record: Record, timestamp_delta: int, offset_delta: int) -> None:
    _, _, key, value, headers = record
    body = b"".join(
        (
            _UNUSED_ATTRIBUTES,
            varlong(timestamp_delta),
            varlong(offset_delta),
            _NULL if key is None else varlong(len(key)),
            key or b"",
            _NULL if value is None else varlong(len(value)),
            value or b"",
            _headers(headers) if headers else _NO_HEADERS,
        )
    )
    out += varlong(len(body))
    out += body


def _headers(headers: Headers) -> bytes:
    return varlong(len(headers)) + b"".join(_header(name, value) for name, value in headers)


def _header(key: str | bytes, value: bytes | None) -> bytes:
    name = key.encode() if isinstance(key, str) else key
    if value is None:
        return b"".join((varlong(len(name)), name, _NULL))
    return b"".join((varlong(len(name)), name, varlong(len(value)), value))


def record_size(record: Record, timestamp_delta: int, offset_delta: int) -> int:
    """Bytes that `append_record` would write: for producers that fill a batch up to a size."""
    body = 1 + size_of_varlong(timestamp_delta) + size_of_varlong(offset_delta)
    body += _size_of_bytes(record.key) + _size_of_bytes(record.value) + size_of_varlong(len(record.headers))
    for key, value in record.headers:
        body += _size_of_bytes(key.encode() if isinstance(key, str) else key) + _size_of_bytes(value)
    return size_of_varlong(body) + body


def _size_of_bytes(data: bytes | None) -> int:
    return 1 if data is None else size_of_varlong(len(data)) + len(data)
