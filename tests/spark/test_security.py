"""Pipelines into and out of an Apache Kafka that asks for TLS and a password: `kafka.*` options, no more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from tests.support.secure_kafka import SecureKafka

from barnabas.spark import write_stream
from barnabas.wire.admin import topics

pytestmark = pytest.mark.java

ROWS = 200


@pytest.fixture(scope="module")
def kafka(apache_kafka_libraries: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecureKafka]:
    with SecureKafka(tmp_path_factory.mktemp("secure")).running() as running:
        yield running


def _options(kafka: SecureKafka, listener: str) -> dict[str, str]:
    properties = kafka.client(listener) | {"bootstrap.servers": kafka.bootstrap(listener)}
    return {f"kafka.{name}": value for name, value in properties.items()}


def _create(kafka: SecureKafka, *names: str) -> None:
    with kafka.connect("BOTH") as cluster:
        for name in names:
            topics.create(cluster, name, partitions=2)


def _numbers(spark: SparkSession) -> DataFrame:
    columns = ("cast(id as string) as key", "concat('v', id) as value", "cast(id % 2 as int) as partition")
    return spark.range(0, ROWS, numPartitions=1).selectExpr(*columns)


def _read(spark: SparkSession, options: dict[str, str], topic: str) -> list[str]:
    rows = spark.read.format("barnabas").options(**options).option("subscribe", topic).load()
    return sorted(row.value for row in rows.selectExpr("cast(value as string) as value").collect())


EXPECTED = sorted(f"v{number}" for number in range(ROWS))


def test_a_topic_is_written_copied_by_a_stream_and_read_over_sasl_ssl(
    spark: SparkSession, kafka: SecureKafka, topic: str, tmp_path: Path
) -> None:
    """The driver's planning, every task and every commit log in for themselves."""
    options = _options(kafka, "BOTH")
    _create(kafka, topic, f"{topic}-copy")
    _numbers(spark).write.format("barnabas").options(**options).option("topic", topic).mode("append").save()
    source = spark.readStream.format("barnabas").options(**options).option("subscribe", topic)
    rows = source.option("startingOffsets", "earliest").load().select("key", "value")
    writer = write_stream(rows, topic=f"{topic}-copy", **options).trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    assert query.awaitTermination(200)
    assert _read(spark, options | {"kafka.isolation.level": "read_committed"}, f"{topic}-copy") == EXPECTED


def test_keys_and_certificates_travel_with_the_options(
    spark: SparkSession, kafka: SecureKafka, topic: str
) -> None:
    _create(kafka, topic)
    client = kafka.authority.issue("client")
    options = {
        "kafka.bootstrap.servers": kafka.bootstrap("MUTUAL"),
        "kafka.security.protocol": "SSL",
        "kafka.ssl.truststore.certificates": kafka.authority.pem,
        "kafka.ssl.keystore.key": client.key_pem("hush"),
        "kafka.ssl.keystore.certificate.chain": client.certificate_pem,
        "kafka.ssl.key.password": "hush",
    }
    assert _read(spark, options, topic) == []


def test_a_wrong_password_is_one_sentence_before_the_query_runs(
    spark: SparkSession, kafka: SecureKafka
) -> None:
    options = {
        "kafka.bootstrap.servers": kafka.bootstrap("SASL"),
        "kafka.security.protocol": "SASL_PLAINTEXT",
        "kafka.sasl.mechanism": "PLAIN",
        "kafka.sasl.username": "alice",
        "kafka.sasl.password": "wrong",
    }
    with pytest.raises(PySparkException, match="SASL_AUTHENTICATION_FAILED: Authentication failed") as caught:
        _read(spark, options, "any")
    assert "'wrong'" not in str(caught.value)
