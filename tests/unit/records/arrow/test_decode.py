"""Decoding to columns gives what the plain walk gives, and refuses what it refuses."""

from __future__ import annotations

import struct

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.records.arrow.support import LIMIT, Log, rows_of, to_rows
from tests.unit.records.support import (
    any_record,
    encoded,
    record_lists,
    some_records,
    with_header,
    with_payload,
)

from barnabas.records import batch as b
from barnabas.records.arrow import headers
from barnabas.records.arrow.decode import FIELDS, HEADERS, Decoded, decode, decode_parts
from barnabas.records.build import build_batch
from barnabas.records.compress import Codec
from barnabas.records.control import EndTransactionMarker, LeaderChange, build_leader_change, build_marker
from barnabas.records.errors import CorruptRecordsError, MalformedRecordsError, RecordsError, TooLargeError
from barnabas.records.walk import Record, records_of

END = 2**62

small_bytes = st.binary(max_size=200)
header_keys = st.text(max_size=5) | st.binary(max_size=5)
record_headers = st.lists(st.tuples(header_keys, st.none() | small_bytes), max_size=3).map(tuple)
records = st.builds(Record._replace, any_record, headers=record_headers)


@st.composite
def data_batches(draw: st.DrawFn, base_offset: int) -> bytes:
    """A batch as a producer wrote it or as compaction left it."""
    offset = base_offset
    content = []
    for record in draw(st.lists(records, max_size=8)):
        offset += draw(st.integers(0, 300))
        content.append(record._replace(offset=offset))
        offset += 1
    return bytes(
        build_batch(
            content,
            base_offset=base_offset,
            codec=draw(st.sampled_from(Codec)),
            timestamp_type=draw(st.sampled_from((b.CREATE_TIME, b.LOG_APPEND_TIME))),
            delete_horizon=draw(st.none() | st.integers(0, 2**50)),
            last_offset_delta=max(offset - base_offset - 1, 0) + draw(st.integers(0, 5)),
        )
    )


@st.composite
def logs(draw: st.DrawFn) -> Log:
    batches: list[bytes] = []
    offset = draw(st.integers(0, 1000))
    for _ in range(draw(st.integers(0, 5))):
        batches.append(draw(data_batches(base_offset=offset)))
        offset = b.read_header(batches[-1]).next_offset + draw(st.integers(0, 3))
    return Log(tuple(batches), {})


def read(content: bytes, first_offset: int = 0, end_offset: int = END) -> Decoded:
    return decode(content, first_offset, end_offset, with_headers=True, payload_limit=LIMIT)


@given(log=logs())
def test_rows_are_those_of_the_plain_walk(log: Log) -> None:
    rows, next_offset = read(log.content)
    assert to_rows(rows) == rows_of(log.batches, 0, END)
    assert next_offset == log.next_offset
    without_headers = decode(log.content, 0, END)
    assert without_headers.rows == rows.drop_columns(["headers"])


@given(log=logs(), first=st.integers(0, 3000), length=st.integers(0, 3000))
def test_offsets_outside_the_asked_range_are_left_out(log: Log, first: int, length: int) -> None:
    rows, next_offset = read(log.content, first, first + length)
    assert to_rows(rows) == rows_of(log.batches, first, first + length)
    seen = [header for header in map(b.read_header, log.batches) if header.base_offset < first + length]
    unseen = [header.base_offset for header in map(b.read_header, log.batches)][len(seen) : len(seen) + 1]
    assert next_offset == max([first, *unseen, *(header.next_offset for header in seen)])


@given(log=logs(), cut=st.integers(1, 200), kind=st.sampled_from((bytes, bytearray, memoryview)))
def test_an_incomplete_batch_at_the_end_waits_for_the_next_fetch(log: Log, cut: int, kind: type) -> None:
    if log.batches:
        whole = Log(log.batches[:-1], {})
        last = log.batches[-1]
        rows, next_offset = read(kind(whole.content + last[: len(last) - min(cut, len(last) - 1)]))
        assert to_rows(rows) == rows_of(whole.batches, 0, END)
        assert next_offset == whole.next_offset


def test_schema_is_what_spark_asks_for() -> None:
    from pyspark.sql import types
    from pyspark.sql.pandas.types import to_arrow_schema

    header = types.StructType().add("key", types.StringType()).add("value", types.BinaryType())
    columns = (
        types.StructType()
        .add("key", types.BinaryType())
        .add("value", types.BinaryType())
        .add("offset", types.LongType())
        .add("timestamp", types.TimestampType())
        .add("timestampType", types.IntegerType())
        .add("headers", types.ArrayType(header))
    )
    assert to_arrow_schema(columns, timezone="UTC") == pa.schema([*FIELDS, HEADERS])
    assert read(b"").rows.schema == pa.schema([*FIELDS, HEADERS])
    assert decode(b"", 0, 1).rows.schema == pa.schema(FIELDS)


def test_nothing_to_read_is_an_empty_result_at_the_same_place() -> None:
    assert read(b"", 17) == (pa.RecordBatch.from_pylist([], schema=pa.schema([*FIELDS, HEADERS])), 17)


def test_a_batch_that_compaction_emptied_still_moves_the_offset() -> None:
    rows, next_offset = read(bytes(build_batch([], base_offset=40, last_offset_delta=9)), 40)
    assert (rows.num_rows, next_offset) == (0, 50)


def test_a_gap_up_to_the_end_is_passed() -> None:
    """Without it, a reader of a compacted partition would ask for the same offset for ever."""
    batch = build_batch([Record(90, 1, b"k", b"v")], base_offset=90)
    assert read(bytes(batch), 5, 20) == (read(b"").rows, 90)


def test_control_batches_have_no_rows() -> None:
    change = build_leader_change(LeaderChange(1), timestamp=5)
    data = build_batch([Record(1, 5, None, b"x")], base_offset=1)
    marker = build_marker(
        EndTransactionMarker(True, 0), producer_id=7, producer_epoch=0, timestamp=5, base_offset=2
    )
    rows, next_offset = read(bytes(change + data + marker))
    assert (rows.column("offset").to_pylist(), next_offset) == ([1], 3)


# --- read committed --------------------------------------------------------------------------------------


@st.composite
def transactional_logs(draw: st.DrawFn) -> tuple[Log, list[int]]:
    """Interleaved transactions of three producers, plain batches between them; the offsets that count."""
    batches: list[bytes] = []
    aborted: dict[int, list[int]] = {}
    open_transactions: dict[int, list[int]] = {}
    kept: list[int] = []
    offset = 0
    for _ in range(draw(st.integers(0, 20))):
        producer_id = draw(st.integers(0, 2))
        step = draw(st.sampled_from(("plain", "write", "write", "commit", "abort")))
        if step in {"plain", "write"}:
            count = draw(st.integers(1, 3))
            offsets = list(range(offset, offset + count))
            batches.append(_written(offsets, producer_id, step == "write", draw(st.sampled_from(Codec))))
            if step == "plain":
                kept += offsets
            else:
                open_transactions.setdefault(producer_id, []).extend(offsets)
            offset += count
        elif producer_id in open_transactions:
            offsets = open_transactions.pop(producer_id)
            batches.append(_ended(offset, producer_id, step == "commit"))
            if step == "commit":
                kept += offsets
            else:
                aborted.setdefault(producer_id, []).append(offsets[0])
            offset += 1
    kept += [offset for offsets in open_transactions.values() for offset in offsets]
    return Log(tuple(batches), aborted), sorted(kept)


def _written(offsets: list[int], producer_id: int, transactional: bool, codec: int) -> bytes:
    content = [Record(offset, 10, b"%d" % producer_id, b"%d" % offset) for offset in offsets]
    return bytes(
        build_batch(
            content,
            base_offset=offsets[0],
            codec=codec,
            producer_id=producer_id,
            producer_epoch=0,
            base_sequence=0,
            transactional=transactional,
        )
    )


def _ended(offset: int, producer_id: int, committed: bool) -> bytes:
    marker = EndTransactionMarker(committed, 3)
    return bytes(
        build_marker(marker, producer_id=producer_id, producer_epoch=0, timestamp=10, base_offset=offset)
    )


@given(case=transactional_logs(), first=st.integers(0, 10))
def test_read_committed_leaves_out_aborted_transactions_only(case: tuple[Log, list[int]], first: int) -> None:
    log, kept = case
    rows, next_offset = decode(log.content, first, END, aborted=log.aborted)
    assert rows.column("offset").to_pylist() == [offset for offset in kept if offset >= first]
    assert next_offset == max(log.next_offset, first)


@given(case=transactional_logs())
def test_read_uncommitted_gives_everything_but_markers(case: tuple[Log, list[int]]) -> None:
    log, _ = case
    assert to_rows(read(log.content).rows) == rows_of(log.batches, 0, END)


def test_a_marker_in_an_unusual_shape_still_ends_the_transaction() -> None:
    key, value = struct.pack(">hh", 0, 0), struct.pack(">hi", 0, 3)
    marker = build_batch(
        [Record(2, 10, key, value, (("more", b"x"),))],
        base_offset=2,
        codec=Codec.GZIP,
        producer_id=4,
        transactional=True,
        control=True,
    )
    log = _written([0, 1], 4, True, 0) + bytes(marker) + _written([3], 4, True, 0)
    assert decode(log, 0, END, aborted={4: [0]}).rows.column("offset").to_pylist() == [3]


def test_a_fetch_in_the_middle_of_an_aborted_transaction_leaves_out_its_rest() -> None:
    log = _written([5, 6], 1, True, 0) + _ended(7, 1, False) + _written([8], 1, True, 0)
    assert decode(log, 6, END, aborted={1: [0]}).rows.column("offset").to_pylist() == [8]


# --- bounds ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", list(Codec))
def test_what_exceeds_the_limit_is_left_for_the_next_call(codec: Codec) -> None:
    batches = [
        bytes(build_batch([Record(offset, 1, None, bytes(1000))], base_offset=offset, codec=codec))
        for offset in range(5)
    ]
    content = b"".join(batches)
    rows, next_offset = decode(content, 0, END, payload_limit=2500)
    assert (rows.column("offset").to_pylist(), next_offset) == ([0, 1], 2)
    position = 2 * len(batches[0])
    assert decode(content[position:], 2, END, payload_limit=2500).next_offset == 4
    with pytest.raises(TooLargeError):
        decode(content, 0, END, payload_limit=1000)


@given(log=logs(), part_bytes=st.integers(1, 3000))
def test_parts_together_are_the_whole(log: Log, part_bytes: int) -> None:
    parts = list(decode_parts(log.content, 0, END, with_headers=True, part_bytes=part_bytes))
    assert [row for part in parts for row in to_rows(part.rows)] == rows_of(log.batches, 0, END)
    assert parts[-1].next_offset == log.next_offset
    for part in parts[:-1]:
        last_offset = part.rows.column("offset").to_pylist()[-1:]
        assert part.next_offset > max([0, *last_offset])


def test_an_aborted_transaction_stays_aborted_in_the_next_part() -> None:
    log = _written([0, 1], 7, False, 0) + _written([2], 4, True, 0) + _written([3], 7, False, 0)
    log += _written([4], 4, True, 0) + _ended(5, 4, False) + _written([6], 4, True, 0)
    parts = decode_parts(log, 0, END, aborted={4: [2]}, part_bytes=1)
    assert [part.rows.column("offset").to_pylist() for part in parts] == [[0, 1], [3], [6]]


def test_the_limit_of_a_batch_holds_in_parts_too() -> None:
    batches = b"".join(
        build_batch([Record(offset, 1, None, bytes(size))], base_offset=offset, codec=Codec.ZSTD)
        for offset, size in enumerate((10, 5000, 20_000))
    )
    parts = decode_parts(batches, 0, END, part_bytes=100, payload_limit=10_000)
    assert [next(parts).next_offset, next(parts).next_offset] == [1, 2]
    with pytest.raises(TooLargeError):
        next(parts)


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.ZSTD])
def test_records_of_a_few_bytes_count_for_what_they_take_as_columns(codec: Codec) -> None:
    """Seven bytes become a hundred: the payload alone would not bound memory."""
    content = [Record(offset, 1, None, None) for offset in range(1000)]
    batch = bytes(build_batch(content, codec=codec))
    assert decode(batch, 0, END, payload_limit=120_000).rows.num_rows == 1000
    with pytest.raises(TooLargeError):
        decode(batch, 0, END, payload_limit=100_000)


def test_headers_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headers, "_HEADERS_MAX", 10)
    batch = bytes(build_batch([Record(0, 1, None, None, (("", b""),) * 11)]))
    assert decode(batch, 0, END).rows.num_rows == 1
    with pytest.raises(TooLargeError, match="headers"):
        read(batch)


def test_plain_and_compressed_batches_may_follow_each_other() -> None:
    batches = [
        bytes(build_batch([Record(offset, 1, None, b"%d" % offset)], base_offset=offset, codec=codec))
        for offset, codec in enumerate((0, 0, 3, 0, 4, 0))
    ]
    assert to_rows(read(b"".join(batches)).rows) == rows_of(batches, 0, END)


@pytest.mark.parametrize("count", [-1, 4, 2**31 - 1])
def test_a_count_that_lies_is_refused(count: int) -> None:
    lie = with_header(build_batch(some_records(3)), count=count, last_offset_delta=2**31 - 1)
    with pytest.raises(MalformedRecordsError):
        read(bytes(lie))


@pytest.mark.parametrize("count", [-(2**31), -1, 0, 4, 2**31 - 1])
def test_a_count_that_lies_does_not_open_the_limit_of_what_is_compressed(count: int) -> None:
    batch = build_batch([Record(0, 1, None, bytes(1 << 20))], codec=Codec.ZSTD)
    lie = with_header(batch, count=count, last_offset_delta=2**31 - 1)
    with pytest.raises(MalformedRecordsError if count < 0 else TooLargeError):
        decode(bytes(lie), 0, END, payload_limit=1 << 16)


def test_a_wrong_checksum_is_always_found() -> None:
    batch = build_batch(some_records(3))
    batch[-1] ^= 1
    with pytest.raises(CorruptRecordsError, match="crc"):
        read(bytes(batch))


@pytest.mark.parametrize(
    "fields", [{"base_offset": -5}, {"base_offset": 2**63 - 2}, {"last_offset_delta": -1}]
)
def test_impossible_offsets_are_refused(fields: dict[str, int]) -> None:
    with pytest.raises(CorruptRecordsError):
        decode(bytes(with_header(build_batch(some_records(3)), **fields)), 0, 2**63 - 1)


@pytest.mark.parametrize("timestamp", [2**63 - 1, 2**62, -(2**62)])
def test_a_timestamp_that_microseconds_cannot_hold_is_refused(timestamp: int) -> None:
    with pytest.raises(MalformedRecordsError, match="timestamp"):
        read(bytes(build_batch([Record(0, timestamp, None, b"v")])))


def test_a_timestamp_beyond_64_bits_is_refused_even_if_the_broker_sets_its_own() -> None:
    payload = encoded([Record(0, 0, None, b"v"), Record(1, 2**62, None, b"v")])
    batch = with_payload(payload, 2, base_timestamp=2**62, attributes=b.LOG_APPEND_TIME_MASK, max_timestamp=1)
    with pytest.raises(MalformedRecordsError, match="timestamp"):
        read(bytes(batch))


@given(content=record_lists(min_size=1), data=st.data())
def test_changed_bytes_are_refused_or_mean_the_same_to_the_plain_walk(
    content: list[Record], data: st.DataObject
) -> None:
    """Under a right checksum: what a faulty or hostile producer could have sent."""
    payload = bytearray(encoded(content))
    for _ in range(data.draw(st.integers(1, 3))):
        payload[data.draw(st.integers(0, len(payload) - 1))] = data.draw(st.integers(0, 255))
    _same_verdict(with_payload(bytes(payload), len(content)))


@given(payload=st.binary(max_size=60), count=st.integers(0, 8))
def test_random_bytes_are_refused_as_by_the_plain_walk(payload: bytes, count: int) -> None:
    _same_verdict(with_payload(payload, count, last_offset_delta=max(count - 1, 0)))


def _same_verdict(batch: bytearray) -> None:
    header = b.read_header(batch)
    try:
        walked = list(records_of(batch, 0, header, LIMIT))
    except RecordsError:
        with pytest.raises(RecordsError):
            read(bytes(batch))
        return
    if all(abs(record.timestamp) < 2**63 // 1000 for record in walked):
        assert to_rows(read(bytes(batch)).rows) == rows_of([bytes(batch)], 0, END)
    else:
        with pytest.raises(MalformedRecordsError):
            read(bytes(batch))


@pytest.mark.parametrize("record_count", [1, 40])
def test_records_of_many_headers_are_read(record_count: int) -> None:
    content = [
        Record(i, 1, None, None, tuple((f"name {j}", b"x" * j) for j in range(i % 7 * 40)))
        for i in range(record_count)
    ]
    batch = bytes(build_batch(content))
    assert to_rows(read(batch).rows) == rows_of([bytes(batch)], 0, END)
