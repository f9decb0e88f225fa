"""The pipeline on a Spark of its own: two queries, each read from one topic and write to the next."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from barnabas import java
from barnabas.cli.barnabas.demo import topics
from barnabas.cli.barnabas.demo.traffic import Drive

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


def missing() -> str | None:
    """What the pipeline lacks on this machine, and how to get it."""
    if importlib.util.find_spec("pyspark") is None or importlib.util.find_spec("matplotlib") is None:
        return "The pipeline needs PySpark and matplotlib: pip install 'barnabas[demo]'"
    try:
        java.require(java.SPARK_MODULES, needed_by="The pipeline runs on Spark, which")
    except java.JavaError as lack:
        return str(lack)
    return None


@contextmanager
def spark(folder: Path) -> Iterator[SparkSession]:
    from barnabas.spark import local_session

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
    with _errors_in(folder / "spark.log"):
        session = local_session("barnabas demo", **config)
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


def start(session: SparkSession, drive: Drive, folder: Path) -> list[StreamingQuery]:
    from barnabas.cli.barnabas.demo import pipeline
    from barnabas.spark import write_stream

    servers = {"kafka.bootstrap.servers": drive.server}
    moves = pipeline.moves(pipeline.positions(_read(session, drive, topics.SPEED_PIPELINE)))
    speeds = write_stream(pipeline.speed_and_stop_records(moves), **servers)
    summary = pipeline.summary_records(_read(session, drive, topics.SUMMARY_PIPELINE))
    windows = write_stream(summary, topic=topics.SUMMARY, **servers).outputMode("update")
    return [
        query.queryName(name).option("checkpointLocation", str(folder / name)).start()
        for name, query in {topics.SPEED_PIPELINE: speeds, topics.SUMMARY_PIPELINE: windows}.items()
    ]


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
        .load()
    )
