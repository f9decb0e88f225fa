"""Loads on a cluster through librdkafka, each in a process of its own: `python -m bench.cluster.loads`.

produce  <bootstrap> <topic> <records> <record bytes> <partitions> <acks>
endtoend <bootstrap> <topic> <records> <records per second> <first that counts>
failover <bootstrap> <topic> <seconds>
"""

from __future__ import annotations

import itertools
import json
import sys
import time
from collections.abc import Callable
from typing import Any

from confluent_kafka import Producer

from bench.confluent import TIMEOUT_S, endtoend

_PAUSE_S = 0.005


def produce(
    bootstrap: str, topic: str, records: str, record_bytes: str, partitions: str, acks: str
) -> dict[str, float]:
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "acks": acks,
            "linger.ms": 5,
            "batch.size": 131_072,
            "queue.buffering.max.messages": 500_000,
            "queue.buffering.max.kbytes": 1_048_576,
        }
    )
    value = bytes(97 + i % 26 for i in range(int(record_bytes)))
    count, spread = int(records), int(partitions)
    began = time.perf_counter()
    for number in range(count):
        while True:
            try:
                producer.produce(topic, value, partition=number % spread)
                break
            except BufferError:
                producer.poll(0.01)
        if number % 1_000 == 0:
            producer.poll(0)
    left = producer.flush(TIMEOUT_S)
    if left:
        raise SystemExit(f"{left} records were not delivered")
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "megabytes_per_s": count * len(value) / seconds / 1e6}


def latency(bootstrap: str, topic: str, records: str, per_second: str, first: str) -> dict[str, float]:
    return endtoend(bootstrap, topic, int(records), int(per_second), acks="all", first=int(first))


def failover(bootstrap: str, topic: str, seconds: str) -> dict[str, float]:
    """One small record after the other, each acknowledged by all: the longest silence between two."""
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "acks": "all",
            "linger.ms": 0,
            "retry.backoff.ms": 20,
            "retry.backoff.max.ms": 50,
            "topic.metadata.refresh.fast.interval.ms": 50,
            "reconnect.backoff.ms": 20,
            "reconnect.backoff.max.ms": 100,
            "socket.timeout.ms": 10_000,
            "log_level": 0,
        }
    )
    heard: list[float] = []

    def delivered(error: Any, _message: Any) -> None:
        if error is None:
            heard.append(time.perf_counter())

    end = time.perf_counter() + float(seconds)
    while time.perf_counter() < end:
        producer.produce(topic, b"x", partition=0, on_delivery=delivered)
        producer.poll(_PAUSE_S)
    producer.flush(60)
    gaps = [later - earlier for earlier, later in itertools.pairwise(heard)]
    return {"longest_gap_s": max(gaps), "records": len(heard)}


_KINDS: dict[str, Callable[..., dict[str, float]]] = {
    "produce": produce,
    "endtoend": latency,
    "failover": failover,
}

if __name__ == "__main__":
    print(json.dumps(_KINDS[sys.argv[1]](*sys.argv[2:])))
