"""The source reads from Apache Kafka as it does from us. (`BARNABAS_TEST_TARGET=apache` runs every other test
of the source there, too.)"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.apache_kafka import ApacheKafka
from pyspark.sql import SparkSession
from tests.support.filled_topics import Topics
from tests.support.spark_streams import Stream

from barnabas.model.ids import TopicPartition
from barnabas.testing import BrokerProcess
from barnabas.wire import Cluster
from barnabas.wire.admin import group_offsets

pytestmark = pytest.mark.java


@pytest.fixture(scope="module")
def apache_kafka(apache_kafka_libraries: Path) -> Iterator[BrokerProcess]:
    with ApacheKafka(heap_options=("-Xmx256m", "-XX:+UseSerialGC")) as running:
        yield running


def test_apache_kafka_is_read_exactly_once(
    spark: SparkSession, apache_kafka: BrokerProcess, topic: str, tmp_path: Path
) -> None:
    topics = Topics(apache_kafka.bootstrap)
    topics.create(topic, 2)
    for place, codec in enumerate(["none", "gzip", "snappy", "lz4", "zstd"]):
        numbers = range(place * 50, place * 50 + 50)
        topics.fill(topic, numbers, place % 2, settings={"compression.type": codec})
    topics.in_transaction(topic, range(1000, 1010), commit=False, transactional_id=f"{topic}-a")
    topics.in_transaction(topic, range(250, 260), commit=True, transactional_id=f"{topic}-b")
    query = Stream(
        spark,
        apache_kafka.bootstrap,
        tmp_path,
        subscribe=topic,
        startingOffsets="earliest",
        groupId=topic,
        maxOffsetsPerTrigger="150",
        kafka__isolation__level="read_committed",
    )
    query.available_now()
    topics.grow(topic, 3)
    topics.fill(topic, range(260, 270), 2)
    query.available_now()
    assert query.numbers == list(range(270))
    with Cluster.connect(apache_kafka.bootstrap) as cluster:
        committed = group_offsets.committed(cluster, topic)
    assert committed[TopicPartition(topic, 2)].offset == 10
    assert committed[TopicPartition(topic, 1)].offset == 100
