"""What can be wrong with what is written, and the sentence for it; and what the columns do."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from tests.support import spark_sink as support

import barnabas.spark
from barnabas.spark.errors import PipelineError
from barnabas.testing import free_port


@pytest.fixture
def out(bootstrap: str, topic: str) -> str:
    support.create_topic(bootstrap, topic, 2)
    return topic


@pytest.fixture
def frame(spark: SparkSession) -> DataFrame:
    return spark.range(3).select(sql.col("id").cast("string").alias("value"))


@pytest.mark.parametrize("order_by", [None, "value"])
def test_topics_partitions_and_headers_come_from_columns(
    spark: SparkSession, bootstrap: str, out: str, topic: str, order_by: str | None
) -> None:
    support.create_topic(bootstrap, f"{topic}-other", 3)
    rows: list[tuple[Any, ...]] = [
        (out, "a", "first", None, [("trace", b"1")]),
        (f"{topic}-other", "b", "second", 2, None),
        (out, None, "third", 1, []),
        (f"{topic}-other", "c", None, 0, None),
    ]
    headers = "headers array<struct<key:string,value:binary>>"
    frame = spark.createDataFrame(rows, f"topic string, key string, value string, partition int, {headers}")
    barnabas.spark.write(frame, order_by=order_by, **support.options(bootstrap))
    assert support.values(bootstrap, out) == ["first", "third"]
    found = {
        (read.partition, read.key, read.value) for read in support.committed(bootstrap, f"{topic}-other")
    }
    assert found == {(2, b"b", b"second"), (0, b"c", None)}


def test_the_topic_option_wins_over_the_column(frame: DataFrame, bootstrap: str, out: str) -> None:
    with_column = frame.withColumn("topic", sql.lit("no-such-topic"))
    barnabas.spark.write(with_column, out, **support.options(bootstrap))
    assert support.values(bootstrap, out) == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("select", "sentence"),
    [
        ("'a' AS key", "Required attribute 'value' not found"),
        ("1 AS value", "value attribute type must be a string or binary, not int"),
        ("'a' AS value, 1 AS key", "key attribute type must be a string or binary"),
        ("'a' AS value, '1' AS partition", "partition attribute type must be an int"),
        ("'a' AS value, array('x') AS headers", "headers attribute type must be array<struct"),
    ],
)
def test_a_column_of_the_wrong_type_is_named(
    spark: SparkSession, bootstrap: str, out: str, select: str, sentence: str
) -> None:
    with pytest.raises(PipelineError, match=sentence):
        barnabas.spark.write(spark.sql(f"SELECT {select}"), out, **support.options(bootstrap))


def test_a_frame_without_any_topic_is_told_of_the_option(frame: DataFrame, bootstrap: str) -> None:
    with pytest.raises(PipelineError, match="topic option required"):
        barnabas.spark.write(frame, **support.options(bootstrap))


def test_a_missing_topic_is_to_be_created(frame: DataFrame, bootstrap: str, topic: str) -> None:
    with pytest.raises(PipelineError, match=f"Topic '{topic}' does not exist: create it first"):
        barnabas.spark.write(frame, topic, **support.options(bootstrap))
    named = frame.withColumn("topic", sql.lit(topic))
    for order_by in (None, "value"):
        with pytest.raises(PipelineError, match=f"Topic '{topic}' does not exist: create it first"):
            barnabas.spark.write(named, order_by=order_by, **support.options(bootstrap))


def test_a_null_topic_is_refused_as_the_official_connector_does(
    frame: DataFrame, bootstrap: str, out: str
) -> None:
    named = frame.withColumn("topic", sql.when(sql.col("value") != "1", out))
    with pytest.raises(PipelineError, match="null topic present in the data"):
        barnabas.spark.write(named, **support.options(bootstrap))
    assert support.values(bootstrap, out) == []


def test_a_record_larger_than_any_request_is_refused(frame: DataFrame, bootstrap: str, out: str) -> None:
    settings = support.options(bootstrap, **{"kafka.max.request.size": "1000"})
    large = frame.withColumn("value", sql.repeat("value", 2000))
    with pytest.raises(PipelineError, match=r"too large.*raise kafka.max.request.size"):
        barnabas.spark.write(large, out, **settings)
    assert support.values(bootstrap, out) == []


def test_a_record_larger_than_the_topic_takes_is_refused(
    frame: DataFrame, bootstrap: str, topic: str
) -> None:
    support.create_topic(bootstrap, topic, 1, **{"max.message.bytes": "1000"})
    large = frame.withColumn("value", sql.repeat("value", 2000))
    with pytest.raises(PipelineError, match=r"raise the topic's max\.message\.bytes"):
        barnabas.spark.write(large, topic, **support.options(bootstrap))


def test_brokers_that_are_not_there_are_named(frame: DataFrame) -> None:
    settings = support.options(f"127.0.0.1:{free_port()}", **{"kafka.default.api.timeout.ms": "200"})
    with pytest.raises(PipelineError, match=r"No broker answers.*kafka\.bootstrap\.servers"):
        barnabas.spark.write(frame, "any", **settings)


def test_a_transaction_may_not_outlast_what_the_brokers_allow(
    frame: DataFrame, bootstrap: str, out: str
) -> None:
    settings = support.options(bootstrap, **{"kafka.transaction.timeout.ms": "1000000000"})
    with pytest.raises(PipelineError, match="more than the brokers allow"):
        barnabas.spark.write(frame, out, **settings)


@pytest.mark.parametrize(
    "option", [{"delivery": "twice"}, {"kafka.compression.type": "rar"}, {"attempts": "0"}]
)
def test_an_option_that_makes_no_sense_is_named(
    frame: DataFrame, bootstrap: str, out: str, option: dict[str, str]
) -> None:
    (name,) = option
    with pytest.raises(PipelineError, match=f"Option {name} must be"):
        barnabas.spark.write(frame, out, **support.options(bootstrap, **option))


def test_every_codec_can_be_written(frame: DataFrame, bootstrap: str, out: str) -> None:
    for codec in ("gzip", "snappy", "lz4", "zstd"):
        settings = support.options(bootstrap, **{"kafka.compression.type": codec})
        barnabas.spark.write(frame.coalesce(1), out, **settings)
    assert support.values(bootstrap, out) == sorted(["0", "1", "2"] * 4)
