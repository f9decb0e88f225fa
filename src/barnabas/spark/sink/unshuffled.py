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

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceStreamArrowWriter, WriterCommitMessage

from barnabas.spark.errors import PipelineError
from barnabas.spark.planning_errors import plainly
from barnabas.spark.sink.commit import Begun, abort, end, fenced_sentence
from barnabas.spark.sink.ledger import Entry, is_written
from barnabas.spark.sink.outlet import SharedPartitionError
from barnabas.spark.sink.reports import FencedError, Report, check, shared_sentence
from barnabas.spark.sink.spread import Spread
from barnabas.spark.sink.taking import TakesId
from barnabas.spark.sink.task import refuse_second_attempt, report_of, write_rows
from barnabas.spark.workers import settle

_BATCH_ID = "streaming.sql.batchId"
_QUERY_ID = "sql.streaming.queryId"


@dataclass(frozen=True)
class Message(WriterCommitMessage):
    """`begun` and `entry` are None for at least once, which has nothing to commit."""

    report: Report
    begun: Begun | None = None
    entry: Entry | None = None
    is_skipped: bool = False


class StreamWriter(TakesId, DataSourceStreamArrowWriter):
    def write(self, iterator: Iterator[pa.RecordBatch]) -> Message:
        settle()
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
            report = report_of(iterator, 0, (), shared_sentence(str(error.partition)))
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


def _told(messages: Sequence[WriterCommitMessage | None]) -> list[Message]:
    """Those of tasks that did not fail."""
    return [message for message in messages if isinstance(message, Message)]
