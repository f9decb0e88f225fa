"""confluent-kafka (librdkafka) behind the face of the suite."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

import confluent_kafka.admin
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from tests.support.client import (
    EARLIEST,
    LATEST,
    MAX_TIMESTAMP,
    READ_TIMEOUT_S,
    Message,
    Outgoing,
    RefusedError,
)
from tests.support.targets import REPLICAS

_admin: Any = confluent_kafka.admin  # its names are not exported for type checkers
_ADMIN_TIMEOUT_S = 30


class ConfluentClient:
    def __init__(self, bootstrap: str) -> None:
        self._common: dict[str, Any] = {"bootstrap.servers": bootstrap, "log_level": 2}
        self._admin = _admin.AdminClient(self._common)

    def produce(
        self,
        topic: str,
        records: Sequence[Outgoing],
        *,
        acks: str = "all",
        compression: str = "none",
        idempotent: bool = False,
        max_request_bytes: int | None = None,
    ) -> list[int]:
        settings: dict[str, Any] = {
            **self._common,
            "acks": acks,
            "compression.type": compression,
            "enable.idempotence": idempotent,
            "linger.ms": 5,
            "queue.buffering.max.messages": 1_000_000,
        }
        if max_request_bytes is not None:
            settings["message.max.bytes"] = max_request_bytes
        return _deliver(Producer(settings), topic, records)

    def read(
        self, topic: str, partition: int, offset: int, count: int, *, partition_max_bytes: int | None = None
    ) -> list[Message]:
        settings: dict[str, Any] = {
            **self._common,
            "group.id": "nobody",
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "fetch.wait.max.ms": 100,
        }
        if partition_max_bytes is not None:
            settings["max.partition.fetch.bytes"] = partition_max_bytes
        consumer = Consumer(settings)
        try:
            consumer.assign([TopicPartition(topic, partition, offset)])
            return _read_exactly(consumer, count)
        finally:
            consumer.close()

    def find_offset(self, topic: str, partition: int, timestamp_ms: int) -> int:
        spec = {
            LATEST: _admin.OffsetSpec.latest,
            EARLIEST: _admin.OffsetSpec.earliest,
            MAX_TIMESTAMP: _admin.OffsetSpec.max_timestamp,
        }.get(timestamp_ms, lambda: _admin.OffsetSpec.for_timestamp(timestamp_ms))()
        where = TopicPartition(topic, partition)
        return int(_result(self._admin.list_offsets({where: spec}, request_timeout=_ADMIN_TIMEOUT_S)).offset)

    def create_topic(self, topic: str, partitions: int = 1, configs: Mapping[str, str] | None = None) -> None:
        new = _admin.NewTopic(
            topic, num_partitions=partitions, replication_factor=REPLICAS, config=dict(configs or {})
        )
        _result(self._admin.create_topics([new], operation_timeout=_ADMIN_TIMEOUT_S))

    def delete_topic(self, topic: str) -> None:
        _result(self._admin.delete_topics([topic], operation_timeout=_ADMIN_TIMEOUT_S))

    def create_partitions(self, topic: str, total: int) -> None:
        _result(self._admin.create_partitions([_admin.NewPartitions(topic, total)]))

    def partition_count(self, topic: str) -> int:
        described = self._admin.list_topics(topic, timeout=_ADMIN_TIMEOUT_S).topics[topic]
        if described.error is not None:
            raise RefusedError(described.error.code(), described.error.str())
        return len(described.partitions)

    def topics(self) -> set[str]:
        return set(self._admin.list_topics(timeout=_ADMIN_TIMEOUT_S).topics)

    def topic_config(self, topic: str) -> dict[str, str | None]:
        entries = _result(
            self._admin.describe_configs([_admin.ConfigResource(_admin.ResourceType.TOPIC, topic)])
        )
        return {name: entry.value for name, entry in entries.items()}

    def alter_topic_config(self, topic: str, configs: Mapping[str, str]) -> None:
        changes = [
            _admin.ConfigEntry(name, value, incremental_operation=_admin.AlterConfigOpType.SET)
            for name, value in configs.items()
        ]
        resource = _admin.ConfigResource(_admin.ResourceType.TOPIC, topic, incremental_configs=changes)
        _result(self._admin.incremental_alter_configs([resource]))

    def delete_records(self, topic: str, partition: int, before_offset: int) -> int:
        where = TopicPartition(topic, partition, before_offset)
        return int(_result(self._admin.delete_records([where])).low_watermark)

    def brokers(self) -> list[tuple[int, str, int]]:
        nodes = self._admin.describe_cluster(request_timeout=_ADMIN_TIMEOUT_S).result().nodes
        return [(node.id, node.host, node.port) for node in nodes]


def _result(futures: Mapping[Any, Future[Any]]) -> Any:
    (future,) = futures.values()
    try:
        return future.result(_ADMIN_TIMEOUT_S)
    except KafkaException as error:
        raise _refused(error.args[0]) from error


def _refused(error: KafkaError) -> RefusedError:
    return RefusedError(error.code(), error.str())


def _deliver(producer: Producer, topic: str, records: Iterable[Outgoing]) -> list[int]:
    offsets: list[int] = []
    errors: list[KafkaError] = []

    def delivered(error: KafkaError | None, message: Any) -> None:
        if error is not None:
            errors.append(error)
        else:
            offset = message.offset()
            offsets.append(-1 if offset is None or offset < 0 else offset)

    for record in records:
        options: dict[str, Any] = {} if record.timestamp_ms is None else {"timestamp": record.timestamp_ms}
        producer.produce(
            topic,
            record.value,
            record.key,
            record.partition,
            on_delivery=delivered,
            headers=list(record.headers) or None,
            **options,
        )
        producer.poll(0)
    producer.flush(READ_TIMEOUT_S)
    if errors:
        raise _refused(errors[0])
    return offsets


def _read_exactly(consumer: Consumer, count: int) -> list[Message]:
    messages: list[Message] = []
    deadline = time.monotonic() + READ_TIMEOUT_S
    while len(messages) < count:
        assert time.monotonic() < deadline, f"only {len(messages)} of {count} records came"
        for raw in consumer.consume(min(count - len(messages), 10_000), timeout=0.5):
            if (error := raw.error()) is not None:
                raise _refused(error)
            messages.append(_message(raw))
    return messages


def _message(raw: Any) -> Message:
    kind, timestamp_ms = raw.timestamp()
    return Message(raw.offset(), raw.value(), raw.key(), timestamp_ms, kind - 1, tuple(raw.headers() or ()))
