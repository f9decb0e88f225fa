"""The loads, the same for both connectors but for the name of the format."""

from __future__ import annotations

import itertools
import os
import statistics
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import confluent_kafka

import barnabas.spark
from bench.spark.cpu import FamilyCpu
from bench.spark.rows import FORMATS, OURS, Backlog, SparkRow

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

Figures = dict[str, float]

WRITE_TOPIC, TICK_TOPIC = "bench-written", "bench-ticks"
WRITTEN_BYTES = 100
MICRO_BATCHES = 4  # of a streaming row; the one before them warms up
LATENCY_S, TICK_S, TICKS_IGNORED = 10.0, 0.05, 5
QUERY_TIMEOUT_S = 300


class Measurement:
    def __init__(self, spark: SparkSession, bootstrap: str, share: float, home: Path) -> None:
        self._spark = spark
        self._servers = {"kafka.bootstrap.servers": bootstrap}
        self._bootstrap = bootstrap
        self._share = share
        self._checkpoints = (str(home / f"checkpoint-{number}") for number in itertools.count())

    def run(self, row: SparkRow, subject: str) -> Figures:
        if row.kind == "latency":
            return self._latency(subject)
        if row.kind == "write":
            return self._write(subject)
        if row.kind == "write stream":
            return self._write_stream(subject)
        assert row.backlog is not None
        read = self._read if row.kind == "read" else self._stream
        return read(subject, row.backlog, row.tasks)

    # --- reading ------------------------------------------------------------------------------------------

    def _read(self, subject: str, backlog: Backlog, tasks: int) -> Figures:
        reader = self._spark.read.format(FORMATS[subject]).options(**self._servers)
        frame = reader.option("subscribe", backlog.topic).option("minPartitions", tasks).load()
        count = backlog.records(self._share)
        return _timed(count, backlog.record_bytes, lambda: _swallow(frame))

    def _stream(self, subject: str, backlog: Backlog, tasks: int) -> Figures:
        count = backlog.records(self._share)
        reader = self._spark.readStream.format(FORMATS[subject]).options(**self._servers)
        frame = (
            reader.option("subscribe", backlog.topic)
            .option("startingOffsets", "earliest")
            .option("minPartitions", tasks)
            .option("maxOffsetsPerTrigger", -(-count // MICRO_BATCHES))
            .load()
        )
        writer = frame.writeStream.format("noop").trigger(availableNow=True)
        started = writer.option("checkpointLocation", next(self._checkpoints))
        return _timed(count, backlog.record_bytes, lambda: _finish(started.start()))

    def _latency(self, subject: str) -> Figures:
        """How long a micro-batch of a few records takes from its trigger to its end."""
        reader = self._spark.readStream.format(FORMATS[subject]).options(**self._servers)
        frame = reader.option("subscribe", TICK_TOPIC).load()
        writer = frame.writeStream.format("noop").option("checkpointLocation", next(self._checkpoints))
        query = writer.start()
        try:
            _tick(self._bootstrap, lambda: len(_durations_ms(query)) >= TICKS_IGNORED)
            calm = time.monotonic() + max(5.0, LATENCY_S * self._share)
            _tick(self._bootstrap, lambda: time.monotonic() > calm)
            _raise_if_failed(query)
            took_ms = _durations_ms(query)[TICKS_IGNORED:]
        finally:
            query.stop()
        hundredths = statistics.quantiles(took_ms, n=100)
        return {"p50": hundredths[49], "p99": hundredths[98]}

    # --- writing ------------------------------------------------------------------------------------------

    def _write(self, subject: str) -> Figures:
        count = int(1_000_000 * self._share)
        rows = _rows(self._spark.range(0, count, 1, 2), "id")

        def write() -> None:
            if subject == OURS:
                barnabas.spark.write(rows, topic=WRITE_TOPIC, **self._servers)
            else:
                writer = rows.write.format(FORMATS[subject]).options(**self._servers)
                writer.option("topic", WRITE_TOPIC).save()

        return _timed(count, WRITTEN_BYTES, write)

    def _write_stream(self, subject: str) -> Figures:
        per_batch = int(250_000 * self._share)
        source = self._spark.readStream.format("rate-micro-batch").option("rowsPerBatch", per_batch)
        rows = _rows(source.option("numPartitions", 2).load(), "value")
        if subject == OURS:
            writer = barnabas.spark.write_stream(rows, topic=WRITE_TOPIC, **self._servers)
        else:
            writer = rows.writeStream.format(FORMATS[subject]).options(**self._servers)
            writer = writer.option("topic", WRITE_TOPIC)
        query = writer.option("checkpointLocation", next(self._checkpoints)).start()
        try:
            _await_batch(query, 0)
            count = per_batch * MICRO_BATCHES
            return _timed(count, WRITTEN_BYTES, lambda: _await_batch(query, MICRO_BATCHES))
        finally:
            query.stop()


def _rows(frame: DataFrame, number: str) -> DataFrame:
    padded = f"cast(rpad(cast({number} as string), {WRITTEN_BYTES}, 'truck') as binary)"
    return frame.selectExpr(f"cast(cast({number} as string) as binary) as key", f"{padded} as value")


def _timed(count: int, record_bytes: int, work: Callable[[], None]) -> Figures:
    """Of Spark and its Python workers; the broker has a process of its own."""
    with FamilyCpu(os.getpid()) as cpu:
        began = time.monotonic()
        work()
        took_s = time.monotonic() - began
    return {
        "rate": count / took_s,
        "throughput": count * record_bytes / took_s / 1e6,
        "CPU": cpu.seconds / count * 1e6,
    }


def _swallow(frame: DataFrame) -> None:
    """Spark's own way to make every column of every row and keep none."""
    frame.write.format("noop").mode("overwrite").save()


def _finish(query: StreamingQuery) -> None:
    if not query.awaitTermination(QUERY_TIMEOUT_S):
        query.stop()
        raise TimeoutError(f"the query did not finish within {QUERY_TIMEOUT_S} s")


def _await_batch(query: StreamingQuery, number: int) -> None:
    deadline = time.monotonic() + QUERY_TIMEOUT_S
    while time.monotonic() < deadline:
        _raise_if_failed(query)
        progress: Any = query.lastProgress
        if progress is not None and progress.batchId >= number:
            return
        time.sleep(0.01)
    raise TimeoutError(f"batch {number} was not written within {QUERY_TIMEOUT_S} s")


def _raise_if_failed(query: StreamingQuery) -> None:
    problem = query.exception()
    if problem is not None:
        raise problem


def _durations_ms(query: StreamingQuery) -> list[int]:
    """Of the micro-batches that had something to do."""
    return [done.durationMs["triggerExecution"] for done in query.recentProgress if done.numInputRows > 0]


def _tick(bootstrap: str, is_enough: Callable[[], bool]) -> None:
    producer: Any = confluent_kafka.Producer({"bootstrap.servers": bootstrap, "linger.ms": 0})
    pause = threading.Event()
    deadline = time.monotonic() + QUERY_TIMEOUT_S
    while not is_enough() and time.monotonic() < deadline:
        producer.produce(TICK_TOPIC, b"tick")
        producer.poll(0)
        pause.wait(TICK_S)
    producer.flush(30)
