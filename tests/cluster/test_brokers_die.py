"""Brokers die and return: writes go on, and `kafka-topics --describe` tells the truth meanwhile."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition
from tests.cli.processes import tool
from tests.support.agreement import settle
from tests.support.waiting import eventually

from barnabas.testing import Cluster
from barnabas.wire import Cluster as WireCluster
from barnabas.wire.admin import topics

PATIENCE_S = 60
PARTITIONS = 3


@pytest.fixture(autouse=True)
def whole(cluster: Cluster) -> Iterator[None]:
    """Whatever a test did to it, the next one finds three brokers with all their copies."""
    yield
    for broker in cluster.brokers:
        if not broker.is_running():
            broker.start()
    eventually(lambda: describe(cluster, "--under-replicated-partitions") == [], PATIENCE_S)


@pytest.fixture
def replicated(cluster: Cluster, topic: str) -> str:
    with WireCluster.connect(cluster.bootstrap) as asked:
        topics.create(asked, topic, PARTITIONS, 3, {"min.insync.replicas": "2"})
    settle(cluster)
    return topic


def describe(cluster: Cluster, *words: str) -> list[str]:
    """What kafka-topics prints of whatever is as these words say; asked of all that still run."""
    alive = ",".join(broker.bootstrap for broker in cluster.brokers if broker.is_running())
    outcome = tool("kafka-topics", "--bootstrap-server", alive, "--describe", *words)
    assert outcome.code == 0, outcome
    return outcome.stdout.splitlines()


def isr_of(lines: list[str], topic: str) -> list[set[str]]:
    rows = [line for line in lines if f"\tTopic: {topic}\t" in line]
    return [set(found[1].split(",")) for line in rows if (found := re.search(r"\tIsr: ([\d,]*)", line))]


def leaders(cluster: Cluster, topic: str) -> list[int]:
    alive = next(broker for broker in cluster.brokers if broker.is_running())
    with WireCluster.connect(alive.bootstrap) as asked:
        (found,) = asked.metadata([topic]).topics
    return [
        partition.leader_id for partition in sorted(found.partitions, key=lambda row: row.partition_index)
    ]


class Writer:
    """Writes with acks=all until it is asked what came of it."""

    def __init__(self, cluster: Cluster, topic: str, **settings: object) -> None:
        self._topic = topic
        common = {"bootstrap.servers": cluster.bootstrap, "acks": "all", "enable.idempotence": True}
        self._producer = Producer(common | {"topic.metadata.refresh.fast.interval.ms": 50} | settings)
        self.errors: list[KafkaError] = []
        self.count = 0

    def write(self, count: int) -> None:
        for _ in range(count):
            self._producer.produce(
                self._topic, str(self.count), partition=self.count % PARTITIONS, on_delivery=self._delivered
            )
            self.count += 1

    def _delivered(self, error: KafkaError | None, _message: object) -> None:
        if error is not None:
            self.errors.append(error)

    def flush(self) -> None:
        assert self._producer.flush(PATIENCE_S) == 0


def read(cluster: Cluster, topic: str, count: int) -> list[int]:
    settings = {"bootstrap.servers": cluster.bootstrap, "group.id": topic, "enable.auto.commit": False}
    consumer = Consumer(settings)
    consumer.assign([TopicPartition(topic, partition, 0) for partition in range(PARTITIONS)])
    messages: list[Message] = []
    deadline = time.monotonic() + PATIENCE_S
    while len(messages) < count and time.monotonic() < deadline:
        messages += [one for one in consumer.consume(count - len(messages), 1) if one.error() is None]
    consumer.close()
    return sorted(int(message.value() or b"") for message in messages)


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_writes_go_on_when_a_leader_ends(cluster: Cluster, replicated: str, end: str) -> None:
    writer = Writer(cluster, replicated)
    writer.write(300)
    writer.flush()
    victim = leaders(cluster, replicated)[0]
    getattr(cluster.brokers[victim], end)()
    writer.write(300)
    writer.flush()
    assert writer.errors == []
    settle(cluster)
    assert victim not in leaders(cluster, replicated)
    assert read(cluster, replicated, 600) == list(range(600))


def test_a_dead_broker_is_missing_from_every_in_sync_set_and_comes_back(
    cluster: Cluster, replicated: str
) -> None:
    assert describe(cluster, "--topic", replicated, "--under-replicated-partitions") == []
    cluster.brokers[1].kill()
    eventually(
        lambda: (
            isr_of(describe(cluster, "--under-replicated-partitions"), replicated)
            == [{"0", "2"}] * PARTITIONS
        ),
        PATIENCE_S,
    )
    settle(cluster)
    for kind in ("--unavailable-partitions", "--under-min-isr-partitions"):
        assert isr_of(describe(cluster, kind), replicated) == []
    assert len(isr_of(describe(cluster, "--at-min-isr-partitions"), replicated)) == PARTITIONS
    cluster.brokers[1].start()
    eventually(lambda: describe(cluster, "--under-replicated-partitions") == [], PATIENCE_S)
    settle(cluster)
    assert isr_of(describe(cluster), replicated) == [{"0", "1", "2"}] * PARTITIONS


def test_below_min_insync_replicas_writes_wait_and_lose_nothing(cluster: Cluster, replicated: str) -> None:
    writer = Writer(cluster, replicated)
    writer.write(30)
    writer.flush()
    for broker in cluster.brokers[1:]:
        broker.stop()
    eventually(
        lambda: len(isr_of(describe(cluster, "--under-min-isr-partitions"), replicated)) == PARTITIONS,
        PATIENCE_S,
    )
    hasty = Writer(cluster, replicated, **{"message.timeout.ms": 2_000})
    hasty.write(3)
    hasty.flush()
    assert len(hasty.errors) == 3
    writer.write(30)
    cluster.brokers[1].start()
    writer.flush()
    assert writer.errors == []
    assert read(cluster, replicated, 60) == sorted(range(60))
