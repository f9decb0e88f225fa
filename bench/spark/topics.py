"""Fill a topic with records that compress about as well as JSON does."""

from __future__ import annotations

import random
from typing import Any

import confluent_kafka

from bench.spark.rows import Backlog

_WORDS = [f"{word}{number}" for number in range(40) for word in ("truck", "stop", "speed", "lat", "lon")]


def fill(bootstrap: str, backlog: Backlog, share: float) -> None:
    """Records of one partition are contiguous in batches of a producer that has enough to send."""
    producer: Any = confluent_kafka.Producer(
        {
            "bootstrap.servers": bootstrap,
            "compression.type": backlog.codec,
            "batch.size": 262_144,
            "linger.ms": 50,
            "queue.buffering.max.kbytes": 262_144,
        }
    )
    values = _values(backlog.record_bytes)
    for number in range(backlog.records(share)):
        send(producer, backlog.topic, number, values[number % len(values)], number % backlog.partitions)
    producer.flush(120)


def send(producer: Any, topic: str, number: int, value: bytes, partition: int) -> None:
    while True:
        try:
            producer.produce(topic, value, key=b"%08d" % (number % 100_000), partition=partition)
            return
        except BufferError:
            producer.poll(0.1)


def _values(size: int) -> list[bytes]:
    chance = random.Random(7)
    texts = (" ".join(chance.choices(_WORDS, k=size // 4)).encode() for _ in range(500))
    return [text[:size] for text in texts]
