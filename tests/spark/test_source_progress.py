"""A query's progress is a consumer group that every Kafka tool can show."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer
from pyspark.sql import SparkSession
from tests.support.filled_topics import Topics
from tests.support.spark_streams import Stream
from tests.support.waiting import eventually

from barnabas.model.ids import TopicPartition
from barnabas.spark.options import Options
from barnabas.spark.source.progress import Progress
from barnabas.testing import BrokerProcess, free_port
from barnabas.wire import Cluster
from barnabas.wire.admin import group_offsets, groups


@pytest.fixture
def topics(target: BrokerProcess) -> Topics:
    return Topics(target.bootstrap)


@pytest.fixture
def stream(spark: SparkSession, target: BrokerProcess, tmp_path: Path) -> Any:
    def make(**options: str) -> Stream:
        return Stream(spark, target.bootstrap, tmp_path, startingOffsets="earliest", **options)

    return make


def committed(bootstrap: str, group_id: str) -> dict[TopicPartition, int]:
    with Cluster.connect(bootstrap) as cluster:
        found = group_offsets.committed(cluster, group_id)
    return {partition: row.offset for partition, row in found.items()}


def test_the_last_batch_is_committed_too(
    target: BrokerProcess, topics: Topics, stream: Any, topic: str
) -> None:
    topics.create(topic, 2)
    topics.fill(topic, range(20), 0)
    topics.fill(topic, range(20, 25), 1)
    stream(subscribe=topic, maxOffsetsPerTrigger="15", groupId=topic).available_now()
    assert committed(target.bootstrap, topic) == {
        TopicPartition(topic, 0): 20,
        TopicPartition(topic, 1): 5,
    }


def test_the_groups_tool_shows_the_lag(
    target: BrokerProcess, topics: Topics, stream: Any, topic: str
) -> None:
    topics.fill(topics.create(topic), range(20))
    stream(subscribe=topic, kafka__group__id=topic).available_now()
    topics.fill(topic, range(7))
    command = [
        "kafka-consumer-groups",
        "--bootstrap-server",
        target.bootstrap,
        "--describe",
        "--group",
        topic,
    ]
    command[0] = str(Path(sys.executable).parent / command[0])
    said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    row = next(line.split() for line in said.splitlines() if line.startswith(topic))
    assert row[:6] == [topic, topic, "0", "20", "27", "7"]


def test_a_running_query_commits_what_is_finished(
    target: BrokerProcess, topics: Topics, stream: Any, topic: str
) -> None:
    topics.fill(topics.create(topic), range(20))
    with stream(subscribe=topic, groupId=topic).running():
        eventually(lambda: committed(target.bootstrap, topic) == {TopicPartition(topic, 0): 20}, 120)


@pytest.fixture
def in_use(target: BrokerProcess, topics: Topics, topic: str) -> Iterator[str]:
    """A group with a live member."""
    topics.fill(topics.create(topic), range(20))
    consumer = Consumer({"bootstrap.servers": target.bootstrap, "group.id": topic})
    consumer.subscribe([topic])
    eventually(lambda: bool(consumer.poll(0.1) or consumer.assignment()), 120)
    yield topic
    consumer.close()


def test_a_group_in_use_stops_no_query(stream: Any, in_use: str) -> None:
    query = stream(subscribe=in_use, groupId=in_use, maxOffsetsPerTrigger="10")
    query.available_now()
    assert query.numbers == list(range(20))


def test_a_group_in_use_is_one_warning(
    target: BrokerProcess, in_use: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(Progress(Options({"kafka.bootstrap.servers": target.bootstrap}), in_use)) as progress:
        for offset in (5, 6, 7):
            progress.finished({TopicPartition(in_use, 0): offset})
    (warning,) = capsys.readouterr().err.splitlines()
    assert f"not shown by the consumer group {in_use}" in warning


def test_a_coordinator_out_of_reach_is_one_warning_and_then_left_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    nowhere = Options({"kafka.bootstrap.servers": f"127.0.0.1:{free_port()}"})
    with closing(Progress(nowhere, "group")) as progress:
        for offset in (5, 6, 7):
            progress.finished({TopicPartition("t", 0): offset})
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_progress_is_never_where_a_query_starts(
    target: BrokerProcess, topics: Topics, stream: Any, topic: str
) -> None:
    topics.fill(topics.create(topic), range(20))
    with Cluster.connect(target.bootstrap) as cluster:
        group_offsets.commit(cluster, topic, {TopicPartition(topic, 0): 15})
    query = stream(subscribe=topic, groupId=topic)
    query.available_now()
    assert query.numbers == list(range(20))


def test_no_group_is_made_for_a_query_that_names_none(
    target: BrokerProcess, topics: Topics, stream: Any, topic: str
) -> None:
    def group_ids() -> set[str]:
        with Cluster.connect(target.bootstrap) as cluster:
            return {row.group_id for row in groups.list_groups(cluster)}

    before = group_ids()
    topics.fill(topics.create(topic), range(3))
    stream(subscribe=topic, groupIdPrefix="mine").available_now()
    assert group_ids() <= before
