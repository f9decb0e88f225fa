"""`.format("barnabas")` without the shuffle: streams, and whole frames."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from tests.support import spark_sink as support
from tests.support.killed_writers import until_its_writer_is_killed, wait_until_no_transaction_is_open

import barnabas.spark


@pytest.fixture
def out(bootstrap: str, topic: str) -> str:
    support.create_topic(bootstrap, topic, 4)
    return topic


def bare(df: DataFrame, bootstrap: str, out: str, **more: str) -> Any:
    writer = df.select("key", "value").writeStream.format("barnabas").option("topic", out)
    return writer.options(**support.options(bootstrap, **more))


def numbered(spark: SparkSession, count: int, tasks: int) -> DataFrame:
    return spark.range(0, count, 1, tasks).select(
        sql.concat(sql.lit("key-"), sql.col("id") % 5).alias("key"),
        sql.lpad(sql.col("id").cast("string"), 6, "0").alias("value"),
    )


def test_a_stream_of_one_task_is_written_exactly_once(
    spark: SparkSession, bootstrap: str, out: str, files: support.Files, tmp_path: Path
) -> None:
    files.add(support.rows(100))
    files.add(support.rows(100, start=100))
    support.run(bare(files.stream(spark), bootstrap, out), tmp_path / "checkpoint")
    assert support.values(bootstrap, out) == support.texts(200)


def test_two_tasks_with_equal_counts_to_one_partition_fail_and_lose_nothing(
    spark: SparkSession, bootstrap: str, out: str, files: support.Files, tmp_path: Path
) -> None:
    """Both begin at sequence 0, so the broker takes the second for a repetition of the first."""
    files.add([{"key": "same", "value": f"{number:06}"} for number in range(100)])
    two_tasks = files.stream(spark).repartition(2)
    with pytest.raises(
        Exception, match=rf"two tasks wrote to {out}-\d: use barnabas.spark.write_stream\(df\)"
    ):
        support.run(bare(two_tasks, bootstrap, out), tmp_path / "checkpoint")
    assert support.values(bootstrap, out) == []
    writer = barnabas.spark.write_stream(two_tasks, out, **support.options(bootstrap))
    support.run(writer, tmp_path / "another checkpoint")
    assert support.values(bootstrap, out) == support.texts(100)


def test_two_tasks_without_keys_keep_out_of_each_other_s_way(
    spark: SparkSession, bootstrap: str, out: str, files: support.Files, tmp_path: Path
) -> None:
    files.add({"value": row["value"]} for row in support.rows(100))
    two_tasks = files.stream(spark).repartition(2)
    support.run(bare(two_tasks, bootstrap, out), tmp_path / "checkpoint")
    assert support.values(bootstrap, out) == support.texts(100)
    assert len({read.partition for read in support.committed(bootstrap, out)}) == 2


def test_at_least_once_lets_any_task_write_to_any_partition(
    spark: SparkSession, bootstrap: str, out: str, files: support.Files, tmp_path: Path
) -> None:
    files.add(support.rows(100))
    two_tasks = files.stream(spark).repartition(2)
    writer = bare(two_tasks, bootstrap, out, delivery="at-least-once")
    support.run(writer, tmp_path / "checkpoint")
    assert support.values(bootstrap, out) == support.texts(100)


def test_a_frame_of_many_tasks_is_written_as_a_whole(spark: SparkSession, bootstrap: str, out: str) -> None:
    frame = numbered(spark, 1000, tasks=3)
    writer = frame.write.format("barnabas").mode("append").option("topic", out)
    writer.options(**support.options(bootstrap, **{"kafka.compression.type": "zstd"})).save()
    assert support.values(bootstrap, out) == support.texts(1000)


def test_a_frame_with_one_bad_row_is_not_written_at_all(
    spark: SparkSession, bootstrap: str, out: str
) -> None:
    frame = numbered(spark, 100, tasks=2).withColumn(
        "partition", sql.when(sql.col("value") == "000099", 9).otherwise(1).cast("int")
    )
    writer = frame.write.format("barnabas").mode("append").option("topic", out)
    with pytest.raises(Exception, match="has 4 partitions and a row asks for partition 9"):
        writer.options(**support.options(bootstrap)).save()
    assert support.values(bootstrap, out) == []


def test_a_frame_too_large_for_messages_is_pointed_to_the_shuffle(
    spark: SparkSession, bootstrap: str, out: str
) -> None:
    frame = numbered(spark, 100, tasks=2)
    writer = frame.write.format("barnabas").mode("append").option("topic", out)
    with pytest.raises(Exception, match=r"use barnabas\.spark\.write\(df"):
        writer.options(**support.options(bootstrap, maxTaskMessageBytes="100")).save()
    assert support.values(bootstrap, out) == []
    barnabas.spark.write(frame, out, **support.options(bootstrap))
    assert support.values(bootstrap, out) == support.texts(100)


def test_a_frame_whose_writing_worker_is_killed_leaves_no_transaction_open(
    spark: SparkSession, bootstrap: str, out: str, tmp_path: Path
) -> None:
    """Nobody has chosen an id: whoever waits for the end of that transaction would wait for its timeout."""
    rows_begun = tmp_path / "begun"
    frame = until_its_writer_is_killed(spark, bootstrap, out, rows_begun)
    writer = frame.write.format("barnabas").mode("append").option("topic", out)
    with pytest.raises(Exception, match="Python worker exited unexpectedly"):
        writer.options(**support.options(bootstrap, **{"kafka.batch.size": "1000"})).save()
    assert rows_begun.exists(), "the worker was not killed in mid-write"
    wait_until_no_transaction_is_open(bootstrap, out, partitions=4)
    assert support.values(bootstrap, out) == []


def test_a_topic_is_not_overwritten(spark: SparkSession, bootstrap: str, out: str) -> None:
    writer = numbered(spark, 1, tasks=1).write.format("barnabas").mode("overwrite").option("topic", out)
    with pytest.raises(Exception, match="Save mode Overwrite not allowed"):
        writer.options(**support.options(bootstrap)).save()
