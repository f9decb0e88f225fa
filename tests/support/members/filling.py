"""Numbered records for groups to share."""

from __future__ import annotations

import functools
from typing import Any

from confluent_kafka import Producer
from tests.support.members.face import Member, Place

from barnabas.testing import BrokerProcess


@functools.lru_cache(maxsize=4)
def _producer(bootstrap: str) -> Producer:
    settings: dict[str, Any] = {"bootstrap.servers": bootstrap, "log_level": 2, "linger.ms": 0}
    return Producer(settings)


def fill(broker: BrokerProcess, topic: str, *, partitions: int, count: int, start: int = 0) -> int:
    """Numbers from `start`, round robin over the partitions; returns the number after the last."""
    producer = _producer(broker.bootstrap)
    for number in range(start, start + count):
        producer.produce(topic, b"%d" % number, partition=number % partitions)
    assert producer.flush(60) == 0
    return start + count


def numbers(member: Member) -> list[int]:
    return sorted(int(one.value or b"-1") for one in member.received())


def places(topic: str, partitions: int) -> frozenset[Place]:
    return frozenset((topic, index) for index in range(partitions))
