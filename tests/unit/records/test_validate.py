"""What a leader refuses, with which code and words; codes and record errors are those an Apache Kafka 4.3
broker answered to the same batches."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.records.support import read, record_lists, some_records, with_header

from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.records import batch as b
from barnabas.records.build import build_batch
from barnabas.records.check import check_batch, only_batch
from barnabas.records.compress import Codec
from barnabas.records.control import EndTransactionMarker, build_marker
from barnabas.records.errors import CorruptRecordsError, RecordsError, RejectedRecordsError, TooLargeError
from barnabas.records.validate import (
    RECORD_ERRORS_MAX,
    Rules,
    Validated,
    needs_walk,
    validate_batch,
)
from barnabas.records.walk import Record

PARTITION = TopicPartition("orders", 3)
NOW = 1_700_000_000_000
RULES = Rules(PARTITION, now_ms=NOW)


def check(batch: bytes | bytearray, max_message_bytes: int = 1 << 20) -> None:
    position, header = only_batch(batch, 0, len(batch), 9)
    check_batch(memoryview(batch), position, header, PARTITION, max_message_bytes)


def validate(batch: bytearray, rules: Rules) -> Validated:
    return validate_batch(batch, 0, b.read_header(batch), rules)


def refusal(batch: bytearray, rules: Rules) -> RejectedRecordsError:
    with pytest.raises(RejectedRecordsError) as caught:
        validate(batch, rules)
    return caught.value


# --- from the header alone -------------------------------------------------------------------------------


@given(records=record_lists(min_size=1), codec=st.sampled_from(list(Codec)))
def test_every_honest_batch_passes_the_header_checks(records: list[Record], codec: Codec) -> None:
    check(build_batch(records, codec=codec))
    check(build_batch(records, codec=codec, producer_id=4, producer_epoch=0, base_sequence=0))


LIES: list[tuple[dict[str, int], ErrorCode, str]] = [
    (
        {"base_offset": 9},
        ErrorCode.INVALID_RECORD,
        "The baseOffset of the record batch in the append to orders-3 should be 0, but it is 9",
    ),
    (
        {"count": 3},
        ErrorCode.INVALID_RECORD,
        "Inconsistent batch offset range [0, 1] and count of records 3 in topic partition orders-3",
    ),
    (
        {"count": 0},
        ErrorCode.INVALID_RECORD,
        "Invalid reported count for record batch: 0 in topic partition orders-3",
    ),
    (
        {"count": -2},
        ErrorCode.INVALID_RECORD,
        "Invalid reported count for record batch: -2 in topic partition orders-3",
    ),
    (
        {"last_offset_delta": -5},
        ErrorCode.INVALID_RECORD,
        "Batch has an invalid offset range: [0, -5] in topic partition orders-3",
    ),
    (
        {"attributes": 0x20},
        ErrorCode.INVALID_RECORD,
        "Clients are not allowed to write control records in topic partition orders-3",
    ),
    (
        {"producer_id": 5},
        ErrorCode.INVALID_RECORD,
        "Invalid sequence number -1 in record batch with producerId 5 in topic partition orders-3",
    ),
    ({"attributes": 5}, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, "Unknown compression type id: 5"),
]


@pytest.mark.parametrize(("lie", "code", "words"), LIES)
def test_a_lie_in_the_header_is_refused_in_kafkas_words(
    lie: dict[str, int], code: ErrorCode, words: str
) -> None:
    with pytest.raises(RecordsError) as caught:
        check(with_header(build_batch(some_records(2)), **lie))
    assert (caught.value.code, caught.value.message) == (code, words)


def test_a_batch_above_the_topics_limit_is_too_large() -> None:
    batch = build_batch(some_records(2))
    check(batch, len(batch))
    with pytest.raises(TooLargeError) as caught:
        check(batch, len(batch) - 1)
    assert caught.value.message == (
        f"The record batch size in the append to orders-3 is {len(batch)} bytes "
        f"which exceeds the maximum configured value of {len(batch) - 1}."
    )


def test_a_wrong_checksum_is_corrupt() -> None:
    batch = build_batch(some_records(2))
    batch[-1] ^= 1
    with pytest.raises(CorruptRecordsError, match=r"Record is corrupt \(stored crc = \d+\)") as caught:
        check(batch)
    assert caught.value.code is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize(
    ("sent", "version", "words"),
    [
        (b"", 9, "Produce requests with version 9 must have at least one record batch per partition"),
        (b"x" * 10, 3, "Produce requests with version 3 must have at least one record batch per partition"),
        (
            bytes(build_batch(some_records(1)) * 2),
            9,
            "Produce requests with version 9 are only allowed to contain exactly one record batch per "
            "partition",
        ),
        (
            bytes(with_header(build_batch(some_records(1)), magic=1)),
            9,
            "Produce requests with version 9 are only allowed to contain record batches with magic version 2",
        ),
    ],
)
def test_a_partition_of_a_produce_request_holds_exactly_one_batch(
    sent: bytes, version: int, words: str
) -> None:
    with pytest.raises(CorruptRecordsError) as caught:
        only_batch(sent, 0, len(sent), version)
    assert (caught.value.code, caught.value.message) == (ErrorCode.INVALID_RECORD, words)


def test_a_torn_second_batch_is_ignored() -> None:
    batch = build_batch(some_records(1))
    assert only_batch(batch + batch[:30], 0, len(batch) + 30, 9) == (0, b.read_header(batch))


def test_zstd_needs_produce_version_7() -> None:
    batch = build_batch(some_records(1), codec=Codec.ZSTD)
    only_batch(batch, 0, len(batch), 7)
    with pytest.raises(RejectedRecordsError) as caught:
        only_batch(batch, 0, len(batch), 6)
    assert caught.value.code is ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    assert (
        caught.value.message == "Produce requests with version 6 are not allowed to use ZStandard compression"
    )


# --- keys ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", list(Codec))
def test_records_without_key_are_refused_on_compacted_topics_one_by_one(codec: Codec) -> None:
    records = [Record(i, NOW, key, b"v") for i, key in enumerate([None, b"x", None, None, None, b""])]
    error = refusal(build_batch(records, codec=codec), replace(RULES, compacted=True))
    row = "Compacted topic cannot accept message without key in topic partition orders-3"
    assert error.code is ErrorCode.INVALID_RECORD
    assert error.record_errors == tuple((i, row) for i in (0, 2, 3, 4))
    shown = ", ".join(f"RecordError(batchIndex={i}, message='{row}')" for i in (0, 2, 3))
    assert error.message == (
        "One or more records have been rejected due to 4 record errors in total, and only showing the "
        f"first three errors at most: [{shown}]"
    )


def test_records_with_keys_are_welcome_on_compacted_topics() -> None:
    batch = build_batch([Record(0, NOW, b"k", None)])
    assert validate(batch, replace(RULES, compacted=True)).replacement is None


def test_the_list_of_record_errors_is_bounded() -> None:
    count = RECORD_ERRORS_MAX + 50
    batch = build_batch([Record(i, NOW, None, None) for i in range(count)], codec=Codec.ZSTD)
    error = refusal(batch, replace(RULES, compacted=True))
    assert len(error.record_errors) == RECORD_ERRORS_MAX
    assert f"due to {count} record errors in total" in error.message


# --- timestamps ------------------------------------------------------------------------------------------


def test_timestamps_out_of_bounds_are_refused_one_by_one() -> None:
    rules = replace(RULES, before_max_ms=1000, after_max_ms=2000)
    stamps = [NOW - 1001, NOW - 1000, NOW + 2000, NOW + 2001, b.NO_TIMESTAMP]
    error = refusal(build_batch([Record(i, t, b"k", b"v") for i, t in enumerate(stamps)]), rules)
    assert error.code is ErrorCode.INVALID_TIMESTAMP
    assert error.message == "One or more records have been rejected due to invalid timestamp"
    assert error.record_errors == tuple(
        (
            i,
            f"Timestamp {stamps[i]} of message with offset {i} is out of range. "
            f"The timestamp should be within [{NOW - 1000}, {NOW + 2000}]",
        )
        for i in (0, 3)
    )


def test_an_unlimited_bound_prints_as_kafka_prints_it() -> None:
    batch = build_batch([Record(0, NOW + 10**8, None, b"v")])
    (row,) = refusal(batch, replace(RULES, now_ms=NOW)).record_errors
    assert row.message.endswith(f"[{NOW - (2**63 - 1)}, {NOW + 3_600_000}]")


def test_a_missing_key_and_a_bad_timestamp_together_are_an_invalid_timestamp() -> None:
    batch = build_batch([Record(0, NOW, None, b"v"), Record(1, 5, b"k", b"v")])
    error = refusal(batch, replace(RULES, compacted=True, before_max_ms=1))
    assert error.code is ErrorCode.INVALID_TIMESTAMP
    assert [row.batch_index for row in error.record_errors] == [0, 1]


def test_log_append_time_ignores_what_the_producer_wrote() -> None:
    batch = build_batch([Record(0, 5, None, b"v")])
    rules = replace(RULES, timestamp_type=b.LOG_APPEND_TIME, before_max_ms=1)
    verdict = validate(batch, rules)
    assert (verdict.max_timestamp, verdict.timestamp_type) == (NOW, b.LOG_APPEND_TIME)


def test_a_producer_may_not_claim_log_append_time() -> None:
    batch = build_batch([Record(0, NOW, b"k", b"v")], timestamp_type=b.LOG_APPEND_TIME)
    error = refusal(batch, replace(RULES, timestamp_type=b.LOG_APPEND_TIME))
    assert error.code is ErrorCode.INVALID_TIMESTAMP
    assert error.record_errors[0].message == (
        f"Invalid timestamp type in message DefaultRecord(offset=0, timestamp={NOW}, key=1 bytes, "
        "value=1 bytes). Producer should not set timestamp type to LogAppendTime."
    )
    assert validate(batch, RULES).timestamp_type == b.CREATE_TIME


def test_the_max_timestamp_is_what_the_records_say_not_what_the_header_claims() -> None:
    batch = with_header(build_batch(some_records(3, timestamp=NOW)), max_timestamp=NOW + 10**9)
    assert needs_walk(b.read_header(batch), RULES)
    assert validate(batch, RULES).max_timestamp == NOW + 2


# --- when to look inside, and recompression --------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (RULES, False),
        (replace(RULES, compacted=True), True),
        (replace(RULES, before_max_ms=10), True),
        (replace(RULES, before_max_ms=10, timestamp_type=b.LOG_APPEND_TIME), False),
        (replace(RULES, target_codec=Codec.NONE), False),
        (replace(RULES, target_codec=Codec.LZ4), True),
        (replace(RULES, now_ms=NOW - 3_600_000), True),
        (replace(RULES, now_ms=NOW - 3_600_000, timestamp_type=b.LOG_APPEND_TIME), False),
    ],
)
def test_only_some_topics_make_the_leader_look_inside(rules: Rules, expected: bool) -> None:
    batch = build_batch(some_records(3, timestamp=NOW))
    assert needs_walk(b.read_header(batch), rules) is expected


def test_a_batch_that_claims_log_append_time_is_looked_into_on_any_topic() -> None:
    batch = build_batch(some_records(3, timestamp=NOW), timestamp_type=b.LOG_APPEND_TIME)
    assert needs_walk(b.read_header(batch), RULES)
    assert needs_walk(b.read_header(batch), replace(RULES, timestamp_type=b.LOG_APPEND_TIME))


@given(
    records=record_lists(min_size=1),
    source=st.sampled_from(list(Codec)),
    target=st.sampled_from([None, *Codec]),
)
def test_recompression_changes_the_codec_and_nothing_else(
    records: list[Record], source: Codec, target: Codec | None
) -> None:
    batch = build_batch(
        records, codec=source, producer_id=8, producer_epoch=2, base_sequence=30, transactional=True
    )
    rules = replace(RULES, target_codec=target, after_max_ms=2**62)
    verdict = validate(batch, rules)
    assert (verdict.replacement is None) == (target in {None, source})
    if verdict.replacement is None:
        return
    before, after = b.read_header(batch), b.read_header(verdict.replacement)
    assert after.codec == target
    assert after._replace(length=0, crc=0, attributes=0) == before._replace(length=0, crc=0, attributes=0)
    assert after.is_transactional
    assert b.crc_matches(memoryview(verdict.replacement), 0, after)
    assert read(verdict.replacement) == records


def test_a_batch_that_grows_beyond_the_limit_when_unpacked_is_too_large() -> None:
    batch = build_batch([Record(0, NOW, None, bytes(10_000))], codec=Codec.GZIP)
    with pytest.raises(TooLargeError, match="exceeds the maximum configured size of 5000"):
        validate(batch, replace(RULES, target_codec=Codec.NONE, max_message_bytes=5000))


def test_a_bomb_is_too_large() -> None:
    batch = build_batch([Record(0, NOW, None, bytes(10_000_000))], codec=Codec.ZSTD)
    with pytest.raises(TooLargeError):
        validate(batch, replace(RULES, compacted=True, uncompressed_bytes_max=1_000_000))


def test_markers_of_the_broker_are_never_compressed_and_need_no_client_rules() -> None:
    marker = build_marker(EndTransactionMarker(True, 1), producer_id=5, producer_epoch=0, timestamp=NOW)
    verdict = validate(marker, replace(RULES, target_codec=Codec.GZIP, from_client=False))
    assert verdict.replacement is None
    with pytest.raises(CorruptRecordsError, match="Clients are not allowed to write control records"):
        validate(marker, RULES)


def test_a_wrong_inside_under_a_right_checksum_is_an_invalid_record() -> None:
    batch = with_header(build_batch(some_records(2, timestamp=NOW)), last_offset_delta=5, count=6)
    with pytest.raises(CorruptRecordsError) as caught:
        validate(batch, replace(RULES, compacted=True))
    assert caught.value.code is ErrorCode.INVALID_RECORD
