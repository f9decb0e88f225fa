"""The sink writes to Apache Kafka as it does to us, with the transactions every Kafka has.
(`BARNABAS_TEST_TARGET=apache` runs every other test of the sink there, too.)"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bench.apache_kafka import ApacheKafka
from pyspark.sql import SparkSession
from tests.support import spark_sink as support

import barnabas.spark
from barnabas.spark.sink.commit import end

pytestmark = pytest.mark.java


@pytest.fixture(scope="module")
def bootstrap(apache_kafka_libraries: Path) -> Iterator[str]:
    with ApacheKafka(heap_options=("-Xmx256m", "-XX:+UseSerialGC")) as running:
        yield running.bootstrap


def test_apache_kafka_gets_every_row_once_although_spark_forgets_a_batch(
    spark: SparkSession, bootstrap: str, topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    support.create_topic(bootstrap, topic, 3)
    files = support.Files(tmp_path / "in")
    files.add(support.rows(100))
    files.add(support.rows(100, start=100))
    writer = barnabas.spark.write_stream(files.stream(spark), topic, **support.options(bootstrap))

    def end_and_die(*arguments: Any) -> None:
        end(*arguments)
        raise KeyError("dies after the end of the transaction")

    with monkeypatch.context() as patched:
        patched.setattr("barnabas.spark.sink.batch.end", end_and_die)
        with pytest.raises(Exception, match="dies after the end"):
            support.run(writer, tmp_path / "checkpoint")
    assert support.values(bootstrap, topic) == support.texts(100)
    support.run(writer, tmp_path / "checkpoint")
    assert support.values(bootstrap, topic) == support.texts(200)


def test_two_tasks_with_equal_counts_to_one_partition_of_apache_kafka_fail_and_lose_nothing(
    spark: SparkSession, bootstrap: str, topic: str, tmp_path: Path
) -> None:
    support.create_topic(bootstrap, topic, 3)
    files = support.Files(tmp_path / "in")
    files.add([{"key": "same", "value": f"{number:06}"} for number in range(100)])
    two_tasks = files.stream(spark).select("key", "value").repartition(2)
    settings = support.options(bootstrap, topic=topic)
    with pytest.raises(Exception, match=rf"two tasks wrote to {topic}-\d: use barnabas.spark.write_stream"):
        support.run(two_tasks.writeStream.format("barnabas").options(**settings), tmp_path / "bare")
    assert support.values(bootstrap, topic) == []
