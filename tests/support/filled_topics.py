"""Topics with known records, for those who read them with Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from confluent_kafka import Producer

from barnabas.model.ids import TopicPartition
from barnabas.wire import Cluster
from barnabas.wire.admin import offsets, topics


class Topics:
    """Creates and fills topics of one broker. Record `i` has the value `i` as text."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap

    def create(self, topic: str, partitions: int = 1, **configs: object) -> str:
        with Cluster.connect(self.bootstrap) as cluster:
            settings = {name.replace("_", "."): str(value) for name, value in configs.items()}
            topics.create(cluster, topic, partitions, configs=settings)
        return topic

    def grow(self, topic: str, partitions: int) -> None:
        with Cluster.connect(self.bootstrap) as cluster:
            topics.add_partitions(cluster, {topic: partitions})

    def delete(self, topic: str) -> None:
        with Cluster.connect(self.bootstrap) as cluster:
            topics.delete(cluster, [topic])

    def delete_records(self, topic: str, before: int, partition: int = 0) -> None:
        with Cluster.connect(self.bootstrap) as cluster:
            offsets.delete_records(cluster, {TopicPartition(topic, partition): before})

    def fill(
        self,
        topic: str,
        numbers: Sequence[int] | range,
        partition: int = 0,
        *,
        keys: Sequence[bytes] | None = None,
        headers: Sequence[tuple[str, bytes | None]] | None = None,
        timestamp_ms: int | None = None,
        settings: Mapping[str, object] | None = None,
        width: int = 0,
    ) -> None:
        """`width` is how long values are at least; the rest is blanks."""
        producer = self.producer(settings)
        for place, number in enumerate(numbers):
            more: dict[str, Any] = {"key": keys[place]} if keys else {}
            if headers:
                more["headers"] = headers
            if timestamp_ms is not None:
                more["timestamp"] = timestamp_ms + place
            producer.produce(topic, str(number).encode().ljust(width), partition=partition, **more)
        assert producer.flush(60) == 0

    def in_transaction(
        self, topic: str, numbers: Sequence[int] | range, commit: bool, transactional_id: str
    ) -> None:
        producer = self.producer({"transactional.id": transactional_id, "batch.num.messages": 3})
        producer.init_transactions(30)
        producer.begin_transaction()
        for number in numbers:
            producer.produce(topic, str(number).encode(), partition=0)
        producer.flush(60)
        if commit:
            producer.commit_transaction(30)
        else:
            producer.abort_transaction(30)

    def producer(self, settings: Mapping[str, object] | None = None) -> Any:
        return Producer({"bootstrap.servers": self.bootstrap, "log_level": 2, **(settings or {})})
