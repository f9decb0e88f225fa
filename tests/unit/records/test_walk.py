"""Build and walk: what is built comes back, other clients agree, and every contradiction is refused."""

from __future__ import annotations

from typing import Any

import kio.records.readers
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.unit.records import fuzz
from tests.unit.records.foreign import (
    AiokafkaBuilder,
    AiokafkaRecords,
    KafkaPythonBuilder,
    KafkaPythonRecords,
)
from tests.unit.records.support import (
    LIMIT,
    encoded,
    read,
    record_lists,
    some_records,
    with_header,
    with_payload,
)

from barnabas.records import batch as b
from barnabas.records.build import build_batch, pack_batch, record_size
from barnabas.records.compress import Codec
from barnabas.records.errors import MalformedRecordsError, RecordsError, TooLargeError
from barnabas.records.walk import Record, lengths_agree, payload_of, records_of, walk_keys, walk_payload_keys

codecs = st.sampled_from(list(Codec))


@given(records=record_lists(gaps=True), codec=codecs, base_offset=st.integers(0, 2**62))
def test_records_come_back_as_they_were_built(records: list[Record], codec: Codec, base_offset: int) -> None:
    moved = [record._replace(offset=record.offset + base_offset) for record in records]
    batch = build_batch(moved, base_offset=base_offset, codec=codec)
    header = b.read_header(batch)
    assert read(batch) == moved
    assert (header.count, header.size, header.base_offset) == (len(records), len(batch), base_offset)
    assert header.codec == (codec if records else Codec.NONE)
    assert header.max_timestamp == max((record.timestamp for record in records), default=-1)
    assert header.last_offset == (moved[-1].offset if moved else base_offset)
    assert b.crc_matches(memoryview(batch), 0, header)


@given(records=record_lists(gaps=True), codec=codecs)
def test_key_walk_agrees_with_the_full_walk(records: list[Record], codec: Codec) -> None:
    batch = build_batch(records, codec=codec)
    keyed = list(walk_keys(batch, 0, b.read_header(batch), LIMIT))
    assert [(k.offset, k.timestamp, k.key, k.has_value) for k in keyed] == [
        (r.offset, r.timestamp, r.key, r.value is not None) for r in records
    ]


@given(records=record_lists(min_size=1, gaps=True), codec=codecs, choice=st.integers(0, 2**12))
def test_records_kept_by_position_form_a_batch_with_gaps(
    records: list[Record], codec: Codec, choice: int
) -> None:
    batch = build_batch(records, codec=codec)
    header = b.read_header(batch)
    payload = payload_of(batch, 0, header, LIMIT)
    kept = [k for i, k in enumerate(walk_payload_keys(payload, header)) if choice >> i & 1]
    smaller = pack_batch(
        header._replace(count=len(kept)), b"".join(payload[k.start : k.end] for k in kept), header.codec
    )
    assert read(smaller) == [r for i, r in enumerate(records) if choice >> i & 1]
    assert b.read_header(smaller).last_offset == header.last_offset


@given(records=record_lists(min_size=1))
def test_record_size_foretells_what_is_written(records: list[Record]) -> None:
    base = records[0].timestamp
    sizes = [record_size(record, record.timestamp - base, record.offset) for record in records]
    assert sum(sizes) == len(encoded(records))


def test_log_append_time_gives_every_record_the_max_timestamp() -> None:
    batch = build_batch(some_records(3))
    b.set_max_timestamp_and_type(batch, 0, 5555, b.LOG_APPEND_TIME)
    assert {record.timestamp for record in read(batch)} == {5555}
    assert {k.timestamp for k in walk_keys(batch, 0, b.read_header(batch), LIMIT)} == {5555}


def test_a_delete_horizon_moves_the_base_and_keeps_the_timestamps() -> None:
    batch = build_batch(some_records(3), delete_horizon=987654)
    header = b.read_header(batch)
    assert header.delete_horizon_ms == 987654
    assert read(batch) == some_records(3)


def test_header_fields_of_a_built_batch_are_the_given_ones() -> None:
    batch = build_batch(
        some_records(2),
        producer_id=77,
        producer_epoch=3,
        base_sequence=12,
        transactional=True,
        control=True,
        leader_epoch=9,
        last_offset_delta=40,
        timestamp_type=b.LOG_APPEND_TIME,
        max_timestamp=123456,
    )
    header = b.read_header(batch)
    assert (header.producer_id, header.producer_epoch, header.base_sequence, header.leader_epoch) == (
        77,
        3,
        12,
        9,
    )
    assert header.is_transactional
    assert header.is_control
    assert header.is_log_append_time
    assert (header.last_offset_delta, header.max_timestamp, header.count) == (40, 123456, 2)


def test_a_header_key_that_is_not_text_stays_bytes() -> None:
    record = Record(0, 0, None, None, ((b"\xff\xfe", b"v"), ("text", None)))
    assert read(build_batch([record])) == [record]


# --- other clients ---------------------------------------------------------------------------------------


@given(records=record_lists(min_size=1), codec=codecs)
def test_aiokafka_reads_our_batches(records: list[Record], codec: Codec) -> None:
    theirs = AiokafkaRecords(bytes(build_batch(records, codec=codec))).next_batch()
    assert theirs.validate_crc()
    assert [(r.offset, r.timestamp, r.key, r.value, tuple(r.headers)) for r in theirs] == [
        tuple(r) for r in records
    ]


@given(
    records=record_lists(min_size=1), codec=st.sampled_from([Codec.NONE, Codec.GZIP, Codec.LZ4, Codec.ZSTD])
)
def test_kafka_python_reads_our_batches(records: list[Record], codec: Codec) -> None:
    theirs: Any = KafkaPythonRecords(bytes(build_batch(records, codec=codec))).next_batch()
    assert theirs.validate_crc()
    assert [(r.offset, r.timestamp, r.key, r.value, tuple(r.headers)) for r in theirs] == [
        tuple(r) for r in records
    ]


@given(records=record_lists(min_size=1))
def test_kio_reads_our_batches(records: list[Record]) -> None:
    assume(all(0 <= r.timestamp < 10**14 for r in records))
    data = bytes(build_batch(records, producer_id=5, producer_epoch=1, base_sequence=3))
    batch, size = kio.records.readers.read_batch(data, 0)
    assert size == len(data)
    assert [(r.offset, r.key, r.value, len(r.headers)) for r in batch.records] == [
        (r.offset, r.key, r.value, len(r.headers)) for r in records
    ]


@given(records=record_lists(min_size=1), codec=codecs)
def test_we_read_aiokafka_batches(records: list[Record], codec: Codec) -> None:
    # Its writer takes a first timestamp of -1 for "none yet" and loses it; its own reader agrees with ours.
    records = [record._replace(timestamp=max(record.timestamp, 0)) for record in records]
    builder = AiokafkaBuilder(2, codec, 0, -1, -1, -1, 1 << 20)
    for *fields, headers in records:
        builder.append(*fields, headers=list(headers))
    assert read(bytes(builder.build())) == records


@given(
    records=record_lists(min_size=1), codec=st.sampled_from([Codec.NONE, Codec.GZIP, Codec.LZ4, Codec.ZSTD])
)
def test_we_read_kafka_python_batches(records: list[Record], codec: Codec) -> None:
    builder = KafkaPythonBuilder(magic=2, compression_type=codec, batch_size=1 << 20)
    for _, timestamp, key, value, headers in records:
        builder.append(timestamp, key, value, list(headers))
    builder.close()
    assert read(bytes(builder.buffer())) == records


# --- contradictions --------------------------------------------------------------------------------------


def refused(batch: bytearray) -> str:
    with pytest.raises(MalformedRecordsError) as caught:
        read(batch)
    with pytest.raises(MalformedRecordsError):
        list(walk_keys(batch, 0, b.read_header(batch), LIMIT))
    return caught.value.message


@pytest.mark.parametrize("codec", list(Codec))
def test_a_wrong_count_is_refused(codec: Codec) -> None:
    batch = build_batch(some_records(5), codec=codec)
    assert "records still remaining" in refused(with_header(batch, count=4))
    assert "premature EOF" in refused(with_header(batch, count=6, last_offset_delta=5))
    assert "2000000 records" in refused(with_header(batch, count=2_000_000))
    assert "-1 records" in refused(with_header(batch, count=-1))


@pytest.mark.parametrize(
    "payload",
    [
        bytes([5 << 1, 0, 0, 0, 1, 1, 0]),  # shorter than its fields
        bytes([7 << 1, 0, 0, 0, 1, 1, 0, 0]),  # longer than its fields
        bytes([20 << 1, 0, 0, 0, 1, 1, 0]),  # longer than the batch
        bytes([1, 0, 0, 0, 1, 1, 0]),  # negative length
        bytes([6 << 1, 0, 0, 0, 40, 1, 0]),  # key beyond the record
        bytes([6 << 1, 0, 0, 0, 1, 40, 0]),  # value beyond the record
        bytes([6 << 1, 0, 0, 0, 1, 1, 1]),  # negative count of headers
        bytes([6 << 1, 0, 0, 0, 1, 1, 2]),  # a header that is not there
        bytes([8 << 1, 0, 0, 0, 1, 1, 2, 1, 1]),  # a header without key
        bytes([6 << 1, 0, 0, 2, 1, 1, 0]),  # offset delta behind the last
        bytes([6 << 1, 0, 0, 1, 1, 1, 0]),  # negative offset delta
        bytes([15 << 1, 0] + [0xFF] * 11 + [0, 1, 1, 0]),  # endless varint
        bytes([10 << 1, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 1, 1, 0]),  # offset delta beyond 32 bits
        b"",
    ],
)
def test_a_record_that_contradicts_itself_is_refused(payload: bytes) -> None:
    refused(with_payload(payload, count=1))


def test_the_smallest_record_is_accepted() -> None:
    assert read(with_payload(bytes([6 << 1, 0, 0, 0, 1, 1, 0]), count=1)) == [Record(0, -1, None, None, ())]


def test_offset_deltas_must_increase() -> None:
    record = bytes([6 << 1, 0, 0, 0, 1, 1, 0])
    assert "follows 0" in refused(with_payload(record * 2, count=2))


def test_a_timestamp_beyond_64_bits_is_refused() -> None:
    batch = build_batch([Record(0, 0, None, b"v"), Record(1, 2**40, None, b"v")])
    assert "64 bits" in refused(with_header(batch, base_timestamp=2**63 - 1))


def test_a_batch_that_does_not_fit_its_buffer_is_refused() -> None:
    batch = build_batch(some_records(2))
    refused(with_header(batch, length=b.read_header(batch).length + 1))


@pytest.mark.parametrize("codec", list(Codec))
def test_payload_above_the_limit_is_too_large(codec: Codec) -> None:
    batch = build_batch([Record(0, 0, None, bytes(5000))], codec=codec)
    with pytest.raises(TooLargeError):
        list(records_of(batch, 0, b.read_header(batch), 5000))
    assert len(list(records_of(batch, 0, b.read_header(batch), 5100))) == 1


@given(records=record_lists(min_size=1), count_error=st.integers(-3, 3), cut=st.integers(0, 3))
def test_lengths_agree_exactly_when_the_count_and_the_end_do(
    records: list[Record], count_error: int, cut: int
) -> None:
    batch = build_batch(records)
    whole = b.read_header(batch)
    header = whole._replace(count=whole.count + count_error, length=whole.length - cut)
    assert lengths_agree(batch, 0, header) == (count_error == 0 and cut == 0)


@given(
    runs=st.lists(st.tuples(st.integers(0, 20_000), st.integers(1, 90)), min_size=1, max_size=3),
    count_error=st.sampled_from([-1, 0, 0, 1]),
)
def test_lengths_agree_counts_runs_of_equal_records_right(
    runs: list[tuple[int, int]], count_error: int
) -> None:
    sizes = [size for size, repeat in runs for _ in range(repeat if size < 300 else 3)]
    batch = build_batch([Record(i, 0, None, b"\xce" * size) for i, size in enumerate(sizes)])
    header = b.read_header(batch)
    assert lengths_agree(memoryview(batch), 0, header._replace(count=header.count + count_error)) == (
        count_error == 0
    )


@settings(max_examples=300)
@given(data=st.binary(max_size=400))
def test_random_bytes_never_raise_anything_but_our_errors(data: bytes) -> None:
    fuzz.run(data)


@settings(max_examples=300)
@given(
    records=record_lists(min_size=1),
    codec=codecs,
    damage=st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 255)), min_size=1, max_size=4),
    cut=st.integers(0, 5),
)
def test_damaged_batches_never_raise_anything_but_our_errors(
    records: list[Record], codec: Codec, damage: list[tuple[int, int]], cut: int
) -> None:
    batch = build_batch(records, codec=codec)
    for at, byte in damage:
        batch[at % len(batch)] = byte
    fuzz.run(bytes(batch[: len(batch) - cut]))


def test_the_fuzz_target_notices_a_foreign_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz, "parse_control", lambda record: {}[record.offset])
    with pytest.raises(KeyError):
        fuzz.run(bytes(build_batch(some_records(1))))
    assert issubclass(MalformedRecordsError, RecordsError)
