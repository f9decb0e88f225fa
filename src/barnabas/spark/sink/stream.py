"""`write_stream` and `write`: rows brought to their partitions' tasks, then one transaction per batch."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from barnabas.spark.errors import PipelineError
from barnabas.spark.options import Options
from barnabas.spark.sink.batch import Job, LostAttemptError, write_at_least_once, write_exactly_once
from barnabas.spark.sink.columns import Columns, columns_of
from barnabas.spark.sink.commit import forget
from barnabas.spark.sink.connections import Kept
from barnabas.spark.sink.ledger import Entry
from barnabas.spark.sink.reports import Report
from barnabas.spark.sink.session import Session, session_of
from barnabas.spark.sink.settings import Sink, sink_of
from barnabas.spark.sink.shuffle import shuffled
from barnabas.spark.sink.targets import partition_count_of
from barnabas.wire import Cluster
from barnabas.wire.transactions import Producer

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

logger = logging.getLogger("barnabas.spark")

Order = Sequence["str | Column"]
CHECKPOINT = "checkpointLocation"


class BatchSink:
    """What `foreachBatch` calls. Over Spark Connect it is pickled to the server."""

    def __init__(self, sink: Sink, columns: Columns, order_by: Order, checkpoint: str | None) -> None:
        self._sink = sink
        self._columns = columns
        self._order_by = order_by
        self._checkpoint = checkpoint
        self._query_id: str | None = None
        self._is_speculation_on: bool | None = None
        self._connections = Kept(sink)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_connections": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = {**state, "_connections": Kept(state["_sink"])}

    def __call__(self, df: DataFrame, batch_id: int) -> None:
        """The session is the query's own, a copy of the user's."""
        session = session_of(df)
        with session.plain_plans(), self._connections.borrowed() as cluster:
            self._write(df, batch_id, session, cluster)

    def _write(self, df: DataFrame, batch_id: int, session: Session, cluster: Cluster) -> None:
        if not self._sink.exactly_once:
            write_at_least_once(self.job(df, session, cluster))
            return
        query_id = self._query_id or session.query_id(self._checkpoint)
        if not session.knows_queries:
            # A copy of this object serves one query there, and asking costs a job of its own.
            self._query_id = query_id
        if batch_id == 0 and session.is_checkpoint_temporary(query_id):
            logger.warning(
                "This query has no checkpointLocation, so it is exactly once only until it stops: set one to "
                "have it continue after that."
            )
        transactional_id = self._sink.transactional_id or f"barnabas-spark-{query_id}"
        entry = Entry(query_id, batch_id)
        write_exactly_once(self._sink, cluster, transactional_id, entry, self.job(df, session, cluster))

    def job(self, df: DataFrame, session: Session, cluster: Cluster) -> Job:
        def run(producer: Producer | None) -> Sequence[Report]:
            written = self._written(df, session, cluster, producer)
            reports = [Report.from_json(text) for (text,) in written.collect()]
            if producer is not None and not session.ran_once({report.stage for report in reports}):
                raise LostAttemptError(message="Spark ran the stage of the write more than once")
            return reports

        return run

    def _written(
        self, df: DataFrame, session: Session, cluster: Cluster, producer: Producer | None
    ) -> DataFrame:
        """One report per task, once it is run. Tasks with producers of their own need no shuffle, and what is
        not to be sorted is encoded before it."""
        from barnabas.spark.sink.encoded import ENCODED_SCHEMA, batch_writer, row_encoder
        from barnabas.spark.sink.task import REPORT_SCHEMA, shuffled_writer, unshuffled_writer

        own = df.select(*self._columns.names) if self._columns.others else df
        if producer is None and not self._order_by:
            return own.mapInArrow(unshuffled_writer(self._sink), REPORT_SCHEMA)
        partition_count = partition_count_of(self._sink, cluster)
        task_count = min(session.core_count(), partition_count or session.core_count())
        if self._is_speculation_on is None:  # it does not change as long as Spark runs
            self._is_speculation_on = session.is_speculation_on()
        is_speculation_on = self._is_speculation_on
        if producer is None or self._order_by:
            rows = shuffled(df, self._sink, self._columns, partition_count, task_count, self._order_by)
            write = shuffled_writer(self._sink, producer, is_speculation_on)
            return rows.mapInArrow(write, REPORT_SCHEMA)
        batches = own.mapInArrow(row_encoder(self._sink, producer, task_count), ENCODED_SCHEMA)
        brought = batches.repartitionById(task_count, "task")
        return brought.mapInArrow(batch_writer(self._sink, producer, is_speculation_on), REPORT_SCHEMA)


def write_stream(
    df: DataFrame, topic: str | None, order_by: str | Column | Order | None, options: dict[str, Any]
) -> DataStreamWriter:
    given = Options({**options, **({} if topic is None else {"topic": topic})})
    if not df.isStreaming:
        raise PipelineError(
            "write_stream takes a streaming frame: use barnabas.spark.write(df, …) for this one."
        )
    sink = sink_of(given)
    columns = columns_of(df.schema, sink.topic)
    session = session_of(df)
    session.check_here(sink)
    checkpoint = given.text(CHECKPOINT)
    if sink.exactly_once and checkpoint is None and not session.knows_queries:
        raise PipelineError(
            "Over Spark Connect the sink finds the query's id in its checkpoint: give write_stream "
            "itself the option checkpointLocation."
        )
    writer = df.writeStream.foreachBatch(BatchSink(sink, columns, _listed(order_by), checkpoint))
    return writer if checkpoint is None else writer.option(CHECKPOINT, checkpoint)


def write(
    df: DataFrame, topic: str | None, order_by: str | Column | Order | None, options: dict[str, Any]
) -> None:
    if df.isStreaming:
        raise PipelineError("write takes a frame that is no stream: use barnabas.spark.write_stream(df, …).")
    sink = sink_of(Options({**options, **({} if topic is None else {"topic": topic})}))
    whole = BatchSink(sink, columns_of(df.schema, sink.topic), _listed(order_by), None)
    with sink.connect() as cluster:
        job = whole.job(df, session_of(df), cluster)
        if not sink.exactly_once:
            write_at_least_once(job)
            return
        name = f"frame-{uuid.uuid4()}"
        transactional_id = sink.transactional_id or f"barnabas-spark-{name}"
        write_exactly_once(sink, cluster, transactional_id, Entry(name, 0), job)
        if sink.transactional_id is None:
            forget(cluster, transactional_id)


def _listed(order_by: str | Column | Order | None) -> Order:
    if order_by is None:
        return ()
    return tuple(order_by) if isinstance(order_by, list | tuple) else (order_by,)  # type: ignore[return-value]
