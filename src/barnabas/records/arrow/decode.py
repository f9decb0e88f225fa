"""Record batches of a Fetch response to the columns of Spark's Kafka source.

Nothing here is trusted: checksums are always compared, what contradicts itself is a MalformedRecordsError,
and memory is bounded by `payload_limit` and a small multiple of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from barnabas.ports import Buffer
from barnabas.records.arrow.binary import gather
from barnabas.records.arrow.fields import Fields, find_fields
from barnabas.records.arrow.headers import HEADERS, headers_column
from barnabas.records.arrow.scratch import Scratch
from barnabas.records.arrow.selection import Aborted, Limits, Region, Selection, select
from barnabas.records.arrow.varints import IntArray, Ints
from barnabas.records.batch import LOG_APPEND_TIME
from barnabas.records.errors import MalformedRecordsError
from barnabas.records.varint import INT64_MAX

__all__ = ["FIELDS", "HEADERS", "Aborted", "Decoded", "decode", "decode_parts"]

FIELDS: list[pa.Field] = [
    pa.field("key", pa.binary()),
    pa.field("value", pa.binary()),
    pa.field("offset", pa.int64()),
    pa.field("timestamp", pa.timestamp("us", "UTC")),
    pa.field("timestampType", pa.int32()),
]
_SCHEMA = pa.schema(FIELDS)
_SCHEMA_WITH_HEADERS = pa.schema([*FIELDS, HEADERS])

_MICROSECONDS = 1000  # in a millisecond
_TIMESTAMP_MAX = INT64_MAX // _MICROSECONDS


class Decoded(NamedTuple):
    rows: pa.RecordBatch
    next_offset: int  # behind the last whole batch seen, whatever was left out


def decode(
    buffer: Buffer,
    first_offset: int,
    end_offset: int,
    *,
    aborted: Aborted | None = None,
    with_headers: bool = False,
    payload_limit: int = 1 << 30,
) -> Decoded:
    """The records with first_offset <= offset < end_offset.

    An incomplete batch at the end is left out, control batches too, and with `aborted` (read committed)
    aborted transactions. No more than `payload_limit` bytes are unpacked and made columns of: what does not
    fit is left for the next call, which begins at `next_offset`; a single batch beyond the limit is a
    TooLargeError.
    """
    limits = Limits(part=payload_limit, whole=payload_limit)
    view = memoryview(buffer).cast("B")
    selection = next(select(view, first_offset, end_offset, aborted, limits, Scratch()))
    return _decoded(selection, first_offset, end_offset, with_headers)


def decode_parts(
    buffer: Buffer,
    first_offset: int,
    end_offset: int,
    *,
    aborted: Aborted | None = None,
    with_headers: bool = False,
    part_bytes: int = 64 << 20,
    payload_limit: int = 1 << 30,
    scratch: Scratch | None = None,
) -> Iterator[Decoded]:
    """As `decode`, of the whole buffer, in parts: a part ends with the batch that gives it `part_bytes` of
    records, uncompressed. `payload_limit` is that of a part and of a batch. Who has many buffers brings the
    scratch."""
    limits = Limits(part=part_bytes, whole=payload_limit)
    view = memoryview(buffer).cast("B")
    for selection in select(view, first_offset, end_offset, aborted, limits, scratch or Scratch()):
        yield _decoded(selection, first_offset, end_offset, with_headers)


def _decoded(selection: Selection, first_offset: int, end_offset: int, with_headers: bool) -> Decoded:
    data, regions, next_offset = selection
    regions = [region for region in regions if region.header.count]
    schema = _SCHEMA_WITH_HEADERS if with_headers else _SCHEMA
    if not regions:
        return Decoded(_empty(schema), next_offset)
    fields = find_fields(data, regions)
    rows = _Rows(fields, *_columns_of_batches(regions, fields)).between(first_offset, end_offset)
    return Decoded(rows.to_arrow(data, schema), next_offset)


class _Rows(NamedTuple):
    fields: Fields
    offset: Ints
    timestamp: Ints  # in microseconds
    timestamp_type: IntArray

    def between(self, first_offset: int, end_offset: int) -> _Rows:
        wanted = (self.offset >= first_offset) & (self.offset < end_offset)
        if wanted.all():
            return self
        fields = Fields(*(column[wanted] for column in self.fields))
        return _Rows(fields, self.offset[wanted], self.timestamp[wanted], self.timestamp_type[wanted])

    def to_arrow(self, data: Buffer, schema: pa.Schema) -> pa.RecordBatch:
        columns = [
            gather(data, self.fields.key_start, self.fields.key_length),
            gather(data, self.fields.value_start, self.fields.value_length),
            pa.array(self.offset),
            pa.array(self.timestamp).view(pa.timestamp("us", "UTC")),
            pa.array(self.timestamp_type),
        ]
        if schema is _SCHEMA_WITH_HEADERS:
            columns.append(headers_column(data, self.fields.headers_start, self.fields.end))
        return pa.RecordBatch.from_arrays(columns, schema=schema)


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)


def _columns_of_batches(regions: Sequence[Region], fields: Fields) -> tuple[Ints, Ints, IntArray]:
    """What a record takes from its batch: offset, timestamp in microseconds, timestamp type."""
    headers = [region.header for region in regions]
    counts = [header.count for header in headers]
    offsets = np.repeat(np.array([header.base_offset for header in headers], np.int64), counts)
    bases = np.repeat(np.array([header.base_timestamp for header in headers], np.int64), counts)
    timestamps = bases + fields.timestamp_delta
    # The sign of a sum that overflows differs from those of both summands.
    if (((bases ^ timestamps) & (fields.timestamp_delta ^ timestamps)) < 0).any():
        raise MalformedRecordsError("A timestamp does not fit into 64 bits")
    types = np.repeat(np.array([header.is_log_append_time for header in headers], np.int32), counts)
    if types.any():
        append_times = np.repeat(np.array([header.max_timestamp for header in headers], np.int64), counts)
        timestamps = np.where(types == LOG_APPEND_TIME, append_times, timestamps)
    if timestamps.max() > _TIMESTAMP_MAX or timestamps.min() < -_TIMESTAMP_MAX:
        raise MalformedRecordsError("A timestamp lies beyond what a column of microseconds can hold")
    return offsets + fields.offset_delta, timestamps * _MICROSECONDS, types
