"""`spark.readStream.format("barnabas")`: every record once, in batches that obey the options."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.support.filled_topics import Topics
from tests.support.spark_streams import Stream
from tests.support.waiting import eventually

from barnabas.model.ids import TopicPartition
from barnabas.spark.options import Options
from barnabas.spark.source.planner import Planner
from barnabas.spark.source.settings import source_settings
from barnabas.testing import BrokerProcess


@pytest.fixture
def topics(target: BrokerProcess) -> Topics:
    return Topics(target.bootstrap)


@pytest.fixture
def stream(spark: SparkSession, target: BrokerProcess, tmp_path: Path) -> Any:
    def make(**options: str) -> Stream:
        return Stream(spark, target.bootstrap, tmp_path, **options)

    return make


def checkpoint(home: Path, batch: int) -> dict[str, dict[str, int]]:
    offsets: dict[str, dict[str, int]] = json.loads((home / f"offsets/{batch}").read_text().splitlines()[-1])
    return offsets


def latest_reported(query: Any) -> object:
    return json.loads(query.lastProgress["sources"][0].latestOffset)


def test_available_now_reads_what_is_there_in_bounded_batches(
    topics: Topics, stream: Any, topic: str, tmp_path: Path
) -> None:
    topics.create(topic, 2)
    topics.fill(topic, range(60), 0)
    topics.fill(topic, range(60, 80), 1)
    query = stream(subscribe=topic, startingOffsets="earliest", maxOffsetsPerTrigger="40")
    query.available_now()
    assert [len(batch) for batch in query.batches] == [40, 40]
    assert query.numbers == list(range(80))
    assert checkpoint(tmp_path, 0) == {topic: {"0": 30, "1": 10}}


def test_a_query_goes_on_from_its_checkpoint_and_finds_new_partitions(
    topics: Topics, stream: Any, topic: str
) -> None:
    topics.fill(topics.create(topic), range(10))
    query = stream(subscribe=topic, startingOffsets="earliest")
    query.available_now()
    topics.grow(topic, 2)
    topics.fill(topic, range(10, 15), 1)
    topics.fill(topic, range(15, 20), 0)
    query.available_now()
    assert query.batches == [list(range(10)), query.batches[1]]
    assert query.numbers == list(range(20))


def test_available_now_reads_new_partitions_up_to_its_start_only(
    topics: Topics, stream: Any, topic: str
) -> None:
    """More records come while the query runs; they are the next run's."""
    topics.fill(topics.create(topic), range(30))
    query = stream(subscribe=topic, startingOffsets="earliest", maxOffsetsPerTrigger="10")
    keep = query._take

    def meanwhile(frame: Any, batch: int) -> None:
        if batch == 0:
            topics.fill(topic, range(100, 110))
        keep(frame, batch)

    query._take = meanwhile
    query.available_now()
    assert query.numbers == list(range(30))


def test_a_running_query_finds_partitions_added_meanwhile(topics: Topics, stream: Any, topic: str) -> None:
    topics.fill(topics.create(topic), range(5))
    query = stream(subscribe=topic, startingOffsets="earliest")
    with query.running() as running:
        eventually(lambda: query.numbers == list(range(5)), 120)
        topics.grow(topic, 3)
        topics.fill(topic, range(5, 9), 2)
        eventually(lambda: query.numbers == list(range(9)), 120)
        assert running.exception() is None


def test_latest_is_decided_once_when_the_query_starts(topics: Topics, stream: Any, topic: str) -> None:
    topics.fill(topics.create(topic), range(5))
    query = stream(subscribe=topic)
    with query.running() as running:
        eventually(lambda: running.lastProgress is not None, 120)
        topics.fill(topic, range(5, 8))
        eventually(lambda: query.numbers == [5, 6, 7], 120)
        eventually(lambda: latest_reported(running) == {topic: {"0": 8}}, 120)


def test_a_stream_starts_where_offsets_say(topics: Topics, stream: Any, topic: str) -> None:
    topics.fill(topics.create(topic), range(10))
    query = stream(subscribe=topic, startingOffsets=f'{{"{topic}":{{"0":7}}}}', minPartitions="2")
    query.available_now()
    assert query.numbers == [7, 8, 9]


def test_a_trigger_waits_for_enough_records_but_not_for_ever(topics: Topics, stream: Any, topic: str) -> None:
    topics.fill(topics.create(topic), range(3))
    query = stream(
        subscribe=topic,
        startingOffsets="earliest",
        minOffsetsPerTrigger="10",
        maxOffsetsPerTrigger="1000",
        maxTriggerDelay="1h",
    )
    with query.running() as running:
        eventually(lambda: query.batches == [[0, 1, 2]], 120)  # the first batch waits for nothing
        topics.fill(topic, range(3, 8))
        running.processAllAvailable()
        assert query.batches == [[0, 1, 2]]
        topics.fill(topic, range(8, 13))
        eventually(lambda: query.batches == [[0, 1, 2], list(range(3, 13))], 120)


def test_once_reads_everything_in_one_batch(topics: Topics, stream: Any, topic: str) -> None:
    topics.fill(topics.create(topic), range(30))
    query = stream(subscribe=topic, startingOffsets="earliest", maxOffsetsPerTrigger="10")
    with query.running(once=True) as running:
        assert running.awaitTermination(120)
    assert query.batches == [list(range(30))]


def test_records_that_come_while_available_now_prepares_are_no_lost_data(
    target: BrokerProcess, topics: Topics, topic: str
) -> None:
    topics.fill(topics.create(topic), range(5))
    options = Options({"kafka.bootstrap.servers": target.bootstrap, "subscribe": topic})
    with closing(Planner(options, source_settings(options, streaming=True))) as planner:
        planner.stop_at_what_is_there()
        topics.fill(topic, range(5, 8))
        start = planner.initial()
        assert start == {TopicPartition(topic, 0): 8}
        end = planner.next_end(start, everything=True)
        assert planner.ranges(start, end) == []
