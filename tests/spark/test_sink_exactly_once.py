"""`barnabas.spark.write_stream`: every row once, whatever fails in between."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as sql
from tests.support import spark_sink as support
from tests.support.waiting import eventually

import barnabas.spark
from barnabas.model.ids import TopicPartition
from barnabas.spark.options import Options
from barnabas.spark.sink.commit import Begun, end
from barnabas.spark.sink.encoded import batch_writer
from barnabas.spark.sink.ledger import group_of
from barnabas.spark.sink.outlet import Outlet
from barnabas.spark.sink.reports import FencedError
from barnabas.spark.sink.rows import Rows
from barnabas.spark.sink.settings import sink_of
from barnabas.spark.sink.task import Batches
from barnabas.wire import Cluster, TimedOutError
from barnabas.wire.admin import transactions
from barnabas.wire.admin.groups import list_groups
from barnabas.wire.transactions import Transactions, stable_offsets

END = "barnabas.spark.sink.batch.end"


@pytest.fixture
def out(bootstrap: str, topic: str) -> str:
    support.create_topic(bootstrap, topic, 3)
    return topic


def test_every_row_arrives_once_by_the_partitioner_of_java_clients(
    spark: SparkSession, bootstrap: str, out: str, files: support.Files, tmp_path: Path
) -> None:
    files.add(support.rows(300))
    files.add(support.rows(200, start=300))
    run = barnabas.spark.write_stream(files.stream(spark), out, **support.options(bootstrap))
    support.run(run, tmp_path / "checkpoint")
    assert support.values(bootstrap, out) == support.texts(500)
    # murmur2, as in Java: key-0 … key-4 of three partitions.
    from barnabas.records.arrow.murmur import partitions_of

    places = partitions_of(pa.array([f"key-{number}".encode() for number in range(5)]), 3).to_pylist()
    for read in support.committed(bootstrap, out):
        assert read.key is not None
        assert read.partition == places[int(read.key[-1:])]


def test_the_order_of_each_key_survives_the_shuffle(
    spark: SparkSession, bootstrap: str, out: str, files: support.Files, tmp_path: Path
) -> None:
    files.add(support.rows(5000, keys=7))
    run = barnabas.spark.write_stream(files.stream(spark), out, **support.options(bootstrap))
    support.run(run, tmp_path / "checkpoint")
    by_key: dict[bytes | None, list[bytes | None]] = {}
    for read in support.committed(bootstrap, out):
        by_key.setdefault(read.key, []).append(read.value)
    assert len(by_key) == 7
    assert all(values == sorted(values, key=bytes) for values in by_key.values())  # type: ignore[arg-type]


def test_order_by_orders_what_several_tasks_have_of_a_key(
    spark: SparkSession, bootstrap: str, out: str, files: support.Files, tmp_path: Path
) -> None:
    files.add(support.rows(2000, keys=7))
    split = files.stream(spark).repartition(8)
    run = barnabas.spark.write_stream(split, out, order_by="number", **support.options(bootstrap))
    support.run(run, tmp_path / "checkpoint")
    by_key: dict[bytes | None, list[bytes | None]] = {}
    for read in support.committed(bootstrap, out):
        by_key.setdefault(read.key, []).append(read.value)
    assert sum(map(len, by_key.values())) == 2000
    assert all(values == sorted(values, key=bytes) for values in by_key.values())  # type: ignore[arg-type]


def test_a_batch_that_spark_forgot_is_skipped_after_a_restart(
    spark: SparkSession,
    bootstrap: str,
    out: str,
    files: support.Files,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The crash between EndTxn and Spark's commit log."""
    files.add(support.rows(100))
    files.add(support.rows(100, start=100))
    writer = barnabas.spark.write_stream(files.stream(spark), out, **support.options(bootstrap))

    def end_and_die(*arguments: Any) -> None:
        end(*arguments)
        raise KeyError("dies after the end of the transaction")

    with monkeypatch.context() as patched:
        patched.setattr(END, end_and_die)
        with pytest.raises(Exception, match="dies after the end"):
            support.run(writer, tmp_path / "checkpoint")
    assert support.values(bootstrap, out) == support.texts(100)
    support.run(writer, tmp_path / "checkpoint")
    assert support.values(bootstrap, out) == support.texts(200)


@pytest.fixture
def unheard_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every end is carried out, and its answer lost."""

    def end_unheard(*arguments: Any) -> None:
        end(*arguments)
        raise TimedOutError("no answer")

    monkeypatch.setattr(END, end_unheard)


@pytest.mark.usefixtures("unheard_ends")
def test_an_end_whose_answer_is_lost_is_looked_up_in_the_ledger(
    spark: SparkSession, bootstrap: str, out: str, files: support.Files, tmp_path: Path
) -> None:
    files.add(support.rows(100))
    writer = barnabas.spark.write_stream(files.stream(spark), out, **support.options(bootstrap))
    support.run(writer, tmp_path / "checkpoint")
    assert support.values(bootstrap, out) == support.texts(100)


@pytest.mark.usefixtures("unheard_ends")
def test_a_frame_whose_end_is_unheard_is_there_once_and_leaves_no_ledger(
    spark: SparkSession, bootstrap: str, out: str
) -> None:
    frame = spark.createDataFrame([(text, text) for text in support.texts(100)], "key string, value string")
    barnabas.spark.write(frame, out, **support.options(bootstrap))
    assert support.values(bootstrap, out) == support.texts(100)
    with Cluster.connect(bootstrap) as cluster:
        assert not [group for group in list_groups(cluster) if "frame-" in group.group_id]


def test_a_new_checkpoint_with_the_same_transactional_id_skips_nothing(
    spark: SparkSession, bootstrap: str, out: str, files: support.Files, tmp_path: Path
) -> None:
    files.add(support.rows(50))
    settings = support.options(bootstrap, transactionalId=f"id-{out}")
    for number in range(2):
        writer = barnabas.spark.write_stream(files.stream(spark), out, **settings)
        support.run(writer, tmp_path / f"checkpoint-{number}")
    assert support.values(bootstrap, out) == sorted(support.texts(50) * 2)
    with Cluster.connect(bootstrap) as cluster:
        ledger = stable_offsets(cluster, group_of(f"id-{out}"))
    assert [row.offset for row in ledger.values()] == [1]


def test_a_task_that_fails_in_the_middle_of_its_write_costs_nothing(
    spark: SparkSession,
    bootstrap: str,
    out: str,
    files: support.Files,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its rows are in the log, its report is not written."""
    flag = str(tmp_path / "failed")

    def failing_writer(*arguments: Any) -> Callable[[Batches], Batches]:
        write = batch_writer(*arguments)

        def write_and_fail(batches: Batches) -> Batches:
            def fail_once() -> Batches:
                row_count = 0
                for batch in batches:
                    row_count += batch.num_rows
                    yield batch
                if row_count and not os.path.exists(flag):
                    open(flag, "x").close()
                    raise OSError("fails on demand")

            yield from write(fail_once())

        return write_and_fail

    monkeypatch.setattr("barnabas.spark.sink.encoded.batch_writer", failing_writer)
    files.add(support.rows(300))
    writer = barnabas.spark.write_stream(files.stream(spark), out, **support.options(bootstrap))
    support.run(writer, tmp_path / "checkpoint")
    assert os.path.exists(flag)
    assert support.values(bootstrap, out) == support.texts(300)
    assert len(support.read(bootstrap, out, isolation="read_uncommitted")) > 300


def test_a_batch_that_always_fails_ends_the_query_with_a_sentence_and_writes_nothing(
    spark: SparkSession, bootstrap: str, out: str, files: support.Files, tmp_path: Path
) -> None:
    files.add(support.rows(10))
    failing = files.stream(spark).withColumn("value", sql.expr("cast(raise_error('fails always') as string)"))
    writer = barnabas.spark.write_stream(failing, out, **support.options(bootstrap, attempts="2"))
    with pytest.raises(Exception, match=r"Batch 0 could not be written in 2 attempts.*fails always"):
        support.run(writer, tmp_path / "checkpoint")
    assert support.values(bootstrap, out) == []


def test_a_query_that_has_lost_its_id_to_another_one_is_told_so(
    spark: SparkSession,
    bootstrap: str,
    out: str,
    files: support.Files,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:

    def end_late(*arguments: Any) -> None:
        with Cluster.connect(bootstrap) as other:
            Transactions(other, f"id-{out}").take(30_000)
        end(*arguments)

    monkeypatch.setattr(END, end_late)
    files.add(support.rows(10))
    settings = support.options(bootstrap, transactionalId=f"id-{out}")
    writer = barnabas.spark.write_stream(files.stream(spark), out, **settings)
    with pytest.raises(Exception, match="Two queries share one transactional id"):
        support.run(writer, tmp_path / "checkpoint")
    assert support.values(bootstrap, out) == []


def test_a_query_stopped_in_the_middle_of_a_batch_leaves_nothing_of_it(
    spark: SparkSession, bootstrap: str, out: str, files: support.Files, tmp_path: Path
) -> None:
    """Its tasks may even end normally, with a part of their input."""
    flag = str(tmp_path / "running")

    def slow_once(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        is_first = not os.path.exists(flag)
        for batch in batches:
            yield batch
            if is_first:
                open(flag, "w").close()
                time.sleep(60)

    files.add(support.rows(100))
    writer = barnabas.spark.write_stream(
        files.stream(spark).mapInArrow(slow_once, support.SCHEMA), out, **support.options(bootstrap)
    )
    with support.running(writer, tmp_path / "checkpoint"):
        eventually(lambda: os.path.exists(flag), patience_s=90)
    assert support.values(bootstrap, out) == []
    support.run(writer, tmp_path / "checkpoint")
    assert support.values(bootstrap, out) == support.texts(100)


def test_rows_without_key_are_spread_over_the_partitions(
    spark: SparkSession, bootstrap: str, out: str, files: support.Files, tmp_path: Path
) -> None:
    files.add({"value": row["value"]} for row in support.rows(4000))
    writer = barnabas.spark.write_stream(files.stream(spark), out, **support.options(bootstrap))
    support.run(writer, tmp_path / "checkpoint")
    reads = support.committed(bootstrap, out)
    assert len(reads) == 4000
    assert {read.partition for read in reads} == {0, 1, 2}


def test_at_least_once_writes_every_row_without_a_transaction(
    spark: SparkSession, bootstrap: str, out: str, files: support.Files, tmp_path: Path
) -> None:
    files.add(support.rows(100))
    settings = support.options(bootstrap, delivery="at-least-once", transactionalId=f"id-{out}")
    writer = barnabas.spark.write_stream(files.stream(spark).repartition(2), out, **settings)
    support.run(writer, tmp_path / "checkpoint")
    assert support.values(bootstrap, out) == support.texts(100)
    with Cluster.connect(bootstrap) as cluster:
        assert transactions.list_all(cluster, pattern=f"id-{out}") == []


def test_a_zombie_s_late_write_is_refused(
    spark: SparkSession,
    bootstrap: str,
    out: str,
    files: support.Files,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A task of batch 0 that wakes up after batch 1."""
    begun: list[Begun] = []

    def end_and_note(*arguments: Any) -> None:
        end(*arguments)
        begun.append(arguments[1])

    monkeypatch.setattr(END, end_and_note)
    files.add(support.rows(10))
    files.add(support.rows(10, start=10))
    settings = support.options(bootstrap)
    support.run(barnabas.spark.write_stream(files.stream(spark), out, **settings), tmp_path / "checkpoint")
    with Cluster.connect(bootstrap) as cluster:
        zombie = Outlet(sink_of(Options(settings)), cluster, begun[0].producer)
        with pytest.raises(FencedError):
            zombie.send({TopicPartition(out, 0): Rows(None, pa.array([b"late"]), None)})
    assert support.values(bootstrap, out) == support.texts(20)


def test_a_query_without_checkpoint_is_told_how_long_it_is_exactly_once(
    spark: SparkSession,
    bootstrap: str,
    out: str,
    files: support.Files,
    caplog: pytest.LogCaptureFixture,
) -> None:
    files.add(support.rows(10))
    writer = barnabas.spark.write_stream(files.stream(spark), out, **support.options(bootstrap))
    writer.trigger(availableNow=True).start().awaitTermination(120)
    assert "exactly once only until it stops" in caplog.text
