"""Control records: the bytes Kafka writes, and what is read from them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.records.support import read

from barnabas.records import batch as b
from barnabas.records.control import (
    EndTransactionMarker,
    LeaderChange,
    UnknownControl,
    build_leader_change,
    build_marker,
    parse_control,
    plain_marker,
)
from barnabas.records.errors import MalformedRecordsError
from barnabas.records.walk import Record


@pytest.mark.parametrize("committed", [True, False])
def test_a_marker_is_a_transactional_control_batch_without_sequence(committed: bool) -> None:
    marker = EndTransactionMarker(committed, coordinator_epoch=17)
    batch = build_marker(
        marker, producer_id=1000, producer_epoch=5, timestamp=99, base_offset=40, leader_epoch=2
    )
    header = b.read_header(batch)
    assert header.is_control
    assert header.is_transactional
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (1000, 5, b.NO_SEQUENCE)
    assert (header.base_offset, header.leader_epoch, header.count, header.codec) == (40, 2, 1, 0)
    (record,) = read(batch)
    assert record == Record(40, 99, bytes([0, 0, 0, committed]), bytes([0, 0, 0, 0, 0, 17]))
    assert parse_control(record) == marker
    assert plain_marker(batch, 0, header) == marker


@given(at=st.integers(b.HEADER_SIZE, b.HEADER_SIZE + 16), byte=st.integers(0, 255), committed=st.booleans())
def test_a_marker_read_without_the_walk_is_the_one_the_walk_finds(
    at: int, byte: int, committed: bool
) -> None:
    batch = build_marker(EndTransactionMarker(committed, 17), producer_id=1, producer_epoch=5, timestamp=99)
    batch[at] = byte
    plain = plain_marker(batch, 0, b.read_header(batch))
    if plain is not None:
        (record,) = read(batch)
        assert parse_control(record) == plain


ids = st.integers(-1, 2**31 - 1)


@given(leader_id=ids, voters=st.lists(ids, max_size=200), granting=st.lists(ids, max_size=3))
def test_a_leader_change_names_leader_and_voters(
    leader_id: int, voters: list[int], granting: list[int]
) -> None:
    change = LeaderChange(leader_id, tuple(voters), tuple(granting))
    batch = build_leader_change(change, timestamp=1, base_offset=3, leader_epoch=8)
    header = b.read_header(batch)
    assert header.is_control
    assert not header.is_transactional
    assert header.producer_id == b.NO_PRODUCER_ID
    (record,) = read(batch)
    assert parse_control(record) == change


def test_a_leader_change_has_the_bytes_kafka_writes() -> None:
    """The value was taken from the metadata log of an Apache Kafka 4.3 broker."""
    (record,) = read(build_leader_change(LeaderChange(1, (1,), (1,)), timestamp=1))
    assert record.key == bytes.fromhex("00000002")
    assert record.value == bytes.fromhex("00000000000102000000010002000000010000")


def test_leader_change_with_directory_ids_is_read() -> None:
    voter = bytes([0, 0, 0, 4]) + bytes(16) + b"\x01\x00\x02hi"
    value = bytes([0, 1, 0, 0, 0, 4, 2]) + voter + bytes([1, 0])
    assert parse_control(Record(0, 0, bytes([0, 0, 0, 2]), value)) == LeaderChange(4, (4,), ())


def test_types_of_the_future_are_kept_and_not_interpreted() -> None:
    assert parse_control(Record(0, 0, bytes([0, 0, 0, 5]), b"?")) == UnknownControl(5)
    assert parse_control(Record(0, 0, bytes([0, 9, 0, 77, 1]), None)) == UnknownControl(77)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (None, bytes(6)),
        (b"\0\0\0", bytes(6)),
        (b"\xff\xff\0\0", bytes(6)),
        (b"\0\0\0\x01", b"\0\0\0"),
        (b"\0\0\0\x01", b"\xff\xff\0\0\0\0"),
        (b"\0\0\0\x01", None),
        (b"\0\0\0\x02", b"\0\0\0\0\0\x01\xff\xff\xff\xff\xff\xff"),
        (b"\0\0\0\x02", b"\0\0\0\0\0\x01\x09\0\0"),
    ],
)
def test_broken_control_records_are_malformed(key: bytes | None, value: bytes | None) -> None:
    with pytest.raises(MalformedRecordsError):
        parse_control(Record(0, 0, key, value))
