"""Loads as users of confluent-kafka see them, each in a process of its own: `python -m bench.confluent`.

produce|consume      <bootstrap> <topic> <records> <record bytes>
endtoend             <bootstrap> <topic> <records> <records per second>
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition

from bench.apache_kafka import CHECKOUT

TIMEOUT_S = 600


def run(kind: str, *arguments: object) -> dict[str, float]:
    return run_module("bench.confluent", kind, *arguments)


def run_module(module: str, kind: str, *arguments: object) -> dict[str, float]:
    """Run one of a module's loads in a child process; it answers with its figures."""
    done = subprocess.run(
        [sys.executable, "-m", module, kind, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        cwd=CHECKOUT,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"the confluent-kafka load failed: {done.stderr.strip()[-500:]}")
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def produce(bootstrap: str, topic: str, records: int, record_bytes: int) -> dict[str, float]:
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "acks": "all",
            "linger.ms": 5,
            "batch.size": 131_072,
            "queue.buffering.max.messages": 500_000,
            "queue.buffering.max.kbytes": 1_048_576,
        }
    )
    value = bytes(97 + i % 26 for i in range(record_bytes))
    started_at = time.perf_counter()
    for number in range(records):
        while True:
            try:
                producer.produce(topic, value, partition=0)
                break
            except BufferError:
                producer.poll(0.01)
        if number % 1_000 == 0:
            producer.poll(0)
    left = producer.flush(TIMEOUT_S)
    if left:
        raise SystemExit(f"{left} records were not delivered")
    return _span(started_at)


def consume(bootstrap: str, topic: str, records: int, record_bytes: int) -> dict[str, float]:
    consumer = _consumer(bootstrap, topic, offset=0)
    started_at = time.perf_counter()
    seen = 0
    while seen < records:
        seen += len(consumer.consume(10_000, timeout=1.0))
    span = _span(started_at)
    consumer.close()
    return span


def endtoend(
    bootstrap: str, topic: str, records: int, records_per_second: int, *, acks: str = "1", first: int = 0
) -> dict[str, float]:
    """From `produce()` to the consumer's `poll()` in one process, one record at a time, paced. What comes
    before record number `first` does not count: replicas of a new topic take a moment to follow."""
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 0, "acks": acks})
    producer.produce(topic, b"warm up", partition=0)
    producer.flush(TIMEOUT_S)
    consumer = _consumer(bootstrap, topic, offset=0)
    while consumer.poll(1.0) is None:
        pass
    delays_us: list[float] = []

    def receive() -> None:
        while len(delays_us) < records:
            message = consumer.poll(1.0)
            if message is not None and message.error() is None:
                sent_at = float(message.value() or b"0")
                delays_us.append((time.perf_counter() - sent_at) * 1e6)

    receiver = threading.Thread(target=receive)
    receiver.start()
    start = time.perf_counter()
    for number in range(records):
        time.sleep(max(0.0, start + number / records_per_second - time.perf_counter()))
        producer.produce(topic, repr(time.perf_counter()).encode(), partition=0)
        producer.poll(0)
    producer.flush(TIMEOUT_S)
    receiver.join(TIMEOUT_S)
    consumer.close()
    counted_us = delays_us[first:]
    cuts = statistics.quantiles(counted_us, n=1_000)
    return {"p50_us": statistics.median(counted_us), "p99_us": cuts[989], "p999_us": cuts[998]}


def _consumer(bootstrap: str, topic: str, offset: int) -> Any:
    settings: dict[str, Any] = {
        "bootstrap.servers": bootstrap,
        "group.id": "bench",
        "enable.auto.commit": False,
        "log_level": 2,
        "fetch.wait.max.ms": 500,
        # As rdkafka_performance does: with the usual 100,000 a consumer pauses for a second as soon as a fast
        # broker has filled them.
        "queued.min.messages": 1_000_000,
        "queued.max.messages.kbytes": 2_097_151,
    }
    consumer = Consumer(settings)
    consumer.assign([TopicPartition(topic, 0, offset)])
    return consumer


def _span(started_at: float) -> dict[str, float]:
    return {"started_at": started_at, "ended_at": time.perf_counter()}


if __name__ == "__main__":
    kinds: dict[str, Callable[..., dict[str, float]]] = {
        "produce": produce,
        "consume": consume,
        "endtoend": endtoend,
    }
    print(json.dumps(kinds[sys.argv[1]](sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))))
