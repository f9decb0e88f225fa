"""`spark.read.format("barnabas")` reads what was written, all of it, and only the part that was asked for."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from tests.support.filled_topics import Topics

from barnabas.testing import BrokerProcess

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
TEN_O_CLOCK_MS = 1_700_000_000_000


@pytest.fixture
def topics(target: BrokerProcess) -> Topics:
    return Topics(target.bootstrap)


@pytest.fixture
def read(spark: SparkSession, target: BrokerProcess) -> Any:
    def load(**options: str) -> DataFrame:
        named = {name.replace("__", "."): value for name, value in options.items()}
        reader = spark.read.format("barnabas").option("kafka.bootstrap.servers", target.bootstrap)
        return reader.options(**named).load()

    return load


def numbers(frame: DataFrame) -> list[int]:
    return sorted(int(row.value) for row in frame.select("value").collect())


def test_a_thousand_records_come_back_in_order(topics: Topics, read: Any, topic: str) -> None:
    topics.fill(topics.create(topic), range(1000))
    rows = read(subscribe=topic).collect()
    assert [int(row.value) for row in rows] == list(range(1000))
    assert [row.offset for row in rows] == list(range(1000))


def test_columns_are_those_of_sparks_own_connector(topics: Topics, read: Any, topic: str) -> None:
    topics.fill(
        topics.create(topic, 2),
        [7],
        1,
        keys=[b"k"],
        headers=[("trace", b"1"), ("trace", None), ("empty", b"")],
        timestamp_ms=TEN_O_CLOCK_MS,
    )
    frame = read(subscribe=topic, includeHeaders="true")
    assert frame.schema.simpleString() == (
        "struct<key:binary,value:binary,topic:string,partition:int,offset:bigint,timestamp:timestamp,"
        "timestampType:int,headers:array<struct<key:string,value:binary>>>"
    )
    (row,) = frame.collect()
    assert (row.key, row.value, row.topic, row.partition, row.offset) == (b"k", b"7", topic, 1, 0)
    assert row.timestamp == datetime.fromtimestamp(TEN_O_CLOCK_MS / 1000)
    assert row.timestampType == 0
    assert [tuple(header) for header in row.headers] == [("trace", b"1"), ("trace", None), ("empty", b"")]


def test_a_record_without_key_value_and_headers_is_null(topics: Topics, read: Any, topic: str) -> None:
    topics.create(topic, message_timestamp_type="LogAppendTime")
    producer = topics.producer()
    producer.produce(topic, None, None, partition=0)
    producer.flush(60)
    (row,) = read(subscribe=topic, includeHeaders="true").collect()
    assert (row.key, row.value, row.headers, row.timestampType) == (None, None, None, 1)


def test_every_codec_is_read(topics: Topics, read: Any, topic: str) -> None:
    topics.create(topic)
    for place, codec in enumerate(CODECS):
        numbers_of_codec = range(place * 200, place * 200 + 200)
        topics.fill(topic, numbers_of_codec, settings={"compression.type": codec, "batch.num.messages": 100})
    assert numbers(read(subscribe=topic)) == list(range(1000))


def test_topics_and_patterns_and_partitions_select(topics: Topics, read: Any, topic: str) -> None:
    for name, start in ((f"{topic}-a", 0), (f"{topic}-b", 10), (f"x{topic}", 20)):
        topics.create(name, 2)
        topics.fill(name, range(start, start + 3), 0)
        topics.fill(name, range(start + 3, start + 5), 1)
    assert numbers(read(subscribe=f"{topic}-a, x{topic}")) == [0, 1, 2, 3, 4, 20, 21, 22, 23, 24]
    assert numbers(read(subscribePattern=f"\\Q{topic}\\E-[ab]")) == [0, 1, 2, 3, 4, 10, 11, 12, 13, 14]
    assert numbers(read(assign=f'{{"{topic}-a":[1],"x{topic}":[0]}}')) == [3, 4, 20, 21, 22]
    assert numbers(read(subscribePattern=f"nothing-like-{topic}")) == []


def test_offsets_bound_what_is_read(topics: Topics, read: Any, topic: str) -> None:
    topics.create(topic, 2)
    topics.fill(topic, range(10), 0)
    topics.fill(topic, range(10, 20), 1)
    start = f'{{"{topic}":{{"0":8,"1":-2}}}}'
    end = f'{{"{topic}":{{"0":-1,"1":3}}}}'
    assert numbers(read(subscribe=topic, startingOffsets=start, endingOffsets=end)) == [8, 9, 10, 11, 12]


def test_timestamps_bound_what_is_read(topics: Topics, read: Any, topic: str) -> None:
    topics.fill(topics.create(topic), range(10), timestamp_ms=TEN_O_CLOCK_MS)
    some = read(
        subscribe=topic, startingTimestamp=str(TEN_O_CLOCK_MS + 2), endingTimestamp=str(TEN_O_CLOCK_MS + 7)
    )
    assert numbers(some) == [2, 3, 4, 5, 6]
    by_partition = read(
        subscribe=topic,
        startingOffsetsByTimestamp=f'{{"{topic}":{{"0":{TEN_O_CLOCK_MS + 8}}}}}',
        endingOffsetsByTimestamp=f'{{"{topic}":{{"0":{TEN_O_CLOCK_MS + 1_000}}}}}',
    )
    assert numbers(by_partition) == [8, 9]
    late = {"subscribe": topic, "startingTimestamp": str(TEN_O_CLOCK_MS + 1_000)}
    with pytest.raises(Exception, match=f"No record of {topic}-0 is as young as"):
        read(**late).collect()
    assert numbers(read(**late, startingOffsetsByTimestampStrategy="latest")) == []


def test_min_partitions_cuts_a_partition_into_tasks(topics: Topics, read: Any, topic: str) -> None:
    topics.fill(topics.create(topic), range(100), settings={"batch.num.messages": 30})
    frame = read(subscribe=topic, minPartitions="4", maxRecordsPerPartition="50")
    assert frame.rdd.getNumPartitions() == 4
    assert [int(row.value) for row in frame.collect()] == list(range(100))


def test_small_fetches_lose_nothing(topics: Topics, read: Any, topic: str) -> None:
    """Answers that end in the middle of a batch, many for one task."""
    topics.fill(topics.create(topic), range(2000), settings={"batch.num.messages": 7})
    assert numbers(read(subscribe=topic, kafka__max__partition__fetch__bytes="500")) == list(range(2000))


def test_a_task_that_is_not_read_to_its_end_leaves_nothing_behind(
    topics: Topics, read: Any, topic: str
) -> None:
    topics.fill(topics.create(topic), range(2000), settings={"batch.num.messages": 50})
    frame = read(subscribe=topic, kafka__max__partition__fetch__bytes="2000")
    assert len(frame.limit(3).collect()) == 3
    assert numbers(frame) == list(range(2000))
