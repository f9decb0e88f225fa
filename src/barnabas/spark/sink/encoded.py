"""Rows encoded where the plan has them, so that batches and not rows are shuffled.

The tasks of the plan make sealed, compressed batches; nothing of them reaches a broker, so Spark may repeat
them as it likes. A batch then goes to the one task that writes its partition, which gives it its sequence
number. The batches that one task of the plan has made for one partition stay in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from zlib import crc32

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.types import BinaryType, IntegerType, StringType, StructField, StructType

from barnabas.model.ids import TopicPartition
from barnabas.records.arrow.encode import Encoded
from barnabas.records.batch import HEADER, read_header, seal
from barnabas.spark.errors import PipelineError
from barnabas.spark.sink.connections import connected
from barnabas.spark.sink.outlet import Outlet, encoded
from barnabas.spark.sink.reports import FencedError, Report
from barnabas.spark.sink.rows import Rows
from barnabas.spark.sink.settings import Sink
from barnabas.spark.sink.spread import Spread
from barnabas.spark.sink.task import REPORT, Batches, refuse_second_attempt, report_of, runs
from barnabas.spark.workers import settle
from barnabas.wire.transactions import Producer

ENCODED_SCHEMA = StructType(
    [
        StructField("task", IntegerType()),
        StructField("topic", StringType()),
        StructField("partition", IntegerType()),
        StructField("row_count", IntegerType()),
        StructField("batch", BinaryType()),
        StructField("refusal", StringType()),
    ]
)
_SCHEMA = pa.schema(
    [
        ("task", pa.int32()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("row_count", pa.int32()),
        ("batch", pa.binary()),
        ("refusal", pa.string()),
    ]
)
_FIRST_TASK = 0


def row_encoder(sink: Sink, producer: Producer, task_count: int) -> Callable[[Batches], Batches]:
    """For mapInArrow, on the plan's side of the shuffle."""

    def encode_rows(batches: Batches) -> Batches:
        settle()
        context = TaskContext.get()
        assert context is not None
        spread = Spread(sink, context.partitionId(), is_moving=True)
        try:
            for _, groups in runs(sink, connected(sink), batches, spread):
                yield _packed(sink, producer, groups, task_count)
        except PipelineError as error:
            yield _table([(_FIRST_TASK, None, None, 0, None, str(error))])
            for _ in batches:
                """Spark wants to be read to the end."""

    return encode_rows


def batch_writer(sink: Sink, producer: Producer, is_speculation_on: bool) -> Callable[[Batches], Batches]:
    """For mapInArrow, behind the shuffle."""

    def write(batches: Batches) -> Batches:
        settle()
        context = TaskContext.get()
        assert context is not None
        refuse_second_attempt(context.attemptNumber(), is_speculation_on)
        report = write_batches(Outlet(sink, connected(sink), producer), batches)
        yield pa.RecordBatch.from_pydict({REPORT: [report.to_json()]})

    return write


def write_batches(outlet: Outlet, batches: Iterable[pa.RecordBatch]) -> Report:
    rows, refusal, is_fenced = 0, None, False
    try:
        for batch in batches:
            rows += sum(batch.column("row_count").to_pylist())
            outlet.send_batches(_stamped(outlet, batch))
    except PipelineError as error:
        refusal = str(error)
    except FencedError:
        is_fenced = True
    return report_of(batches, rows, outlet.written, refusal, is_fenced)


def stamped(batch: bytearray, sequence: int) -> bytearray:
    """The same batch, with the sequence number that has come to be its own."""
    HEADER.pack_into(batch, 0, *read_header(batch)._replace(base_sequence=sequence))
    seal(batch, 0, len(batch))
    return batch


def task_of(partition: TopicPartition, task_count: int) -> int:
    """Neighbouring partitions of a topic go to different tasks, and each to one only."""
    return (crc32(partition.topic.encode()) + partition.partition) % task_count


_Row = tuple[int, str | None, int | None, int, bytearray | None, str | None]


def _packed(
    sink: Sink, producer: Producer, groups: Mapping[TopicPartition, Rows], task_count: int
) -> pa.RecordBatch:
    return _table(
        [
            (task_of(where, task_count), where.topic, where.partition, one.count, one.batch, None)
            for where, rows in groups.items()
            for one in encoded(sink, producer, where, rows, 0)
        ]
    )


def _table(rows: list[_Row]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, _SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def _stamped(outlet: Outlet, batch: pa.RecordBatch) -> dict[TopicPartition, Iterator[Encoded]]:
    refusals = batch.column("refusal").drop_null()
    if len(refusals):
        raise PipelineError(refusals[0].as_py())
    rows: dict[TopicPartition, list[int]] = {}
    places = zip(batch.column("topic").to_pylist(), batch.column("partition").to_pylist(), strict=True)
    for index, (topic, partition) in enumerate(places):
        rows.setdefault(TopicPartition(topic, partition), []).append(index)
    return {where: _in_turn(outlet, where, batch, indexes) for where, indexes in rows.items()}


def _in_turn(
    outlet: Outlet, partition: TopicPartition, batch: pa.RecordBatch, indexes: list[int]
) -> Iterator[Encoded]:
    """Each is asked for after the one before it has been written."""
    for index in indexes:
        sealed = bytearray(batch.column("batch")[index].as_buffer())
        sequence = outlet.next_sequence(partition)
        yield Encoded(stamped(sealed, sequence), batch.column("row_count")[index].as_py())
