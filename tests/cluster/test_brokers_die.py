"""Brokers die and return, and so do disks: writes go on, and the tools tell the truth meanwhile."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

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


@pytest.fixture(scope="module")
def cluster_settings() -> Mapping[str, object]:
    """Two disks each, which are looked at often; and sessions that do not end because a machine is busy."""
    return {
        "log.dirs": "data,second",
        "replica.high.watermark.checkpoint.interval.ms": 500,
        "zookeeper.session.timeout.ms": 6000,
    }


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


class Disk:
    """A log directory that is gone, with a file in its place: whatever opens something there fails."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._away = directory.with_name(f"{directory.name}-away")

    def fail(self) -> None:
        self.directory.rename(self._away)
        self.directory.touch()

    def repair(self) -> None:
        self.directory.unlink()
        self._away.rename(self.directory)


def copy_of(cluster: Cluster, broker_id: int, topic: str, partition: int) -> bytes:
    (folder,) = cluster.brokers[broker_id].directory.glob(f"*/{topic}-{partition}")
    return b"".join(path.read_bytes() for path in sorted(folder.glob("*.log")))


def log_dir_errors(cluster: Cluster, broker_id: int) -> dict[str, str | None]:
    words = ("--bootstrap-server", cluster.bootstrap, "--describe", "--broker-list", broker_id)
    printed = json.loads(tool("kafka-log-dirs", *words).stdout.splitlines()[-1])
    return {Path(row["logDir"]).name: row["error"] for row in printed["brokers"][0]["logDirs"]}


def test_a_broker_that_loses_a_disk_goes_on_with_the_other_and_catches_up_when_it_is_repaired(
    cluster: Cluster, topic: str
) -> None:
    with WireCluster.connect(cluster.bootstrap) as asked:
        topics.create(asked, topic, assignment={each: [1, 2, 0] for each in range(PARTITIONS)})
    writer = Writer(cluster, topic)
    writer.write(300)
    writer.flush()
    disk = Disk(cluster.brokers[1].directory / "second")
    lost = {int(path.name.rpartition("-")[2]) for path in disk.directory.glob(f"{topic}-*")}
    assert 0 < len(lost) < PARTITIONS, "each disk has some"
    disk.fail()
    expected = [2 if each in lost else 1 for each in range(PARTITIONS)]
    eventually(lambda: leaders(cluster, topic) == expected, PATIENCE_S)
    writer.write(300)
    writer.flush()
    assert writer.errors == []
    assert leaders(cluster, topic) == expected
    without = [{"0", "2"}] * len(lost)
    eventually(
        lambda: isr_of(describe(cluster, "--under-replicated-partitions"), topic) == without, PATIENCE_S
    )
    failed = "org.apache.kafka.common.errors.KafkaStorageException"
    assert log_dir_errors(cluster, 1) == {"data": None, "second": failed}
    cluster.brokers[1].stop()
    disk.repair()
    cluster.brokers[1].start()
    eventually(lambda: describe(cluster, "--under-replicated-partitions") == [], PATIENCE_S)
    assert log_dir_errors(cluster, 1) == {"data": None, "second": None}
    assert read(cluster, topic, 600) == list(range(600))
    for each in lost:
        assert copy_of(cluster, 1, topic, each) == copy_of(cluster, 2, topic, each)
