"""What a leader must look inside a batch for: keys, timestamps, another codec. Decisions, nothing is patched.

`needs_walk` says from the header whether any of it applies; if not, the batch stays opaque.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.ports import Buffer
from barnabas.records.batch import CREATE_TIME, LOG_APPEND_TIME, NO_TIMESTAMP, BatchHeader
from barnabas.records.build import pack_batch
from barnabas.records.check import check_client_fields
from barnabas.records.compress import Codec, codec_of
from barnabas.records.errors import MalformedRecordsError, RecordError, RejectedRecordsError, TooLargeError
from barnabas.records.summary import Summary, summarise
from barnabas.records.varint import INT64_MAX, INT64_MIN
from barnabas.records.walk import Fields, payload_of, walk_fields

# A bomb of tiny bad records must not become a list of millions; clients need the first to know what is wrong.
RECORD_ERRORS_MAX = 10_000
_SHOWN_ERRORS = 3


@dataclass(frozen=True, slots=True)
class Rules:
    """The topic's settings and the moment, as far as records care. `target_codec` None stands for
    `compression.type=producer`; `uncompressed_bytes_max` bounds what a compressed batch may unfold to."""

    partition: TopicPartition
    now_ms: int
    compacted: bool = False
    timestamp_type: int = CREATE_TIME
    before_max_ms: int = INT64_MAX
    after_max_ms: int = 3_600_000
    target_codec: Codec | None = None
    target_level: int | None = None
    max_message_bytes: int = 1_048_588
    uncompressed_bytes_max: int = 104_857_600
    from_client: bool = True


class Validated(NamedTuple):
    """Append `replacement` instead of the batch if there is one. Then set `max_timestamp` and
    `timestamp_type` in its header (a no-op when they are right already)."""

    position: int
    header: BatchHeader
    replacement: bytearray | None
    max_timestamp: int
    timestamp_type: int


def needs_walk(header: BatchHeader, rules: Rules) -> bool:
    """Later records than the header's max timestamp would be a lie of the header; it is believed here."""
    return (
        rules.compacted
        or (rules.target_codec is not None and rules.target_codec != header.codec)
        or header.is_log_append_time
        or (
            rules.timestamp_type == CREATE_TIME
            and (rules.before_max_ms < INT64_MAX or header.max_timestamp - rules.now_ms > rules.after_max_ms)
        )
    )


def validate_batch(buffer: Buffer, position: int, header: BatchHeader, rules: Rules) -> Validated:
    """The checksum has been checked before."""
    if rules.from_client:
        check_client_fields(header, rules.partition)
    source = codec_of(header.codec)
    payload = payload_of(buffer, position, header, rules.uncompressed_bytes_max)
    max_timestamp = _check_records(payload, header, rules)
    if rules.timestamp_type == LOG_APPEND_TIME:
        max_timestamp = rules.now_ms
    target = source if rules.target_codec is None else rules.target_codec
    # Control records stay as they were written: nobody compresses a marker.
    if target == source or (source == Codec.NONE and header.is_control):
        return Validated(position, header, None, max_timestamp, rules.timestamp_type)
    replacement = pack_batch(header, payload, target, rules.target_level)
    if len(replacement) > rules.max_message_bytes:
        raise TooLargeError(
            f"Message batch size is {len(replacement)} bytes in append to partition {rules.partition} "
            f"which exceeds the maximum configured size of {rules.max_message_bytes}."
        )
    return Validated(position, header, replacement, max_timestamp, rules.timestamp_type)


def _check_records(payload: bytes, header: BatchHeader, rules: Rules) -> int:
    """The largest timestamp found; raises with every record's error."""
    summary = summarise(payload, header)
    if summary is not None and _is_flawless(summary, header, rules):
        return max(NO_TIMESTAMP, header.base_timestamp + summary.latest_delta)
    errors = _Errors()
    max_timestamp = NO_TIMESTAMP
    for index, fields, timestamp in _timestamps(payload, header):
        if rules.compacted and fields[4] < 0:
            errors.add(
                ErrorCode.INVALID_RECORD,
                index,
                f"Compacted topic cannot accept message without key in topic partition {rules.partition}",
            )
            continue
        problem = _timestamp_problem(timestamp, fields, header, rules)
        if problem is not None:
            errors.add(ErrorCode.INVALID_TIMESTAMP, index, problem)
        elif timestamp > max_timestamp:
            max_timestamp = timestamp
    errors.raise_if_any()
    return max_timestamp


def _is_flawless(summary: Summary, header: BatchHeader, rules: Rules) -> bool:
    """Whether no record can have an error: the earliest and the latest of them have none."""
    earliest = header.base_timestamp + summary.earliest_delta
    latest = header.base_timestamp + summary.latest_delta
    if header.is_log_append_time or earliest < INT64_MIN or latest > INT64_MAX:
        return False
    if rules.compacted and summary.without_key:
        return False
    return rules.timestamp_type != CREATE_TIME or (
        rules.now_ms - earliest <= rules.before_max_ms and latest - rules.now_ms <= rules.after_max_ms
    )


def _timestamps(payload: bytes, header: BatchHeader) -> Iterator[tuple[int, Fields, int]]:
    append_time = header.max_timestamp if header.is_log_append_time else None
    for index, fields in enumerate(walk_fields(payload, header.count, header.last_offset_delta)):
        timestamp = header.base_timestamp + fields[2]
        if not INT64_MIN <= timestamp <= INT64_MAX:
            raise MalformedRecordsError(f"Timestamp {timestamp} does not fit into 64 bits")
        yield index, fields, timestamp if append_time is None else append_time


def _timestamp_problem(timestamp: int, fields: Fields, header: BatchHeader, rules: Rules) -> str | None:
    if rules.timestamp_type == CREATE_TIME and timestamp != NO_TIMESTAMP:
        age_ms = rules.now_ms - timestamp
        if age_ms <= rules.before_max_ms and -age_ms <= rules.after_max_ms:
            return None
        earliest, latest = (
            _int64(rules.now_ms - rules.before_max_ms),
            _int64(rules.now_ms + rules.after_max_ms),
        )
        return (
            f"Timestamp {timestamp} of message with offset {header.base_offset + fields[3]} is out of range. "
            f"The timestamp should be within [{earliest}, {latest}]"
        )
    if header.is_log_append_time:
        return (
            f"Invalid timestamp type in message {_describe(timestamp, fields, header, rules)}. "
            "Producer should not set timestamp type to LogAppendTime."
        )
    return None


def _describe(timestamp: int, fields: Fields, header: BatchHeader, rules: Rules) -> str:
    """Of what stays compressed Kafka skims the records, and has another word for them and for null."""
    is_skimmed = header.codec != Codec.NONE and rules.target_codec in {None, header.codec}
    kind, null_size = ("PartialDefaultRecord", -1) if is_skimmed else ("DefaultRecord", 0)
    _, _, _, offset_delta, key_start, key_end, value_start, value_end = fields
    key_size = key_end - key_start if key_start >= 0 else null_size
    value_size = value_end - value_start if value_start >= 0 else null_size
    return (
        f"{kind}(offset={header.base_offset + offset_delta}, timestamp={timestamp}, "
        f"key={key_size} bytes, value={value_size} bytes)"
    )


def _int64(number: int) -> int:
    """Kafka's sum of a clock and an unlimited bound wraps around, and its message shows that."""
    return (number + 2**63) % 2**64 - 2**63


class _Errors:
    def __init__(self) -> None:
        self.rows: list[RecordError] = []
        self.count = 0
        self.has_invalid_timestamp = False

    def add(self, code: ErrorCode, index: int, message: str) -> None:
        self.count += 1
        self.has_invalid_timestamp |= code is ErrorCode.INVALID_TIMESTAMP
        if len(self.rows) < RECORD_ERRORS_MAX:
            self.rows.append(RecordError(index, message))

    def raise_if_any(self) -> None:
        if self.has_invalid_timestamp:
            raise RejectedRecordsError(
                ErrorCode.INVALID_TIMESTAMP,
                "One or more records have been rejected due to invalid timestamp",
                self.rows,
            )
        if self.rows:
            shown = ", ".join(
                f"RecordError(batchIndex={row.batch_index}, message='{row.message}')"
                for row in self.rows[:_SHOWN_ERRORS]
            )
            raise RejectedRecordsError(
                ErrorCode.INVALID_RECORD,
                f"One or more records have been rejected due to {self.count} record errors in total, "
                f"and only showing the first three errors at most: [{shown}]",
                self.rows,
            )
