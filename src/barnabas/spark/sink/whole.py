"""`df.write.format("barnabas")`: one transaction, all or nothing, without a shuffle.

Only one task can write a partition with the transaction's producer id, and Spark does not bring the rows of a
partition to one. So the first task writes its rows itself, and the others send theirs, encoded and
compressed, to the process that commits, which goes on where the first task ended. That is for frames of some
hundred megabytes; `barnabas.spark.write` is for all others.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

from barnabas.model.ids import TopicPartition
from barnabas.records.arrow.encode import Encoded
from barnabas.spark.errors import PipelineError
from barnabas.spark.planning_errors import plainly
from barnabas.spark.sink.commit import Begun, abort, abort_ours, end_surely, fenced_sentence, forget
from barnabas.spark.sink.connections import connected
from barnabas.spark.sink.encoded import stamped
from barnabas.spark.sink.ledger import Entry
from barnabas.spark.sink.outlet import Outlet, encoded
from barnabas.spark.sink.reports import FencedError, Report, check
from barnabas.spark.sink.spread import Spread
from barnabas.spark.sink.taking import TakesId
from barnabas.spark.sink.task import refuse_second_attempt, report_of, runs, write_rows
from barnabas.spark.sink.telling import telling
from barnabas.spark.workers import settle
from barnabas.wire import Cluster

_WRITING_TASK = 0


class Held(NamedTuple):
    """A batch that is still to be written; its sequence number is not known yet."""

    partition: TopicPartition
    batch: bytearray
    row_count: int


@dataclass(frozen=True)
class Message(WriterCommitMessage):
    report: Report
    begun: Begun | None
    held: tuple[Held, ...] = ()


class BatchWriter(TakesId, DataSourceArrowWriter):
    def write(self, iterator: Iterator[pa.RecordBatch]) -> Message:
        settle()
        context = TaskContext.get()
        assert context is not None
        spread = Spread(self._sink, context.partitionId(), is_moving=True)
        if self._begun is None:
            return Message(write_rows(self._sink, None, iterator, spread), None)
        if context.partitionId() != _WRITING_TASK:
            return self._hold(self._begun, iterator, spread)
        refuse_second_attempt(context.attemptNumber(), is_speculation_on=False)
        try:
            report = write_rows(self._sink, self._begun.producer, iterator, spread)
        except BaseException:
            # At once: Spark may go on with other tasks for long before it gives up.
            abort(self._sink, connected(self._sink), self._begun.producer.transactional_id or "")
            raise
        return Message(report, self._begun)

    def _hold(self, begun: Begun, iterator: Iterator[pa.RecordBatch], spread: Spread) -> Message:
        held: list[Held] = []
        rows, left, refusal = 0, self._sink.message_bytes_max, None
        try:
            for batch, groups in runs(self._sink, connected(self._sink), iterator, spread):
                rows += batch.num_rows
                for partition, part in groups.items():
                    for one in encoded(self._sink, begun.producer, partition, part, 0):
                        held.append(Held(partition, one.batch, one.count))
                        left -= len(one.batch)
                if left < 0:
                    raise PipelineError(
                        f"A task has more than {self._sink.message_bytes_max} bytes to write: use "
                        "barnabas.spark.write(df, …), which has no such bound, or raise maxTaskMessageBytes."
                    )
        except PipelineError as error:
            refusal, held = str(error), []
        return Message(report_of(iterator, rows, (), refusal), begun, tuple(held))

    @plainly
    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        told = _told(messages)
        for message in told:
            if message.report.refusal is not None:
                raise PipelineError(message.report.refusal)
        begun = next((message.begun for message in told), None)
        if begun is None:
            return
        with self._sink.connect() as cluster:
            try:
                telling(lambda: self._finish(cluster, begun, told))
            except FencedError as error:
                transactional_id = begun.producer.transactional_id or ""
                raise PipelineError(fenced_sentence(transactional_id, begun, time.time())) from error
            if self._sink.transactional_id is None:
                forget(cluster, begun.producer.transactional_id or "")

    def _finish(self, cluster: Cluster, begun: Begun, messages: Sequence[Message]) -> None:
        outlet = Outlet(self._sink, cluster, begun.producer)
        direct = check(message.report for message in messages if not message.held)
        for written in direct:
            outlet.go_on_after(written)
        for message in messages:
            for one in message.held:
                sequence = outlet.next_sequence(one.partition)
                batch = Encoded(stamped(one.batch, sequence), one.row_count)
                outlet.send_batches({one.partition: iter([batch])})
        held = [replace(message.report, rows=0) for message in messages if message.held]
        rows = sum(message.report.rows for message in messages if message.held)
        check([Report(task=-1, stage=-1, rows=rows, written=outlet.written), *held])
        name = f"frame-{uuid.uuid4()}"
        end_surely(self._sink, cluster, begun, [*direct, *outlet.written], Entry(name, 0))

    def abort(self, messages: Sequence[WriterCommitMessage | None]) -> None:  # noqa: ARG002
        """A task that was killed has left no message, but this copy was pickled after the id was taken."""
        if self._begun is not None:
            with self._sink.connect() as cluster:
                abort_ours(cluster, self._begun)


def _told(messages: Sequence[WriterCommitMessage | None]) -> list[Message]:
    """Those of tasks that did not fail."""
    return [message for message in messages if isinstance(message, Message)]
