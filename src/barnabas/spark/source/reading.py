"""One task: a range of offsets, fetched and decoded straight to Arrow.

While Spark and we work on one answer a thread receives the next. A task holds two answers and the unpacked
records of a part of one.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TypeAlias

import pyarrow as pa

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.records.arrow.decode import FIELDS, HEADERS, decode_parts
from barnabas.records.arrow.scratch import Scratch
from barnabas.records.errors import RecordsError
from barnabas.spark.errors import PipelineError
from barnabas.spark.options import Options
from barnabas.spark.planning_errors import sentence_of, warn
from barnabas.spark.source.contact import borrowed
from barnabas.spark.source.losses import ADVICE, aged_out
from barnabas.spark.source.ranges import Range
from barnabas.spark.source.settings import SourceSettings
from barnabas.spark.workers import settle
from barnabas.wire import WireError
from barnabas.wire.admin.offsets import Found, Spec, list_offsets
from barnabas.wire.cluster import Cluster
from barnabas.wire.fetching import Fetched, Fetcher

_TOPIC = pa.field("topic", pa.string())
_PARTITION = pa.field("partition", pa.int32())
_KEY, _VALUE, *_REST = FIELDS
SCHEMA = pa.schema([_KEY, _VALUE, _TOPIC, _PARTITION, *_REST])
SCHEMA_WITH_HEADERS = SCHEMA.append(HEADERS)
# What Spark gets at once: little enough that it works on one part while we unpack the next, both in the
# processor's caches, and enough that what a part costs by itself does not count.
_PART_BYTES = 2 << 20

Answer: TypeAlias = tuple[Fetched, int]  # with the offset it was asked for


def read(options: Options, settings: SourceSettings, wanted: Range) -> Iterator[pa.RecordBatch]:
    """The records of the range, in order. Compaction, aborted transactions and transactions' own marks leave
    gaps: there may be fewer records than offsets."""
    settle()
    partition = TopicPartition(wanted.topic, wanted.partition)
    try:
        with (
            borrowed(options) as cluster,
            closing(_answers(cluster, partition, settings, wanted.start, wanted.end)) as answers,
            closing(_one_ahead(answers)) as received,
        ):
            yield from _parts(received, settings, wanted)
    except RecordsError as error:
        raise PipelineError(
            f"{partition} holds records that cannot be read, between {wanted.start} and {wanted.end}: {error}"
        ) from None
    except (WireError, ApiError) as error:
        raise PipelineError(f"Reading {partition} failed: {sentence_of(error)}") from None


def _parts(answers: Iterator[Answer], settings: SourceSettings, wanted: Range) -> Iterator[pa.RecordBatch]:
    """In parts: what is compressed well may have a hundred times the answer's size."""
    placing = _Placing(wanted)
    scratch = Scratch()
    for fetched, since in answers:
        for rows, _ in decode_parts(
            fetched.records,
            since,
            wanted.end,
            aborted=fetched.aborted,
            with_headers=settings.include_headers,
            part_bytes=_PART_BYTES,
            scratch=scratch,
        ):
            if rows.num_rows:
                yield placing.place(rows)


def _one_ahead(answers: Iterator[Answer]) -> Generator[Answer, None, None]:
    """A socket holds little of an answer. If nobody takes it out while we unpack the one before, the broker
    has to come back for every few kilobytes, and we wait for it each time."""
    with ThreadPoolExecutor(1, "barnabas-fetch") as thread:
        coming = thread.submit(next, answers, None)
        while (answer := coming.result()) is not None:
            coming = thread.submit(next, answers, None)
            yield answer


def _answers(
    cluster: Cluster, partition: TopicPartition, settings: SourceSettings, position: int, end: int
) -> Generator[Answer, None, None]:
    """Those that hold records."""
    fetcher = Fetcher(
        cluster,
        partition,
        read_committed=settings.read_committed,
        max_bytes=settings.fetch_bytes,
        rack_id=settings.rack_id,
    )
    patience = _Patience(partition, settings.poll_timeout_ms)
    try:
        fetcher.ask(position)
        while position < end:
            try:
                fetched = fetcher.answer()
            except ApiError as error:
                if error.code is not ErrorCode.OFFSET_OUT_OF_RANGE:
                    raise
                position = _beginning(cluster, partition, settings, position, end)
                fetcher.ask(position)
                continue
            since, position = position, fetched.next_offset
            if position == since:
                position = patience.after_nothing(fetched, since, end)
            if position < end:
                fetcher.ask(position)
            if fetched.next_offset > since:
                patience.renew()
                yield fetched, since
    finally:
        fetcher.close()


class _Patience:
    """What to think of an answer without records, where there must be some."""

    def __init__(self, partition: TopicPartition, timeout_ms: int) -> None:
        self._partition = partition
        self._timeout_ms = timeout_ms
        self.renew()

    def renew(self) -> None:
        self._deadline = time.monotonic() + self._timeout_ms / 1000
        self._empty_in_a_row = 0

    def after_nothing(self, fetched: Fetched, position: int, end: int) -> int:
        """Where to go on. A broker that throttles us sends nothing, too, so one such answer proves nothing;
        two of them, from a broker that could give us all we want, say that only a gap is left."""
        self._empty_in_a_row += not fetched.throttle_time_ms
        if self._empty_in_a_row >= 2 and fetched.readable_end >= end:
            return end
        if time.monotonic() > self._deadline:
            raise PipelineError(
                f"The record at offset {position} of {self._partition} did not come within "
                f"{self._timeout_ms} ms, as the partition ends at {fetched.readable_end} now: see to its "
                "leader's health, or raise option kafkaConsumer.pollTimeoutMs."
            )
        time.sleep(min(fetched.throttle_time_ms, 1_000) / 1000)
        return position


def _beginning(
    cluster: Cluster, partition: TopicPartition, settings: SourceSettings, position: int, end: int
) -> int:
    """Where there is something to read again, after what was to be read is gone."""
    found = list_offsets(cluster, {partition: Spec.EARLIEST})[partition]
    if not isinstance(found, Found):
        raise found
    lost_until = min(found.offset, end) if found.offset > position else end
    sentence = aged_out(partition, position, lost_until)
    if settings.fail_on_data_loss:
        raise PipelineError(f"{sentence} {ADVICE}")
    warn(sentence)
    return lost_until


class _Placing:
    """Adds topic and partition, at the places where Spark's own connector has them."""

    def __init__(self, place: Range) -> None:
        self._place = place
        self._make(0)

    def _make(self, row_count: int) -> None:
        """Constants, so they are made once for the longest answer, and shorter ones take a part."""
        self._topics = pa.repeat(pa.scalar(self._place.topic, pa.string()), row_count)
        self._partitions = pa.repeat(pa.scalar(self._place.partition, pa.int32()), row_count)

    def place(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        row_count = rows.num_rows
        if row_count > len(self._topics):
            self._make(row_count)
        key, value, *rest = rows.columns
        schema = SCHEMA_WITH_HEADERS if len(rest) > len(_REST) else SCHEMA
        columns = [key, value, self._topics[:row_count], self._partitions[:row_count], *rest]
        return pa.RecordBatch.from_arrays(columns, schema=schema)
