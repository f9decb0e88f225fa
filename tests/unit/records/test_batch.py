"""The header: where its fields lie, what may be patched in place, where a set of batches ends."""

from __future__ import annotations

import struct

import pytest

from barnabas.model.errors import ErrorCode
from barnabas.records import batch as b
from barnabas.records.errors import CorruptRecordsError, MalformedRecordsError

A_HEADER = b.BatchHeader(
    base_offset=7,
    length=49,
    leader_epoch=3,
    magic=2,
    crc=0,
    attributes=0,
    last_offset_delta=4,
    base_timestamp=1000,
    max_timestamp=1005,
    producer_id=9,
    producer_epoch=1,
    base_sequence=20,
    count=5,
)


def a_batch(*, payload: bytes = b"payload", **fields: int) -> bytearray:
    header = A_HEADER._replace(**{"length": 49 + len(payload)} | fields)
    data = bytearray(b.HEADER.pack(*header) + payload)
    b.seal(data, 0, len(data))
    return data


def test_header_is_sixty_one_bytes_with_fields_where_kafka_puts_them() -> None:
    assert b.HEADER.size == b.HEADER_SIZE
    data = a_batch()
    assert struct.unpack_from(">i", data, b.COUNT_AT) == (5,)
    assert struct.unpack_from(">q", data, b.PRODUCER_ID_AT) == (9,)
    header = b.read_header(data)
    assert (header.base_offset, header.leader_epoch, header.magic, header.count) == (7, 3, 2, 5)
    assert (header.last_offset, header.next_offset, header.size, header.last_sequence) == (11, 12, 68, 24)


@pytest.mark.parametrize(
    ("attributes", "names"),
    [
        (0, set()),
        (0x08, {"is_log_append_time"}),
        (0x10, {"is_transactional"}),
        (0x20, {"is_control"}),
        (0x40, {"has_delete_horizon"}),
    ],
)
def test_each_attribute_bit_has_one_meaning(attributes: int, names: set[str]) -> None:
    header = b.read_header(a_batch(attributes=attributes | 4))
    flags = {"is_log_append_time", "is_transactional", "is_control", "has_delete_horizon"}
    assert {name for name in flags if getattr(header, name)} == names
    assert header.codec == 4
    assert header.delete_horizon_ms == (1000 if "has_delete_horizon" in names else None)


@pytest.mark.parametrize(
    ("base", "delta", "last"),
    [
        (0, 0, 0),
        (b.SEQUENCE_MAX, 0, b.SEQUENCE_MAX),
        (b.SEQUENCE_MAX, 1, 0),
        (b.SEQUENCE_MAX - 1, 4, 2),
        (-1, 4, -1),
    ],
)
def test_sequences_wrap_after_the_largest(base: int, delta: int, last: int) -> None:
    assert b.read_header(a_batch(base_sequence=base, last_offset_delta=delta)).last_sequence == last


def test_offset_and_epoch_are_assigned_without_touching_the_checksum() -> None:
    data = a_batch()
    b.HEADER.pack_into(data, 0, *b.read_header(data)._replace(base_offset=1 << 40, leader_epoch=77))
    header = b.read_header(data)
    assert (header.base_offset, header.leader_epoch) == (1 << 40, 77)
    assert b.crc_matches(memoryview(data), 0, header)


def test_log_append_time_rewrites_attributes_max_timestamp_and_checksum_only() -> None:
    padding = bytearray(b"xyz")
    before = padding + a_batch(attributes=0x12)
    after = bytearray(before)
    b.set_max_timestamp_and_type(after, 3, 424242, b.LOG_APPEND_TIME)
    header = b.read_header(after, 3)
    assert header.is_log_append_time
    assert header.is_transactional
    assert header.codec == 2
    assert (header.base_timestamp, header.max_timestamp) == (1000, 424242)
    assert b.crc_matches(memoryview(after), 3, header)
    changed = {i - 3 for i, (old, new) in enumerate(zip(before, after, strict=True)) if old != new}
    assert changed <= {*range(17, 23), *range(35, 43)}
    b.set_max_timestamp_and_type(after, 3, 1005, b.CREATE_TIME)
    assert after == before


def test_a_flipped_bit_fails_the_checksum() -> None:
    data = a_batch()
    data[-1] ^= 1
    header = b.read_header(data)
    assert not b.crc_matches(memoryview(data), 0, header)
    with pytest.raises(CorruptRecordsError, match=f"stored crc = {header.crc}, computed crc") as caught:
        b.check_crc(data, 0, header)
    assert caught.value.code is ErrorCode.CORRUPT_MESSAGE


def test_headers_finds_every_whole_batch_and_leaves_the_torn_one() -> None:
    one, two = a_batch(payload=b"1"), a_batch(payload=b"", base_offset=12)
    data = b"??" + bytes(one + two)
    found = [(2, 7), (2 + len(one), 12)]
    assert [(position, h.base_offset) for position, h in b.headers(data, 2, len(data))] == found
    for cut in range(1, len(two)):
        assert [(p, h.base_offset) for p, h in b.headers(data, 2, len(data) - cut)] == found[:1]


@pytest.mark.parametrize(
    ("fields", "code", "words"),
    [
        ({"length": -1}, ErrorCode.CORRUPT_MESSAGE, "less than the minimum record overhead"),
        ({"length": 20}, ErrorCode.CORRUPT_MESSAGE, "smaller than the minimum allowed overhead 61"),
        ({"magic": 3}, ErrorCode.CORRUPT_MESSAGE, "Invalid magic found in record: 3"),
        ({"magic": 1}, ErrorCode.INVALID_RECORD, "magic version 1"),
    ],
)
@pytest.mark.parametrize("cut", [0, 20])
def test_headers_refuses_what_cannot_be_a_batch(
    fields: dict[str, int], code: ErrorCode, words: str, cut: int
) -> None:
    data = a_batch(payload=b"payload", **fields)[: 68 - cut]
    with pytest.raises(CorruptRecordsError, match=words) as caught:
        list(b.headers(data, 0, len(data)))
    assert caught.value.code is code
    assert isinstance(caught.value, MalformedRecordsError) == (code is ErrorCode.INVALID_RECORD)
