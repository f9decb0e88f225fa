"""What the tests of the Spark sink share: streams from files, and what a topic holds under read_committed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from confluent_kafka import Consumer, KafkaError, TopicPartition
from pyspark.sql import DataFrame, SparkSession

from barnabas.wire import Cluster
from barnabas.wire.admin import topics

SCHEMA = "key string, value string, number int"


class Read(NamedTuple):
    partition: int
    key: bytes | None
    value: bytes | None


def create_topic(bootstrap: str, topic: str, partitions: int, **configs: str) -> None:
    with Cluster.connect(bootstrap) as cluster:
        topics.create(cluster, topic, partitions, 1, configs)


def committed(bootstrap: str, topic: str) -> list[Read]:
    return read(bootstrap, topic, "read_committed")


def read(bootstrap: str, topic: str, isolation: str) -> list[Read]:
    """Everything that is there now, each partition in its order."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "reader",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": isolation,
        }
    )
    partitions = list(consumer.list_topics(topic, 60).topics[topic].partitions)
    consumer.assign([TopicPartition(topic, index, 0) for index in partitions])
    found: list[Read] = []
    open_partitions = set(partitions)
    while open_partitions:
        message = consumer.poll(60)
        assert message is not None, "the topic's end did not come"
        error, number = message.error(), message.partition()
        if error is not None and error.code() != KafkaError._PARTITION_EOF:
            continue  # it tries again
        assert number is not None
        if error is not None:
            open_partitions.discard(number)
        else:
            found.append(Read(number, message.key(), message.value()))
    consumer.close()
    return found


def values(bootstrap: str, topic: str) -> list[str]:
    """Sorted: what is there, how often."""
    return sorted(read.value.decode() for read in committed(bootstrap, topic) if read.value is not None)


class Files:
    """A directory that a stream reads, one micro-batch per file."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.directory.mkdir(parents=True)
        self._count = 0

    def add(self, rows: Iterable[dict[str, Any]]) -> None:
        """As one file, whole at once."""
        text = "\n".join(json.dumps(row) for row in rows)
        hidden = self.directory / f".{self._count}.json"
        hidden.write_text(text)
        os.utime(hidden, (self._count, self._count))  # Spark reads the oldest first
        hidden.rename(self.directory / f"{self._count}.json")
        self._count += 1

    def stream(self, spark: SparkSession, files_per_batch: int = 1) -> DataFrame:
        reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", files_per_batch)
        return reader.json(str(self.directory))


def run(writer: Any, checkpoint: Path) -> None:
    """Everything there is, then stop; what went wrong is raised."""
    query = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start()
    try:
        query.awaitTermination(240)
    finally:
        query.stop()


@contextmanager
def running(writer: Any, checkpoint: Path) -> Iterator[Any]:
    query = writer.option("checkpointLocation", str(checkpoint)).start()
    try:
        yield query
    finally:
        query.stop()


def rows(count: int, keys: int = 5, start: int = 0) -> list[dict[str, Any]]:
    return [
        {"key": f"key-{number % keys}", "value": f"{number:06}", "number": number}
        for number in range(start, start + count)
    ]


def texts(count: int, start: int = 0) -> list[str]:
    return [f"{number:06}" for number in range(start, start + count)]


def options(bootstrap: str, **more: str) -> dict[str, str]:
    return {"kafka.bootstrap.servers": bootstrap, **more}
