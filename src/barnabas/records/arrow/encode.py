"""Columns to record batches, as a producer writes them: filled up to a size, then compressed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa

from barnabas.records.arrow.columns import columns_of
from barnabas.records.arrow.layout import check_sizes, payloads
from barnabas.records.batch import (
    CREATE_TIME,
    HEADER_SIZE,
    MAGIC,
    NO_LEADER_EPOCH,
    NO_SEQUENCE,
    BatchHeader,
    increment_sequence,
)
from barnabas.records.build import attributes_of, frame_batch
from barnabas.records.compress import Codec, compressor


class Encoded(NamedTuple):
    batch: bytearray
    count: int  # type: ignore[assignment]  # shadows tuple.count on purpose: records in the batch


def encode(
    keys: pa.Array | None,
    values: pa.Array,
    headers: pa.Array | None,
    *,
    timestamp_ms: int,
    batch_bytes: int,
    codec: int,
    level: int | None = None,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    transactional: bool = False,
    request_bytes_max: int,
) -> Iterator[Encoded]:
    """One batch after the other, in order, sequences going on.

    A batch holds what fits into `batch_bytes` uncompressed, and a larger record alone. A record that no batch
    of `request_bytes_max` bytes can hold is a TooLargeError at once, before the first batch.
    """
    columns = columns_of(keys, values, headers)
    check_sizes(columns, request_bytes_max - HEADER_SIZE)
    header = BatchHeader(
        base_offset=0,
        length=0,
        leader_epoch=NO_LEADER_EPOCH,
        magic=MAGIC,
        crc=0,
        attributes=attributes_of(CREATE_TIME, transactional, control=False, has_delete_horizon=False),
        last_offset_delta=0,
        base_timestamp=timestamp_ms,
        max_timestamp=timestamp_ms,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        count=0,
    )
    contents = payloads(columns, min(batch_bytes, request_bytes_max) - HEADER_SIZE)
    return _batches(contents, header, codec, level)


def _batches(
    contents: Iterator[tuple[memoryview, int]], header: BatchHeader, codec: int, level: int | None
) -> Iterator[Encoded]:
    sequence = header.base_sequence
    pack = None if codec == Codec.NONE else compressor(codec, level)
    for payload, count in contents:
        whole = header._replace(last_offset_delta=count - 1, base_sequence=sequence, count=count)
        yield Encoded(frame_batch(whole, payload if pack is None else pack(payload), codec), count)
        if sequence != NO_SEQUENCE:
            sequence = increment_sequence(sequence, count)
