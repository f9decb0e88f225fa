"""The pipeline on a Spark of its own: two queries, the second of which reads what the first writes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from barnabas.cli.barnabas.demo import pipeline, topics
from barnabas.cli.barnabas.demo.traffic import Drive
from barnabas.spark import local_session, write_stream
from barnabas.spark.errors import PipelineError

_BATCHES = 3
_LOG_LINES_SHOWN = 5


@contextmanager
def spark(folder: Path) -> Iterator[SparkSession]:
    config = {
        # A minute is too short for the JVM's second compiler to earn what it costs.
        "spark.driver.defaultJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.local.dir": folder / "spark",
        "spark.sql.warehouse.dir": folder / "warehouse",
        "spark.sql.shuffle.partitions": 2,
        "spark.sql.session.timeZone": "UTC",
        # A batch that only moves the watermark would find nothing to do here.
        "spark.sql.streaming.noDataMicroBatches.enabled": False,
    }
    log = folder / "spark.log"
    try:
        with _errors_in(log):
            session = local_session("barnabas demo", **config)
    except PySparkException as problem:
        reason = str(problem).partition("\n")[0]
        told = "\n".join(log.read_text().split("\n")[:_LOG_LINES_SHOWN]).strip()
        raise PipelineError(f"Spark did not start: {reason}\n{told}") from None
    try:
        yield session
    finally:
        for query in session.streams.active:
            query.stop()
        session.stop()


@contextmanager
def _errors_in(log: Path) -> Iterator[None]:
    """Java and PySpark's workers talk on the error stream they are started with: not among the bars."""
    ours = os.dup(2)
    with log.open("wb") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(ours, 2)
        os.close(ours)


def start_speeds(session: SparkSession, drive: Drive, folder: Path) -> StreamingQuery:
    """Positions in, speeds and stops out: one transaction for both topics."""
    moves = pipeline.moves(pipeline.positions(_read(session, drive, topics.SPEED_PIPELINE)))
    records = pipeline.speed_and_stop_records(moves)
    return _start(write_stream(records, **_servers(drive)), topics.SPEED_PIPELINE, folder)


def start_summary(session: SparkSession, drive: Drive, folder: Path) -> StreamingQuery:
    records = pipeline.summary_records(_read(session, drive, topics.SUMMARY_PIPELINE))
    writer = write_stream(records, topic=topics.SUMMARY, **_servers(drive)).outputMode("update")
    return _start(writer, topics.SUMMARY_PIPELINE, folder)


def _start(writer: DataStreamWriter, name: str, folder: Path) -> StreamingQuery:
    return writer.queryName(name).option("checkpointLocation", str(folder / name)).start()


def _servers(drive: Drive) -> dict[str, str]:
    return {"kafka.bootstrap.servers": drive.server}


def _read(session: SparkSession, drive: Drive, group: str) -> DataFrame:
    """A topic as a stream. Its progress is a consumer group; where it resumes is in the checkpoint."""
    topic = topics.READS[group]
    starts = {topic: {str(partition): offset for partition, offset in drive.starts[topic].items()}}
    return (
        session.readStream.format("barnabas")
        .option("kafka.bootstrap.servers", drive.server)
        .option("subscribe", topic)
        .option("startingOffsets", json.dumps(starts))
        .option("kafka.isolation.level", "read_committed")
        .option("groupId", group)
        # Several batches, so that there is something to remember from one to the next.
        .option("maxOffsetsPerTrigger", drive.position_count // _BATCHES + 1)
        .load()
    )
