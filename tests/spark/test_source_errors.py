"""What is wrong is one sentence, from the planning side, at the head of what Spark says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from tests.support.filled_topics import Topics

from barnabas.testing import BrokerProcess, free_port


@pytest.fixture(params=["batch", "stream"])
def run(request: pytest.FixtureRequest, spark: SparkSession, target: BrokerProcess, tmp_path: Path) -> Any:
    """Runs a query with these options, to its end."""

    def start(**options: str) -> None:
        named = {"kafka.bootstrap.servers": target.bootstrap, "fetchOffset.numRetries": "0"}
        named |= {name.replace("__", "."): value for name, value in options.items()}
        if request.param == "batch":
            spark.read.format("barnabas").options(**named).load().collect()
        else:
            frame = spark.readStream.format("barnabas").options(**named).load()
            writer = frame.writeStream.format("noop").option("checkpointLocation", str(tmp_path))
            writer.trigger(availableNow=True).start().awaitTermination(60)

    return start


def refused(run: Any, **options: str) -> str:
    """The sentence, which comes before any stack trace."""
    with pytest.raises(PySparkException) as caught:
        run(**options)
    head, _, _ = str(caught.value).partition("Traceback")
    _, marked, sentence = head.partition("barnabas: ")
    assert marked, str(caught.value)
    return sentence.splitlines()[0]


def test_a_missing_topic(run: Any, topic: str) -> None:
    said = refused(run, subscribe=topic)
    assert said.startswith(f"Topic '{topic}' does not exist: create it")


def test_a_missing_partition(run: Any, target: BrokerProcess, topic: str) -> None:
    Topics(target.bootstrap).create(topic)
    said = refused(run, assign=f'{{"{topic}":[0,7]}}')
    assert said == f"Option assign names partitions that do not exist: {topic}-7; topic '{topic}' has 1."


def test_a_broker_that_is_not_there(run: Any, topic: str) -> None:
    nobody = f"127.0.0.1:{free_port()}"
    said = refused(
        run, subscribe=topic, kafka__bootstrap__servers=nobody, kafka__default__api__timeout__ms="500"
    )
    assert said.startswith("No broker answers: ")
    assert "kafka.bootstrap.servers" in said


def test_a_bad_option(run: Any, topic: str) -> None:
    assert refused(run, subscribe=topic, minPartitions="many").startswith("Option minPartitions must be")


def test_offsets_out_of_range(run: Any, target: BrokerProcess, topic: str) -> None:
    topics = Topics(target.bootstrap)
    topics.fill(topics.create(topic), range(5))
    said = refused(run, subscribe=topic, startingOffsets=f'{{"{topic}":{{"0":77}}}}')
    assert f"{topic}-0" in said
    assert "77" in said


def test_a_schema_of_somebodys_own(spark: SparkSession, target: BrokerProcess, topic: str) -> None:
    reader = spark.read.format("barnabas").schema("value string").option("subscribe", topic)
    frame = reader.option("kafka.bootstrap.servers", target.bootstrap).load()
    with pytest.raises(PySparkException, match="has columns of its own: leave out"):
        frame.collect()
