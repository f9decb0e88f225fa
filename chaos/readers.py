"""Readers: a group that reads while everything breaks, and one that reads everything when it is mended."""

from __future__ import annotations

import threading
import time
from typing import Any

from confluent_kafka import Consumer, TopicPartition

from chaos.load import CLIENT

PARTITION_END = -191  # librdkafka's own code, no error


class GroupMember(threading.Thread):
    """Reads what is committed and commits what it read; notices when a partition's order is broken."""

    def __init__(self, bootstrap: str, group: str, topics: list[str]) -> None:
        super().__init__(name="reader")
        self._consumer = Consumer(
            CLIENT
            | {
                "bootstrap.servers": bootstrap,
                "group.id": group,
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",
                "session.timeout.ms": 10_000,
                "auto.commit.interval.ms": 1_000,
            }
        )
        self._consumer.subscribe(topics, on_assign=self._assigned)
        self._stopping = threading.Event()
        self._last: dict[tuple[str, int], int] = {}
        self.record_count = 0
        self.problems: list[str] = []

    def _assigned(self, _consumer: Any, partitions: list[TopicPartition]) -> None:
        """Whoever gets a partition goes on where the group was, which may be before what was read here."""
        for partition in partitions:
            self._last.pop((partition.topic, partition.partition), None)

    def run(self) -> None:
        while not self._stopping.is_set():
            message = self._consumer.poll(0.2)
            if message is not None and message.error() is None:
                self._saw(message)
        self._consumer.close()

    def _saw(self, message: Any) -> None:
        partition, offset = (message.topic(), message.partition()), message.offset()
        self.record_count += 1
        last = self._last.get(partition)
        if last is not None and offset <= last:
            self.problems.append(f"the group read {partition} at {offset} after {last}")
        self._last[partition] = offset

    def finish(self) -> None:
        self._stopping.set()
        self.join(60)


def read_everything(bootstrap: str, topic: str, partitions: int, patience_s: float) -> dict[int, list[str]]:
    """The committed values of every partition, in order; what is missing after the patience is not there."""
    consumer = Consumer(
        CLIENT
        | {
            "bootstrap.servers": bootstrap,
            "group.id": "the-judge",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(topic, partition, 0) for partition in range(partitions)])
    found: dict[int, list[str]] = {partition: [] for partition in range(partitions)}
    unread, deadline = set(found), time.monotonic() + patience_s
    while unread and time.monotonic() < deadline:
        messages: list[Any] = consumer.consume(5_000, 0.5)
        for message in messages:
            error = message.error()
            if error is None:
                found[message.partition()].append(message.value().decode())
            elif error.code() == PARTITION_END:
                unread.discard(message.partition())
    consumer.close()
    return found
