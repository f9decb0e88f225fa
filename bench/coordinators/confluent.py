"""Transactions as users of confluent-kafka see them, each load in a process of its own:
`python -m bench.coordinators.confluent`.

transact <bootstrap> <topic> <partitions> <seconds>      100 records each; prints rate and commit latency
consume  <bootstrap> <topic> <records that must come>    read_committed; fails at an aborted one
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

from confluent_kafka import Consumer, Producer, TopicPartition

from bench.confluent import TIMEOUT_S, run_module
from bench.coordinators.latency import percentiles_us

RECORDS = 100
CHUNK = 1_000  # a divisor of what is there, or the last call would wait for more
RECORD_BYTES = 100


def run(kind: str, *arguments: object) -> dict[str, float]:
    return run_module("bench.coordinators.confluent", kind, *arguments)


def transact(bootstrap: str, topic: str, partitions: str, seconds: str) -> dict[str, float]:
    """`commit_transaction()` sends what is buffered and waits for it, so the latency holds that, too."""
    producer = Producer(
        {"bootstrap.servers": bootstrap, "transactional.id": f"{topic}-confluent", "log_level": 2}
    )
    producer.init_transactions(TIMEOUT_S)
    _transact_for(producer, topic, int(partitions), float(seconds))
    started_at = time.perf_counter()
    commit_s = _transact_for(producer, topic, int(partitions), float(seconds))
    return {"rate": len(commit_s) / (time.perf_counter() - started_at), **percentiles_us(commit_s)}


def _transact_for(producer: Producer, topic: str, partitions: int, seconds: float) -> list[float]:
    value = b"v" * RECORD_BYTES
    commit_s = []
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        producer.begin_transaction()
        for number in range(RECORDS):
            producer.produce(topic, value, partition=number % partitions)
        asked_at = time.perf_counter()
        producer.commit_transaction(TIMEOUT_S)
        commit_s.append(time.perf_counter() - asked_at)
    return commit_s


def consume(bootstrap: str, topic: str, records: str) -> dict[str, float]:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "bench-read-committed",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "log_level": 2,
            "queued.max.messages.kbytes": 262_144,
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    started_at = time.perf_counter()
    seen = 0
    while seen < int(records):
        if time.perf_counter() - started_at > TIMEOUT_S / 2:
            raise SystemExit(f"only {seen} of {records} records came")
        for message in consumer.consume(CHUNK, timeout=1.0):
            if message.error() is not None or (message.value() or b"")[:1] != b"c":
                raise SystemExit(f"offset {message.offset()} is not of a committed transaction")
            seen += 1
    seconds = time.perf_counter() - started_at
    extra = consumer.consume(1, timeout=0.5)
    consumer.close()
    if extra or seen > int(records):
        raise SystemExit("more records came than were committed")
    return {"seconds": seconds}


if __name__ == "__main__":
    kinds: dict[str, Callable[..., dict[str, float]]] = {"transact": transact, "consume": consume}
    print(json.dumps(kinds[sys.argv[1]](*sys.argv[2:])))
