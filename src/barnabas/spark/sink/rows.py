"""Rows as they come from Spark, cut into runs that go to one partition each, in their order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from barnabas.model.ids import TopicPartition
from barnabas.spark.errors import PipelineError
from barnabas.spark.sink.targets import Targets


class Rows(NamedTuple):
    """The records for one partition."""

    keys: pa.Array | None
    values: pa.Array
    headers: pa.Array | None

    def part(self, start: int, end: int) -> Rows:
        return Rows(*(None if column is None else column[start:end] for column in self))


def gathered(batches: Iterable[pa.RecordBatch], size: int) -> Iterator[pa.RecordBatch]:
    """Fewer and larger batches: Spark's have 10,000 rows at most, however small."""
    held: list[pa.RecordBatch] = []
    held_bytes = 0
    for batch in batches:
        if batch.num_rows:
            held.append(batch)
            held_bytes += batch.nbytes
        if held_bytes >= size:
            yield _joined(held)
            held, held_bytes = [], 0
    if held:
        yield _joined(held)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    if len(batches) == 1:
        return batches[0]
    return pa.RecordBatch.from_struct_array(pa.concat_arrays([batch.to_struct_array() for batch in batches]))


def grouped(
    batch: pa.RecordBatch, topic: str | None, partitions: pa.Array, targets: Targets
) -> Iterator[tuple[TopicPartition, Rows]]:
    """`topic` for all rows, else the column says it. Rows that name no partition there is are refused."""
    if topic is not None:
        yield from _by_partition(batch, partitions, topic, targets)
        return
    column = column_of(batch, "topic", pa.string())
    if column.null_count:
        raise PipelineError(
            "null topic present in the data. Use the topic option for setting a default topic."
        )
    names = column.dictionary_encode()
    for index, name in enumerate(names.dictionary.to_pylist()):
        chosen = pc.indices_nonzero(pc.equal(names.indices, index))
        if len(chosen) == batch.num_rows:
            yield from _by_partition(batch, partitions, name, targets)
        else:
            yield from _by_partition(batch.take(chosen), partitions.take(chosen), name, targets)


def _by_partition(
    batch: pa.RecordBatch, partitions: pa.Array, topic: str, targets: Targets
) -> Iterator[tuple[TopicPartition, Rows]]:
    partition_count = targets.partition_count(topic)
    if partitions.null_count:
        raise LookupError(f"topic {topic} was not there when its rows were placed, and is there now")
    numbers = partitions.to_numpy(zero_copy_only=False)
    if numbers.min() < 0 or numbers.max() >= partition_count:
        wrong = next(number for number in numbers.tolist() if not 0 <= number < partition_count)
        raise PipelineError(
            f"Topic {topic!r} has {partition_count} partitions and a row asks for partition {wrong}: give "
            f"it a number from 0 to {partition_count - 1}, or null to let its key decide."
        )
    if (numbers == numbers[0]).all():
        yield TopicPartition(topic, int(numbers[0])), rows_of(batch)
        return
    order = np.argsort(numbers, kind="stable")
    found, starts = np.unique(numbers[order], return_index=True)
    rows = rows_of(batch.take(pa.array(order)))
    for number, start, end in zip(found.tolist(), starts, [*starts[1:], len(order)], strict=True):
        yield TopicPartition(topic, number), rows.part(start, end)


def rows_of(batch: pa.RecordBatch) -> Rows:
    names = batch.schema.names
    return Rows(
        column_of(batch, "key", pa.binary()) if "key" in names else None,
        column_of(batch, "value", pa.binary()),
        batch.column("headers") if "headers" in names else None,
    )


def column_of(batch: pa.RecordBatch, name: str, kind: pa.DataType) -> pa.Array:
    column = batch.column(name)
    return column if column.type == kind else column.cast(kind)
