"""Producers that go on through crashes and remember exactly what was acknowledged to them."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Any

from confluent_kafka import KafkaError, Producer
from tests.support.batches import Batch
from tests.support.requests import partition_of, produce_request
from tests.support.wire import Connection

IN_FLIGHT_MAX = 5


class RawLoad(threading.Thread):
    """One record per request, five requests in flight, no retry: what was not acknowledged is given up."""

    def __init__(self, port: int, topic: str, partition: int, acks: int) -> None:
        super().__init__(name=f"raw-load-{partition}")
        self._port, self._topic, self._partition, self._acks = port, topic, partition, acks
        self._stopping = threading.Event()
        self._number = 0
        self.acknowledged: dict[int, bytes] = {}  # offset -> value

    def run(self) -> None:
        while not self._stopping.is_set():
            try:
                with Connection(self._port) as connection:
                    self._produce_until_disconnected(connection)
            except (OSError, AssertionError):
                time.sleep(
                    0.02
                )  # the broker is down; the requests in flight are neither stored nor lost for sure

    def _produce_until_disconnected(self, connection: Connection) -> None:
        in_flight: deque[bytes] = deque()
        while not (self._stopping.is_set() and not in_flight):
            while len(in_flight) < IN_FLIGHT_MAX and not self._stopping.is_set():
                value = b"%d" % self._number
                self._number += 1
                connection.send_request(self._request(value))
                in_flight.append(value)
            _, response = connection.receive_response(type(self._request(b"")))
            value, answer = in_flight.popleft(), partition_of(response)
            if answer.error_code == 0:
                self.acknowledged[answer.base_offset] = value

    def _request(self, value: bytes) -> Any:
        batch = Batch(values=[value]).encode()
        return produce_request(self._topic, batch, partition=self._partition, acks=self._acks)

    def finish(self) -> None:
        self._stopping.set()
        self.join(60)
        assert not self.is_alive()


class IdempotentLoad(threading.Thread):
    """librdkafka's idempotent producer: it retries through every crash and must never write a record
    twice.
    """

    def __init__(self, bootstrap: str, topic: str, partition: int) -> None:
        super().__init__(name=f"idempotent-load-{partition}")
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "linger.ms": 1,
                "compression.type": "lz4",
                "reconnect.backoff.max.ms": 100,
                "delivery.timeout.ms": 300_000,
                "log_level": 0,
            }
        )
        self._topic, self._partition = topic, partition
        self._stopping = threading.Event()
        self.acknowledged: dict[int, bytes] = {}
        self.errors: list[KafkaError] = []
        self.sent = 0

    def run(self) -> None:
        while not self._stopping.is_set():
            if self.sent - len(self.acknowledged) < 2_000:
                self._producer.produce(
                    self._topic, b"%d" % self.sent, partition=self._partition, on_delivery=self._delivered
                )
                self.sent += 1
            else:
                self._producer.poll(0.01)
            self._producer.poll(0)

    def _delivered(self, error: KafkaError | None, message: Any) -> None:
        if error is not None:
            self.errors.append(error)
        else:
            self.acknowledged[message.offset()] = message.value()

    def finish(self) -> None:
        self._stopping.set()
        self.join(60)
        assert self._producer.flush(120) == 0, "not everything was delivered in the end"
