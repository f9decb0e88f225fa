"""`df.writeStream.format("barnabas")`: the same sink without the shuffle.

Spark gives a Python writer no say in which task gets which rows, so two tasks may have rows for one
partition: nothing is committed then, and a sentence points to `write_stream`. Rows without key never make
that happen as long as there are at least as many partitions as tasks: each task keeps to a partition of its
own.

`streamWriter` runs twice per batch, before the tasks and in the process that commits; what the second one has
to know about the first one it finds in the tasks' messages.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceStreamArrowWriter, WriterCommitMessage

from barnabas.spark.errors import PipelineError
from barnabas.spark.planning_errors import plainly
from barnabas.spark.sink.commit import Begun, abort, begin, end, fenced_sentence
from barnabas.spark.sink.ledger import Entry, is_written
from barnabas.spark.sink.outlet import SharedPartitionError
from barnabas.spark.sink.placing import STICKY_ROWS, Ints, place, place_by_topic
from barnabas.spark.sink.reports import FencedError, Report, check, shared_sentence
from barnabas.spark.sink.rows import column_of
from barnabas.spark.sink.settings import Sink
from barnabas.spark.sink.targets import Targets
from barnabas.spark.sink.task import connected, refuse_second_attempt, report_of, write_rows
from barnabas.spark.sink.telling import telling

_BATCH_ID = "streaming.sql.batchId"
_QUERY_ID = "sql.streaming.queryId"


@dataclass(frozen=True)
class Message(WriterCommitMessage):
    """`begun` and `entry` are None for at least once, which has nothing to commit."""

    report: Report
    begun: Begun | None = None
    entry: Entry | None = None
    is_skipped: bool = False


class StreamWriter(DataSourceStreamArrowWriter):
    def __init__(self, sink: Sink, transactional_id: str) -> None:
        self._sink = sink
        self._transactional_id = transactional_id
        self._begun: Begun | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Pickled on its way to the tasks, several times: the first time the transactional id is taken."""
        if self._sink.exactly_once and self._begun is None:
            self._begun = self._begin()
        return self.__dict__

    @plainly
    def _begin(self) -> Begun:
        with self._sink.connect() as cluster:
            return telling(lambda: begin(self._sink, cluster, self._transactional_id))

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Message:
        context = TaskContext.get()
        assert context is not None
        if self._begun is None:
            spread = Spread(self._sink, context.partitionId(), is_moving=True)
            return Message(write_rows(self._sink, None, iterator, spread))
        entry = Entry(str(context.getLocalProperty(_QUERY_ID)), int(context.getLocalProperty(_BATCH_ID) or 0))
        if is_written(entry, self._begun.ledger):
            return Message(report_of(iterator, 0, (), None), self._begun, entry, is_skipped=True)
        refuse_second_attempt(context.attemptNumber(), is_speculation_on=False)
        spread = Spread(self._sink, context.partitionId(), is_moving=False)
        try:
            report = write_rows(self._sink, self._begun.producer, iterator, spread)
        except SharedPartitionError as error:
            report = report_of(iterator, 0, (), shared_sentence(str(error).split(":")[0]))
        return Message(report, self._begun, entry)

    @plainly
    def commit(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:
        told = _told(messages)
        for message in told:
            if message.report.refusal is not None:
                raise PipelineError(message.report.refusal)
        begun = next((message.begun for message in told), None)
        if begun is None or any(message.is_skipped for message in told):
            return
        entry = told[0].entry
        assert entry is not None
        assert entry.batch_id == batchId
        with self._sink.connect() as cluster:
            try:
                end(cluster, begun, check(message.report for message in told), entry)
            except FencedError as error:
                sentence = fenced_sentence(self._transactional_id, begun, time.time())
                raise PipelineError(sentence) from error

    def abort(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:  # noqa: ARG002
        """Messages of tasks that failed are None. An id that somebody else has taken is not taken back."""
        if self._sink.exactly_once and not any(message.report.is_fenced for message in _told(messages)):
            with self._sink.connect() as cluster:
                abort(self._sink, cluster, self._transactional_id)


class Spread:
    """Where the rows of one task go that neither name a partition nor have a key: to one partition, which is
    another one for each task; or on to the next one from time to time."""

    def __init__(self, sink: Sink, task: int, *, is_moving: bool) -> None:
        self._sink = sink
        self._task = task
        self._is_moving = is_moving
        self._row_count = 0

    def __call__(self, batch: pa.RecordBatch) -> pa.Array:
        names = batch.schema.names
        keys = column_of(batch, "key", pa.binary()) if "key" in names else None
        named = column_of(batch, "partition", pa.int32()) if "partition" in names else None
        without_key = self._numbers(batch.num_rows)
        targets = Targets(connected(self._sink))
        if self._sink.topic is not None:
            return place(named, keys, without_key, targets.partition_count(self._sink.topic))
        topics = column_of(batch, "topic", pa.string())
        return place_by_topic(topics, named, keys, without_key, targets)

    def _numbers(self, row_count: int) -> Ints:
        if not self._is_moving:
            return np.full(row_count, self._task, np.int64)
        numbers = np.arange(self._row_count, self._row_count + row_count)
        self._row_count += row_count
        return numbers // STICKY_ROWS + self._task


def _told(messages: Sequence[WriterCommitMessage | None]) -> list[Message]:
    """Those of tasks that did not fail."""
    return [message for message in messages if isinstance(message, Message)]
