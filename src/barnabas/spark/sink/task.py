"""What a task does: its rows out, its report back. A task never commits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.types import StringType, StructField, StructType

from barnabas.model.ids import TopicPartition
from barnabas.spark.errors import PipelineError
from barnabas.spark.sink.connections import connected
from barnabas.spark.sink.outlet import Outlet
from barnabas.spark.sink.reports import FencedError, Report, Written
from barnabas.spark.sink.rows import Rows, column_of, gathered, grouped
from barnabas.spark.sink.settings import Sink
from barnabas.spark.sink.spread import Spread
from barnabas.spark.sink.targets import Targets
from barnabas.spark.workers import settle
from barnabas.wire import Cluster
from barnabas.wire.transactions import Producer, idempotent_producer

REPORT = "report"
# No text, which Spark would have to be asked to parse for every batch.
REPORT_SCHEMA = StructType([StructField(REPORT, StringType())])
# Spark starts further copies of a slow task again and again, and each that refuses at once counts as a
# failure.
SPECULATIVE_COPY_WAITS_S = 30

Partitions = Callable[[pa.RecordBatch], pa.Array]
Batches = Iterator[pa.RecordBatch]


class SecondAttemptError(Exception):
    """An earlier attempt of this task may have written already, so this one may not."""


def shuffled_writer(
    sink: Sink, producer: Producer | None, is_speculation_on: bool
) -> Callable[[Batches], Batches]:
    """For mapInArrow, over rows that have been brought to their partitions' tasks. Without a producer (at
    least once) every task has one of its own, and may be repeated."""

    def write(batches: Batches) -> Batches:
        settle()
        context = TaskContext.get()
        assert context is not None
        if producer is not None:
            refuse_second_attempt(context.attemptNumber(), is_speculation_on)
        report = write_rows(sink, producer, batches, lambda batch: column_of(batch, "partition", pa.int32()))
        yield pa.RecordBatch.from_pydict({REPORT: [report.to_json()]})

    return write


def unshuffled_writer(sink: Sink) -> Callable[[Batches], Batches]:
    """At least once: any task may write to any partition, and again."""

    def write(batches: Batches) -> Batches:
        settle()
        context = TaskContext.get()
        assert context is not None
        report = write_rows(sink, None, batches, Spread(sink, context.partitionId(), is_moving=True))
        yield pa.RecordBatch.from_pydict({REPORT: [report.to_json()]})

    return write


def refuse_second_attempt(attempt: int, is_speculation_on: bool) -> None:
    if attempt > 0:
        if is_speculation_on:
            time.sleep(SPECULATIVE_COPY_WAITS_S)  # Spark kills this copy as soon as the first one is done
        raise SecondAttemptError(
            f"attempt {attempt} of a task does not write, since an earlier one may have: the batch is run "
            "again"
        )


def write_rows(
    sink: Sink, producer: Producer | None, batches: Iterable[pa.RecordBatch], partitions: Partitions
) -> Report:
    """What the user did wrong, and that the transaction is lost, goes back as a value: the driver says it.
    All else is raised and fails the task."""
    cluster = connected(sink)
    outlet = Outlet(sink, cluster, producer or idempotent_producer(cluster))
    rows, refusal, is_fenced = 0, None, False
    try:
        for batch, groups in runs(sink, cluster, batches, partitions):
            rows += batch.num_rows
            outlet.send(groups)
    except PipelineError as error:
        refusal = str(error)
    except FencedError:
        is_fenced = True
    return report_of(batches, rows, outlet.written, refusal, is_fenced)


def runs(
    sink: Sink, cluster: Cluster, batches: Iterable[pa.RecordBatch], partitions: Partitions
) -> Iterator[tuple[pa.RecordBatch, dict[TopicPartition, Rows]]]:
    """Rows by the partition they go to, some megabytes at a time."""
    targets = Targets(cluster)
    for batch in gathered(batches, sink.gathered_bytes):
        yield batch, dict(grouped(batch, sink.topic, partitions(batch), targets))


def report_of(
    batches: Iterable[pa.RecordBatch],
    rows: int,
    written: tuple[Written, ...],
    refusal: str | None,
    is_fenced: bool = False,
) -> Report:
    for _ in batches:
        """Spark wants to be read to the end."""
    context = TaskContext.get()
    assert context is not None
    return Report(context.partitionId(), context.stageId(), rows, written, refusal, is_fenced)
