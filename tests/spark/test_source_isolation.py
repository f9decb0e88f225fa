"""Aborted transactions, open transactions and compaction leave gaps; a reader passes over them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from tests.conftest import StartTarget
from tests.support.filled_topics import Topics
from tests.support.spark_streams import Stream
from tests.support.waiting import eventually

from barnabas.model.ids import TopicPartition
from barnabas.testing import BrokerProcess
from barnabas.wire import Cluster
from barnabas.wire.admin.offsets import Found, Spec, list_offsets


def read(spark: SparkSession, bootstrap: str, topic: str, **options: str) -> list[int]:
    reader = spark.read.format("barnabas").option("kafka.bootstrap.servers", bootstrap)
    named = {name.replace("__", "."): value for name, value in options.items()}
    rows: Any = reader.option("subscribe", topic).options(**named).load().select("value").collect()
    return [int(row.value) for row in rows]


def test_read_committed_leaves_out_what_was_aborted_and_what_is_open(
    spark: SparkSession, target: BrokerProcess, topic: str, tmp_path: Path
) -> None:
    topics = Topics(target.bootstrap)
    topics.fill(topics.create(topic), range(5))
    topics.in_transaction(topic, range(100, 110), commit=False, transactional_id=f"{topic}-a")
    topics.in_transaction(topic, range(5, 10), commit=True, transactional_id=f"{topic}-b")
    topics.in_transaction(topic, range(110, 115), commit=False, transactional_id=f"{topic}-a")
    committed = {"kafka__isolation__level": "read_committed"}
    # The range ends in marks and aborted records: nothing comes of them, and the reader does not wait.
    assert read(spark, target.bootstrap, topic, **committed) == list(range(10))
    assert len(read(spark, target.bootstrap, topic)) == 25
    # Transactions that began in an answer before.
    small = committed | {"kafka__max__partition__fetch__bytes": "100", "minPartitions": "3"}
    assert read(spark, target.bootstrap, topic, **small) == list(range(10))

    open_one = topics.producer({"transactional.id": f"{topic}-c"})
    open_one.init_transactions(30)
    open_one.begin_transaction()
    open_one.produce(topic, b"200", partition=0)
    open_one.flush(60)
    topics.fill(topic, [10])
    query = Stream(
        spark, target.bootstrap, tmp_path, subscribe=topic, startingOffsets="earliest", **committed
    )
    query.available_now()
    assert query.numbers == list(range(10))
    open_one.abort_transaction(30)
    query.available_now()
    assert query.numbers == list(range(11))


def test_a_compacted_topic_is_read_in_spite_of_its_gaps(
    spark: SparkSession, start_target: StartTarget, topic: str, tmp_path: Path
) -> None:
    broker = start_target({"log.cleaner.backoff.ms": 100})
    topics = Topics(broker.bootstrap)
    topics.create(
        topic,
        cleanup_policy="compact",
        segment_bytes=1 << 20,
        min_cleanable_dirty_ratio=0.01,
        min_compaction_lag_ms=0,
    )
    keys = [b"even" if number % 2 == 0 else b"odd" for number in range(400)]
    topics.fill(topic, range(400), keys=keys, settings={"batch.num.messages": 10}, width=10_000)

    def read_all() -> list[int]:
        return read(spark, broker.bootstrap, topic, minPartitions="3")

    eventually(lambda: len(read_all()) < 200, 60)
    numbers = read_all()
    assert numbers == sorted(numbers)
    assert {398, 399} <= set(numbers)
    query = Stream(
        spark,
        broker.bootstrap,
        tmp_path,
        subscribe=topic,
        startingOffsets="earliest",
        maxOffsetsPerTrigger="150",
    )
    query.available_now()
    assert {398, 399} <= set(query.numbers)
    assert end_of(broker.bootstrap, topic) == 400


def end_of(bootstrap: str, topic: str) -> int:
    partition = TopicPartition(topic, 0)
    with Cluster.connect(bootstrap) as cluster:
        found = list_offsets(cluster, {partition: Spec.LATEST})[partition]
    assert isinstance(found, Found)
    return found.offset
