"""A broker that goes and comes back costs a query time, and no record."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession
from tests.conftest import StartTarget
from tests.support.filled_topics import Topics
from tests.support.spark_streams import Stream
from tests.support.waiting import eventually


def test_a_query_outlives_the_crash_of_its_broker(
    spark: SparkSession, start_target: StartTarget, topic: str, tmp_path: Path
) -> None:
    broker = start_target()
    topics = Topics(broker.bootstrap)
    topics.fill(topics.create(topic), range(20))
    query = Stream(
        spark, broker.bootstrap, tmp_path, subscribe=topic, startingOffsets="earliest", groupId=topic
    )
    with query.running() as running:
        eventually(lambda: query.numbers == list(range(20)), 120)
        broker.kill()
        broker.start()
        topics.fill(topic, range(20, 40))
        eventually(lambda: query.numbers == list(range(40)), 120)
        assert running.exception() is None
