"""kafka-python 3 behind the face of the suite."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

import pytest
from tests.support.client import READ_TIMEOUT_S, Message, Outgoing, RefusedError
from tests.support.targets import REPLICAS

# The library reads its schemas with a function that Python has deprecated; that is not our warning to fix.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
    from kafka.admin import ConfigResource, ConfigResourceType
    from kafka.errors import BrokerResponseError, KafkaError

__all__ = ["ConfigResource", "KafkaAdminClient", "KafkaPythonClient", "TopicPartition"]


class KafkaPythonClient:
    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap

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
        producer = KafkaProducer(
            bootstrap_servers=self._bootstrap,
            acks="all" if acks == "all" else int(acks),
            compression_type=None if compression == "none" else compression,
            enable_idempotence=idempotent,
            linger_ms=5,
            max_request_size=max_request_bytes or 1_048_576,
        )
        with closing(producer), _refusals():
            deliveries = [
                producer.send(
                    topic,
                    record.value,
                    record.key,
                    headers=list(record.headers),
                    partition=record.partition,
                    timestamp_ms=record.timestamp_ms,
                )
                for record in records
            ]
            producer.flush(READ_TIMEOUT_S)
            return [delivery.get(READ_TIMEOUT_S).offset for delivery in deliveries]

    def read(
        self, topic: str, partition: int, offset: int, count: int, *, partition_max_bytes: int | None = None
    ) -> list[Message]:
        consumer = KafkaConsumer(
            bootstrap_servers=self._bootstrap,
            enable_auto_commit=False,
            auto_offset_reset="none",
            fetch_max_wait_ms=100,
            max_partition_fetch_bytes=partition_max_bytes or 1_048_576,
        )
        with closing(consumer), _refusals():
            where = TopicPartition(topic, partition)
            consumer.assign([where])
            consumer.seek(where, offset)
            return _read_exactly(consumer, count)

    def find_offset(self, topic: str, partition: int, timestamp_ms: int) -> int:
        where = TopicPartition(topic, partition)
        with self._admin() as admin:
            return int(admin.list_partition_offsets({where: timestamp_ms})[where].offset)

    def create_topic(self, topic: str, partitions: int = 1, configs: Mapping[str, str] | None = None) -> None:
        wanted = {
            "num_partitions": partitions,
            "replication_factor": REPLICAS,
            "configs": dict(configs or {}),
        }
        with self._admin() as admin:
            admin.create_topics({topic: wanted})

    def delete_topic(self, topic: str) -> None:
        with self._admin() as admin:
            admin.delete_topics([topic])

    def create_partitions(self, topic: str, total: int) -> None:
        with self._admin() as admin:
            admin.create_partitions({topic: total})

    def partition_count(self, topic: str) -> int:
        with self._admin() as admin:
            (described,) = admin.describe_topics([topic])
            return len(described["partitions"])

    def topics(self) -> set[str]:
        with self._admin() as admin:
            return set(admin.list_topics())

    def topic_config(self, topic: str) -> dict[str, str | None]:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic)
        with self._admin() as admin:
            described = admin.describe_configs([resource], config_filter="all")
        (by_name,) = described.values()
        return {name: entry["value"] for name, entry in by_name[topic].items()}

    def alter_topic_config(self, topic: str, configs: Mapping[str, str]) -> None:
        with self._admin() as admin:
            changed = admin.alter_configs(
                [ConfigResource(ConfigResourceType.TOPIC, topic, configs=dict(configs))]
            )
        (by_name,) = changed.values()
        if by_name[topic] != "OK":
            code = re.match(r"\[Error (\d+)\]", by_name[topic])
            raise RefusedError(int(code[1]) if code else -1, by_name[topic])

    def delete_records(self, topic: str, partition: int, before_offset: int) -> int:
        where = TopicPartition(topic, partition)
        with self._admin() as admin:
            return int(admin.delete_records({where: before_offset})[where]["low_watermark"])

    def brokers(self) -> list[tuple[int, str, int]]:
        with self._admin() as admin:
            nodes = admin.describe_cluster()["brokers"]
            return [(node["broker_id"], node["host"], node["port"]) for node in nodes]

    def log_dirs(self) -> dict[tuple[str, int], int]:
        """Bytes of every partition, by (topic, partition)."""
        with self._admin() as admin:
            broker, *others = admin.describe_log_dirs()
            if others:
                pytest.skip("about one broker alone")
        return {
            (topic["name"], partition["partition_index"]): partition["partition_size"]
            for directory in broker["log_dirs"]
            for topic in directory["topics"]
            for partition in topic["partitions"]
        }

    @contextmanager
    def _admin(self) -> Iterator[Any]:
        with closing(KafkaAdminClient(bootstrap_servers=self._bootstrap)) as admin, _refusals():
            yield admin


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except BrokerResponseError as error:
        raise RefusedError(error.errno, str(error)) from error
    except KafkaError as error:
        raise RefusedError(-1, repr(error)) from error


def _read_exactly(consumer: Any, count: int) -> list[Message]:
    messages: list[Message] = []
    deadline = time.monotonic() + READ_TIMEOUT_S
    while len(messages) < count:
        assert time.monotonic() < deadline, f"only {len(messages)} of {count} records came"
        for batch in consumer.poll(timeout_ms=500, max_records=count - len(messages)).values():
            messages.extend(_message(raw) for raw in batch)
    return messages


def _message(raw: Any) -> Message:
    return Message(raw.offset, raw.value, raw.key, raw.timestamp, raw.timestamp_type, tuple(raw.headers))
