"""Rows as the plain walk gives them, to compare columns with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa

from barnabas.records import batch as b
from barnabas.records.walk import Headers, Record, records_of

LIMIT = 1 << 22

Row: TypeAlias = tuple[Any, ...]


class Log(NamedTuple):
    """Batches in a row, as a Fetch response holds them, and the transactions it calls aborted."""

    batches: tuple[bytes, ...]
    aborted: dict[int, list[int]]

    @property
    def content(self) -> bytes:
        return b"".join(self.batches)

    @property
    def next_offset(self) -> int:
        return b.read_header(self.batches[-1]).next_offset if self.batches else 0


def columns_of(record: Record, timestamp_type: int) -> Row:
    return (
        record.key,
        record.value,
        record.offset,
        record.timestamp * 1000,
        timestamp_type,
        headers_of(record.headers),
    )


def headers_of(headers: Headers) -> list[tuple[str, bytes | None]] | None:
    """Null without headers, replacement characters where a key is no text: as Spark's connector has it."""
    pairs = [(k if isinstance(k, str) else k.decode(errors="replace"), v) for k, v in headers]
    return pairs or None


def rows_of(batches: Iterable[bytes], first_offset: int, end_offset: int) -> list[Row]:
    """Every record of the batches that are no control batches."""
    found = []
    for batch in batches:
        header = b.read_header(batch)
        if not header.is_control:
            found += [
                columns_of(record, int(header.is_log_append_time))
                for record in records_of(batch, 0, header, LIMIT)
                if first_offset <= record.offset < end_offset
            ]
    return found


def to_rows(columns: pa.RecordBatch) -> list[Row]:
    columns.validate(full=True)
    lists = [
        columns.column(index).cast(pa.int64()).to_pylist() if name == "timestamp" else _values(columns, index)
        for index, name in enumerate(columns.schema.names)
    ]
    return list(zip(*lists, strict=True))


def _values(columns: pa.RecordBatch, index: int) -> list[Any]:
    values: list[Any] = columns.column(index).to_pylist()
    if columns.schema.names[index] == "headers":
        return [None if v is None else [(entry["key"], entry["value"]) for entry in v] for v in values]
    return values
