"""Columns to record batches, as a producer writes them: filled up to a size, then compressed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from barnabas.records.arrow.layout import Columns, body_sizes, columns_of, lay_out
from barnabas.records.arrow.varints import Ints, sizes_of_varints
from barnabas.records.batch import (
    CREATE_TIME,
    HEADER_SIZE,
    MAGIC,
    NO_LEADER_EPOCH,
    NO_SEQUENCE,
    BatchHeader,
    increment_sequence,
)
from barnabas.records.build import attributes_of, pack_batch
from barnabas.records.errors import TooLargeError

_STRETCH_BYTES = 16 << 20  # of records laid out at once, if a single batch does not need more


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
    bodies = body_sizes(columns)
    _check_sizes(bodies, request_bytes_max)
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
    return _batches(columns, bodies, header, min(batch_bytes, request_bytes_max), codec, level)


def _check_sizes(bodies: Ints, request_bytes_max: int) -> None:
    if not len(bodies):
        return
    with_delta = bodies + 1
    sizes = with_delta + sizes_of_varints(with_delta) + HEADER_SIZE
    largest = int(sizes.argmax())
    if sizes[largest] > request_bytes_max:
        raise TooLargeError(
            f"The record at row {largest} takes {sizes[largest]} bytes in a batch of its own, "
            f"which is more than the {request_bytes_max} of the largest request"
        )


def _batches(
    columns: Columns, bodies: Ints, header: BatchHeader, batch_bytes: int, codec: int, level: int | None
) -> Iterator[Encoded]:
    sequence = header.base_sequence
    for bounds in _stretches(bodies, batch_bytes - HEADER_SIZE):
        for payload, count in _payloads(columns, bodies, bounds):
            whole = header._replace(last_offset_delta=count - 1, base_sequence=sequence, count=count)
            yield Encoded(pack_batch(whole, payload, codec, level), count)
            if sequence != NO_SEQUENCE:
                sequence = increment_sequence(sequence, count)


def _stretches(bodies: Ints, room: int) -> Iterator[list[int]]:
    """Bounds of neighbouring batches that are laid out together: numpy and Arrow ask for long columns."""
    bounds, size = [0], 0
    for end, batch_size in _bounds(bodies, room):
        bounds.append(end)
        size += batch_size
        if size >= _STRETCH_BYTES:
            yield bounds
            bounds, size = [end], 0
    if size:
        yield bounds


def _bounds(bodies: Ints, room: int) -> Iterator[tuple[int, int]]:
    """Where each batch ends, and the bytes of its records: as many as fit into `room`, and one at least."""
    at_least = np.cumsum(bodies + 2)  # a byte for the length and a byte for the offset delta
    start, before = 0, 0
    while start < len(bodies):
        most = max(int(np.searchsorted(at_least, before + room, "right")), start + 1)
        with_delta = bodies[start:most] + sizes_of_varints(np.arange(most - start))
        ends = np.cumsum(with_delta + sizes_of_varints(with_delta))
        count = max(int(np.searchsorted(ends, room, "right")), 1)
        start += count
        before = int(at_least[start - 1])
        yield start, int(ends[count - 1])


def _payloads(columns: Columns, bodies: Ints, bounds: list[int]) -> Iterator[tuple[memoryview, int]]:
    first, last = bounds[0], bounds[-1]
    counts = np.diff(bounds)
    offset_delta = np.arange(first, last) - np.repeat(bounds[:-1], counts)
    body = bodies[first:last] + sizes_of_varints(offset_delta)
    content, ends = lay_out(columns.part(first, last), body, offset_delta)
    start = 0
    for bound, count in zip(bounds[1:], counts.tolist(), strict=True):
        end = int(ends[bound - first - 1])
        yield content[start:end], count
        start = end
