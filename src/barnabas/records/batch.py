"""RecordBatch v2: the 61-byte header, as a view on bytes that are otherwise left alone.

    0 base offset   8 length   12 leader epoch   16 magic   17 crc   21 attributes   23 last offset delta
    27 base timestamp   35 max timestamp   43 producer id   51 producer epoch   53 base sequence   57 count
    61 records

The CRC32C covers everything from the attributes on, so a leader may assign the base offset and the leader
epoch in place without touching it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from crc32c import crc32c

from barnabas.ports import Buffer
from barnabas.records.errors import CorruptRecordsError, MalformedRecordsError

MAGIC = 2
LOG_OVERHEAD = 12  # base offset and length: what a batch occupies beyond its `length`
HEADER_SIZE = 61

LENGTH_AT = 8
MAGIC_AT = 16
CRC_AT = 17
ATTRIBUTES_AT = 21
MAX_TIMESTAMP_AT = 35
PRODUCER_ID_AT = 43
COUNT_AT = 57

CODEC_MASK = 0x07
LOG_APPEND_TIME_MASK = 0x08
TRANSACTIONAL_MASK = 0x10
CONTROL_MASK = 0x20
DELETE_HORIZON_MASK = 0x40

NO_OFFSET = -1
NO_TIMESTAMP = -1
NO_LEADER_EPOCH = -1
NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1
NO_SEQUENCE = -1
SEQUENCE_MAX = 2**31 - 1

CREATE_TIME = 0
LOG_APPEND_TIME = 1

HEADER = struct.Struct(">qiiBIhiqqqhii")
INT64 = struct.Struct(">q")
INT32 = struct.Struct(">i")
UINT32 = struct.Struct(">I")
_SIZE_TO_MAGIC = struct.Struct(">qiiB")
_ATTRIBUTES = struct.Struct(">h")

_SMALLEST_LEGACY_LENGTH = 14  # a message of magic 0 without key and value


class BatchHeader(NamedTuple):
    base_offset: int
    length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    count: int  # type: ignore[assignment]  # shadows tuple.count on purpose: it is the field's name

    @property
    def codec(self) -> int:
        return self.attributes & CODEC_MASK

    @property
    def is_log_append_time(self) -> bool:
        return self.attributes & LOG_APPEND_TIME_MASK != 0

    @property
    def is_transactional(self) -> bool:
        return self.attributes & TRANSACTIONAL_MASK != 0

    @property
    def is_control(self) -> bool:
        return self.attributes & CONTROL_MASK != 0

    @property
    def has_delete_horizon(self) -> bool:
        return self.attributes & DELETE_HORIZON_MASK != 0

    @property
    def delete_horizon_ms(self) -> int | None:
        """From when on tombstones of a compacted batch may go; it lives in the base timestamp."""
        return self.base_timestamp if self.attributes & DELETE_HORIZON_MASK else None

    @property
    def has_producer_id(self) -> bool:
        return self.producer_id != NO_PRODUCER_ID

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.last_offset_delta + 1

    @property
    def size(self) -> int:
        """Bytes of the whole batch, header included."""
        return LOG_OVERHEAD + self.length

    @property
    def last_sequence(self) -> int:
        if self.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return increment_sequence(self.base_sequence, self.last_offset_delta)


def increment_sequence(sequence: int, increment: int) -> int:
    """Sequences run 0 … 2³¹−1 and start again at 0."""
    if sequence > SEQUENCE_MAX - increment:
        return increment - (SEQUENCE_MAX - sequence) - 1
    return sequence + increment


def read_header(buffer: Buffer, position: int = 0) -> BatchHeader:
    """The caller knows that 61 bytes are there."""
    return tuple.__new__(BatchHeader, HEADER.unpack_from(buffer, position))


def headers(buffer: Buffer, start: int, end: int) -> Iterator[tuple[int, BatchHeader]]:
    """Every whole batch in [start, end); an incomplete batch at the end is left out, as in Kafka.

    Raises CorruptRecordsError where the size or the magic cannot be a batch's, because then nothing after
    it can be found.
    """
    position = start
    while end - position >= HEADER_SIZE:
        header: BatchHeader = tuple.__new__(BatchHeader, HEADER.unpack_from(buffer, position))
        length = header[1]
        if header[3] != MAGIC or length < HEADER_SIZE - LOG_OVERHEAD:
            _refuse_header(length, header[3])
        following = position + LOG_OVERHEAD + length
        if following > end:
            return
        yield position, header
        position = following
    _check_tail(buffer, position, end)


def _check_tail(buffer: Buffer, position: int, end: int) -> None:
    """Fewer bytes than a header: an incomplete batch is fine, one that claims to end before `end` is not."""
    if end - position > MAGIC_AT:
        _, length, _, magic = _SIZE_TO_MAGIC.unpack_from(buffer, position)
        if magic != MAGIC or length < HEADER_SIZE - LOG_OVERHEAD:
            _refuse_header(length, magic)


def _refuse_header(length: int, magic: int) -> None:
    if length < _SMALLEST_LEGACY_LENGTH:
        raise CorruptRecordsError(
            f"Record size {length} is less than the minimum record overhead ({_SMALLEST_LEGACY_LENGTH})"
        )
    if magic < MAGIC:
        raise MalformedRecordsError(
            f"Record batches of magic version {magic} are not accepted, only of version 2"
        )
    if magic > MAGIC:
        raise CorruptRecordsError(f"Invalid magic found in record: {magic}")
    raise CorruptRecordsError(
        f"Record batch is corrupt (the size {length + LOG_OVERHEAD} is smaller than the minimum allowed "
        f"overhead {HEADER_SIZE})"
    )


def crc_of(view: Buffer, position: int, size: int) -> int:
    """The checksum of `size` bytes of batch at `position`. Give a memoryview: slicing bytes copies."""
    return crc32c(view[position + ATTRIBUTES_AT : position + size])


def crc_matches(view: Buffer, position: int, header: BatchHeader) -> bool:
    return crc32c(view[position + ATTRIBUTES_AT : position + LOG_OVERHEAD + header[1]]) == header[4]


def check_crc(view: Buffer, position: int, header: BatchHeader) -> None:
    computed = crc_of(view, position, header.size)
    if computed != header.crc:
        raise CorruptRecordsError(f"Record is corrupt (stored crc = {header.crc}, computed crc = {computed})")


def set_max_timestamp_and_type(
    buffer: bytearray | memoryview, position: int, max_timestamp: int, timestamp_type: int
) -> None:
    """LogAppendTime costs eleven bytes and a checksum: readers take the max timestamp for every record."""
    header = read_header(buffer, position)
    attributes = header.attributes & ~LOG_APPEND_TIME_MASK
    if timestamp_type == LOG_APPEND_TIME:
        attributes |= LOG_APPEND_TIME_MASK
    if attributes == header.attributes and max_timestamp == header.max_timestamp:
        return
    _ATTRIBUTES.pack_into(buffer, position + ATTRIBUTES_AT, attributes)
    INT64.pack_into(buffer, position + MAX_TIMESTAMP_AT, max_timestamp)
    seal(buffer, position, header.size)


def seal(buffer: bytearray | memoryview, position: int, size: int) -> None:
    """Write the checksum over what is there now."""
    with memoryview(buffer) as view:
        UINT32.pack_into(buffer, position + CRC_AT, crc_of(view, position, size))
