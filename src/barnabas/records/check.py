"""What a leader checks of every produced batch, from the header and the checksum alone. The hot path."""

from __future__ import annotations

from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.ports import Buffer
from barnabas.records.batch import CODEC_MASK, CONTROL_MASK, NO_PRODUCER_ID, BatchHeader, crc_matches, headers
from barnabas.records.compress import Codec, codec_of
from barnabas.records.errors import (
    CorruptRecordsError,
    MalformedRecordsError,
    RejectedRecordsError,
    TooLargeError,
)
from barnabas.records.walk import lengths_agree

ZSTD_SINCE_PRODUCE_VERSION = 7


def only_batch(buffer: Buffer, start: int, end: int, produce_version: int) -> tuple[int, BatchHeader]:
    """The one batch a Produce request (v3 and later) may hold per partition. Bytes behind it that are no
    whole batch are ignored, as in Kafka."""
    prefix = f"Produce requests with version {produce_version}"
    found = headers(buffer, start, end)
    try:
        first = next(found, None)
    except MalformedRecordsError:
        raise MalformedRecordsError(
            f"{prefix} are only allowed to contain record batches with magic version 2"
        ) from None
    if first is None:
        raise MalformedRecordsError(f"{prefix} must have at least one record batch per partition")
    if produce_version < ZSTD_SINCE_PRODUCE_VERSION and first[1].codec == Codec.ZSTD:
        raise RejectedRecordsError(
            ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"{prefix} are not allowed to use ZStandard compression"
        )
    if next(found, None) is not None:
        raise MalformedRecordsError(
            f"{prefix} are only allowed to contain exactly one record batch per partition"
        )
    return first


def check_batch(
    view: Buffer, position: int, header: BatchHeader, partition: TopicPartition, max_message_bytes: int
) -> None:
    """One condition for the good batches; the bad ones get their reason, in Kafka's order."""
    base_offset, length, _, _, _, attributes, last_delta, _, _, producer_id, _, sequence, count = header
    if not (
        base_offset == 0
        and length + 12 <= max_message_bytes
        and count == last_delta + 1
        and count > 0
        and not attributes & CONTROL_MASK
        and (producer_id == NO_PRODUCER_ID or sequence >= 0)
        and attributes & CODEC_MASK <= Codec.ZSTD
        and crc_matches(view, position, header)
        and (attributes & CODEC_MASK or lengths_agree(view, position, header))
    ):
        check_envelope(view, position, header, partition, max_message_bytes)
        check_client_fields(header, partition)
        codec_of(header.codec)
        check_lengths(view, position, header, partition)
        raise AssertionError("a batch was refused without a reason")


def check_lengths(view: Buffer, position: int, header: BatchHeader, partition: TopicPartition) -> None:
    """A batch whose records do not add up would stop every consumer of the partition at this place."""
    if not lengths_agree(view, position, header):
        raise MalformedRecordsError(
            f"Incorrect declared batch size: the records in the append to {partition} do not fill the batch "
            f"of {header.count} records and {header.size} bytes exactly"
        )


def check_envelope(
    view: Buffer, position: int, header: BatchHeader, partition: TopicPartition, max_message_bytes: int
) -> None:
    """What is looked at first: base offset, size, checksum."""
    if header.base_offset != 0:
        raise MalformedRecordsError(
            f"The baseOffset of the record batch in the append to {partition} should be 0, "
            f"but it is {header.base_offset}"
        )
    if header.size > max_message_bytes:
        raise TooLargeError(
            f"The record batch size in the append to {partition} is {header.size} bytes "
            f"which exceeds the maximum configured value of {max_message_bytes}."
        )
    if not crc_matches(view, position, header):
        raise CorruptRecordsError(
            f"Record is corrupt (stored crc = {header.crc}) in topic partition {partition}."
        )


def check_client_fields(header: BatchHeader, partition: TopicPartition) -> None:
    """What a client may not claim. Brokers' own batches (markers) do not pass here."""
    offsets = f"[{header.base_offset}, {header.last_offset}]"
    where = f"in topic partition {partition}"
    if header.last_offset_delta < 0:
        raise MalformedRecordsError(f"Batch has an invalid offset range: {offsets} {where}")
    if header.count <= 0:
        raise MalformedRecordsError(f"Invalid reported count for record batch: {header.count} {where}")
    if header.last_offset_delta + 1 != header.count:
        raise MalformedRecordsError(
            f"Inconsistent batch offset range {offsets} and count of records {header.count} {where}"
        )
    if header.is_control:
        raise MalformedRecordsError(f"Clients are not allowed to write control records {where}")
    if header.has_producer_id and header.base_sequence < 0:
        raise MalformedRecordsError(
            f"Invalid sequence number {header.base_sequence} in record batch with producerId "
            f"{header.producer_id} {where}"
        )
