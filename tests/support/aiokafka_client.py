"""aiokafka behind the face of the suite; every call is its own short event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaError, for_code
from tests.support.client import EARLIEST, LATEST, READ_TIMEOUT_S, Message, Outgoing, RefusedError
from tests.support.targets import REPLICAS

Answer = TypeVar("Answer")


class AiokafkaClient:
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
        settings: dict[str, Any] = {
            "acks": "all" if acks == "all" else int(acks),
            "compression_type": None if compression == "none" else compression,
            "enable_idempotence": idempotent,
            "linger_ms": 5,
            "max_batch_size": 65_536,
            "max_request_size": max_request_bytes or 1_048_576,
        }
        return _run(self._produce(topic, records, settings))

    async def _produce(
        self, topic: str, records: Sequence[Outgoing], settings: Mapping[str, Any]
    ) -> list[int]:
        async with AIOKafkaProducer(bootstrap_servers=self._bootstrap, **settings) as producer:
            deliveries = [
                await producer.send(
                    topic,
                    record.value,
                    record.key,
                    partition=record.partition,
                    timestamp_ms=record.timestamp_ms,
                    headers=list(record.headers),
                )
                for record in records
            ]
            await producer.flush()
            delivered = [await delivery for delivery in deliveries]
            return [-1 if one is None else one.offset for one in delivered]

    def read(
        self, topic: str, partition: int, offset: int, count: int, *, partition_max_bytes: int | None = None
    ) -> list[Message]:
        return _run(
            self._read(TopicPartition(topic, partition), offset, count, partition_max_bytes or 1_048_576)
        )

    async def _read(self, where: Any, offset: int, count: int, partition_max_bytes: int) -> list[Message]:
        async with self._consumer(max_partition_fetch_bytes=partition_max_bytes) as consumer:
            consumer.assign([where])
            consumer.seek(where, offset)
            messages: list[Message] = []
            deadline = time.monotonic() + READ_TIMEOUT_S
            while len(messages) < count:
                assert time.monotonic() < deadline, f"only {len(messages)} of {count} records came"
                fetched = await consumer.getmany(timeout_ms=500, max_records=count - len(messages))
                for batch in fetched.values():
                    messages.extend(_message(raw) for raw in batch)
            return messages

    def find_offset(self, topic: str, partition: int, timestamp_ms: int) -> int:
        return _run(self._find_offset(TopicPartition(topic, partition), timestamp_ms))

    async def _find_offset(self, where: Any, timestamp_ms: int) -> int:
        async with self._consumer() as consumer:
            if timestamp_ms == LATEST:
                return int((await consumer.end_offsets([where]))[where])
            if timestamp_ms == EARLIEST:
                return int((await consumer.beginning_offsets([where]))[where])
            found = (await consumer.offsets_for_times({where: timestamp_ms}))[where]
            return -1 if found is None else int(found.offset)

    def create_topic(self, topic: str, partitions: int = 1, configs: Mapping[str, str] | None = None) -> None:
        new = NewTopic(topic, partitions, REPLICAS, topic_configs=dict(configs or {}))
        answer = _run(self._ask_admin("create_topics", [new]))
        _raise_error(answer.topic_errors)

    def delete_topic(self, topic: str) -> None:
        _raise_error(_run(self._ask_admin("delete_topics", [topic])).topic_error_codes)

    def create_partitions(self, topic: str, total: int) -> None:
        _run(self._ask_admin("create_partitions", {topic: NewPartitions(total)}))

    def partition_count(self, topic: str) -> int:
        (described,) = _run(self._ask_admin("describe_topics", [topic]))
        _raise_error([(topic, described["error_code"])])
        return len(described["partitions"])

    def topics(self) -> set[str]:
        return set(_run(self._ask_admin("list_topics")))

    def topic_config(self, topic: str) -> dict[str, str | None]:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic)
        (answer,) = _run(self._ask_admin("describe_configs", [resource]))
        ((code, message, _, _, entries),) = answer.resources
        _raise_error([(message, code)])
        return {entry[0]: entry[1] for entry in entries}

    def alter_topic_config(self, topic: str, configs: Mapping[str, str]) -> None:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic, dict(configs))
        (answer,) = _run(self._ask_admin("alter_configs", [resource]))
        ((code, message, *_),) = answer.resources
        _raise_error([(message, code)])

    def delete_records(self, topic: str, partition: int, before_offset: int) -> int:
        where = TopicPartition(topic, partition)
        return int(_run(self._ask_admin("delete_records", {where: RecordsToDelete(before_offset)}))[where])

    def brokers(self) -> list[tuple[int, str, int]]:
        nodes = _run(self._ask_admin("describe_cluster"))["brokers"]
        return [(node["node_id"], node["host"], node["port"]) for node in nodes]

    async def _ask_admin(self, method: str, *arguments: Any) -> Any:
        admin = AIOKafkaAdminClient(bootstrap_servers=self._bootstrap)
        await admin.start()
        try:
            return await getattr(admin, method)(*arguments)
        finally:
            await admin.close()

    @asynccontextmanager
    async def _consumer(self, **settings: Any) -> AsyncIterator[Any]:
        consumer = AIOKafkaConsumer(
            bootstrap_servers=self._bootstrap,
            enable_auto_commit=False,
            auto_offset_reset="none",
            fetch_max_wait_ms=100,
            **settings,
        )
        async with consumer:
            yield consumer


def _run(work: Coroutine[Any, Any, Answer]) -> Answer:
    try:
        return asyncio.run(work)
    except KafkaError as error:
        raise RefusedError(getattr(error, "errno", None) or -1, repr(error)) from error


def _raise_error(errors: Sequence[Sequence[Any]]) -> None:
    for name, code, *_ in errors:
        if code:
            raise RefusedError(code, f"{name}: {for_code(code).__name__}")


def _message(raw: Any) -> Message:
    return Message(raw.offset, raw.value, raw.key, raw.timestamp, raw.timestamp_type, tuple(raw.headers))
