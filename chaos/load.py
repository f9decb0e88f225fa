"""Idempotent producers that write at a steady pace to every partition and remember what was acknowledged."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from typing import Any, NamedTuple

from confluent_kafka import KafkaError, Producer

# A broker that is paused keeps its connections: only these limits make a producer look for another.
CLIENT: dict[str, Any] = {
    "socket.timeout.ms": 5_000,
    "socket.connection.setup.timeout.ms": 3_000,
    "reconnect.backoff.ms": 20,
    "reconnect.backoff.max.ms": 300,
    "topic.metadata.refresh.fast.interval.ms": 50,
    "topic.metadata.refresh.interval.ms": 5_000,
    "retry.backoff.ms": 50,
    "retry.backoff.max.ms": 300,
    "log_level": 0,
}
PAUSE_S = 0.04
_BEHIND_MAX = 20_000


class Ack(NamedTuple):
    sent_s: float
    acked_s: float


class IdempotentLoad(threading.Thread):
    """Every value is `<producer> <number>`, numbered within the partition from 0."""

    def __init__(self, bootstrap: str, name: str, topic: str, partitions: int) -> None:
        super().__init__(name=f"load-{name}")
        self.producer_name = name
        self.topic, self.partitions = topic, partitions
        self._producer = Producer(
            CLIENT
            | {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "acks": "all",
                "linger.ms": 2,
                "request.timeout.ms": 4_000,
                "delivery.timeout.ms": 3_600_000,
            }
        )
        self._stopping = threading.Event()
        self.sent = [0] * partitions
        self.acknowledged: dict[int, set[int]] = defaultdict(set)  # partition → numbers
        self.acks: dict[int, list[Ack]] = defaultdict(list)
        self.errors: list[str] = []

    def run(self) -> None:
        while not self._stopping.is_set():
            due = time.monotonic() + PAUSE_S
            if sum(self.sent) - sum(map(len, self.acknowledged.values())) < _BEHIND_MAX:
                for partition in range(self.partitions):
                    self._send(partition)
            while (left := due - time.monotonic()) > 0:
                self._producer.poll(left)

    def _send(self, partition: int) -> None:
        number, sent_s = self.sent[partition], time.monotonic()

        def delivered(error: KafkaError | None, _message: Any) -> None:
            if error is not None:
                self.errors.append(f"{self.producer_name}: record {number} of partition {partition}: {error}")
            else:
                self.acknowledged[partition].add(number)
                self.acks[partition].append(Ack(sent_s, time.monotonic()))

        self._producer.produce(
            self.topic, f"{self.producer_name} {number}".encode(), partition=partition, on_delivery=delivered
        )
        self.sent[partition] += 1

    def finish(self, patience_s: float) -> None:
        self._stopping.set()
        self.join(30)
        left = self._producer.flush(patience_s)
        if left:
            self.errors.append(f"{self.producer_name}: {left} records were still not acknowledged at the end")
