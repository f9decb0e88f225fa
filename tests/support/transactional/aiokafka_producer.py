"""aiokafka's transactional producer: transactions version 1, and offsets by group name only."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from aiokafka import AIOKafkaProducer, TopicPartition
from tests.support.members.aiokafka_member import wait
from tests.support.members.face import Place


class AiokafkaTransactions:
    """Its event loop runs while a call does; between two calls nothing of it needs time."""

    def __init__(self, bootstrap: str, transactional_id: str, timeout_ms: int) -> None:
        self._loop = asyncio.new_event_loop()
        self._settings: dict[str, Any] = {
            "bootstrap_servers": bootstrap,
            "transactional_id": transactional_id,
            "transaction_timeout_ms": timeout_ms,
            "retry_backoff_ms": 20,
        }
        self._producer: Any = None

    def init(self) -> None:
        wait(self._loop, self._start())

    async def _start(self) -> None:
        self._producer = AIOKafkaProducer(**self._settings)
        await self._producer.start()

    def begin(self) -> None:
        wait(self._loop, self._producer.begin_transaction())

    def send(self, topic: str, values: Sequence[bytes], partition: int = 0) -> None:
        wait(self._loop, self._send(topic, values, partition))

    async def _send(self, topic: str, values: Sequence[bytes], partition: int) -> None:
        deliveries = [await self._producer.send(topic, value, partition=partition) for value in values]
        for delivery in deliveries:
            await delivery

    def send_offsets(self, member: Any, group: str, offsets: Mapping[Place, int]) -> None:
        rows = {TopicPartition(*place): offset for place, offset in offsets.items()}
        wait(self._loop, self._producer.send_offsets_to_transaction(rows, group))

    def commit(self) -> None:
        wait(self._loop, self._producer.commit_transaction())

    def abort(self) -> None:
        wait(self._loop, self._producer.abort_transaction())

    def close(self) -> None:
        if self._producer is not None:
            # Stopping would wait for what was sent; a crash does not.
            self._producer._closed = True
            wait(self._loop, self._producer._sender.close())
            wait(self._loop, self._producer.client.close())
        self._loop.close()
