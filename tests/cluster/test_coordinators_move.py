"""The broker that coordinates a group or a transaction is killed while they are at work: they go on."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from tests.support.agreement import settle
from tests.support.waiting import eventually

from barnabas.testing import Broker, Cluster
from barnabas.wire import Cluster as WireCluster
from barnabas.wire.admin import groups, topics, transactions
from barnabas.wire.coordinators import KeyType, find

RECORDS = 300
PATIENCE_S = 200
STUCK_S = 45


@pytest.fixture(scope="module")
def cluster_settings() -> Mapping[str, object]:
    return {"group.initial.rebalance.delay.ms": 0}


def create(cluster: Cluster, *names: str) -> None:
    with WireCluster.connect(cluster.bootstrap) as asked:
        for name in names:
            topics.create(asked, name, 3, 3)
    settle(cluster)


def fill(cluster: Cluster, topic: str) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "enable.idempotence": True})
    for number in range(RECORDS):
        producer.produce(topic, str(number), partition=number % 3)
    assert producer.flush(60) == 0


def consumer(cluster: Cluster, group: str, **settings: object) -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": cluster.bootstrap,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            **settings,
        }
    )


def coordinator_of(cluster: Cluster, key: str, kind: KeyType) -> Broker:
    with WireCluster.connect(cluster.bootstrap) as asked:
        found = asked.retrying(lambda: find(asked, [key], kind)[key])
    assert not isinstance(found, Exception), found
    return cluster.brokers[found.node_id]


def values(messages: list[Message]) -> list[str]:
    return [(message.value() or b"").decode() for message in messages if message.error() is None]


def all_values(cluster: Cluster, topic: str, count: int) -> Counter[str]:
    """What a reader of committed records finds: at least as many as these, unless time is over."""
    reader = consumer(cluster, f"reader-of-{topic}")
    reader.subscribe([topic])
    found: list[str] = []
    deadline = time.monotonic() + PATIENCE_S
    while len(found) < count and time.monotonic() < deadline:
        found += values(reader.consume(500, timeout=1))
    found += values(reader.consume(500, timeout=2))  # nothing comes after
    reader.close()
    return Counter(found)


def persistently(what: Callable[[], Any]) -> Any:
    """As an application does with what librdkafka calls retriable."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return what()
        except KafkaException as failure:
            error = failure.args[0]
            assert isinstance(error, KafkaError)
            if not error.retriable() or time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def commit_ends(reader: Consumer, topic: str) -> None:
    """Whoever was not heard of for a session's time, because the machine is busy, joins again first."""
    ends = [TopicPartition(topic, index, RECORDS // 3) for index in range(3)]
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            reader.commit(offsets=ends, asynchronous=False)
            return
        except KafkaException:
            if time.monotonic() > deadline:
                raise
            reader.consume(1, timeout=1)


class StuckError(Exception):
    """A call of librdkafka's that does not come back, whatever its time limit says."""


def returning(what: Callable[[], Any]) -> None:
    """On a thread of its own, which is left behind if it gets stuck."""
    outcome: Future[Any] = Future()

    def run() -> None:
        try:
            outcome.set_result(what())
        except KafkaException as failure:
            outcome.set_exception(failure)

    threading.Thread(target=run, daemon=True).start()
    try:
        outcome.result(STUCK_S)
    except TimeoutError:
        raise StuckError from None


class Copying:
    """Reads a topic and writes it to another one, exactly once. While coordinators move librdkafka may get
    stuck with a transaction's offsets; the application is restarted then, as it would be."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self._cluster, self._name = cluster, name
        self.target = f"{name}-out"
        self.copied = 0
        self._open()

    def _open(self) -> None:
        self.consumer = consumer(self._cluster, f"{self._name}-group")
        self.consumer.subscribe([f"{self._name}-in"])
        settings = {"bootstrap.servers": self._cluster.bootstrap, "transactional.id": self._name}
        self.producer = Producer(settings)
        persistently(lambda: self.producer.init_transactions(30))

    def step(self) -> None:
        batch = self.consumer.consume(20, timeout=1)
        if not batch:
            return
        self.producer.begin_transaction()
        for value in values(batch):
            self.producer.produce(self.target, value)
        try:
            self._end()
        except StuckError:
            self.consumer.close()
            self._open()
        except KafkaException as failure:
            error = failure.args[0]
            if not error.txn_requires_abort():
                raise
            persistently(lambda: self.producer.abort_transaction(30))
            self._start_over()
        else:
            self.copied += len(values(batch))

    def _end(self) -> None:
        places = self.consumer.position(self.consumer.assignment())
        metadata = self.consumer.consumer_group_metadata()
        producer = self.producer
        returning(lambda: persistently(lambda: producer.send_offsets_to_transaction(places, metadata, 20)))
        persistently(lambda: self.producer.commit_transaction(30))

    def _start_over(self) -> None:
        """From what was committed last."""
        for place in persistently(lambda: self.consumer.committed(self.consumer.assignment(), 30)):
            place.offset = max(place.offset, 0)
            self.consumer.seek(place)

    def close(self) -> None:
        self.consumer.close()


@pytest.mark.parametrize("kind", list(KeyType))
def test_a_copy_is_exactly_once_though_its_coordinator_is_killed(cluster: Cluster, kind: KeyType) -> None:
    name = f"copy-{kind.name.lower()}"
    create(cluster, f"{name}-in", f"{name}-out")
    fill(cluster, f"{name}-in")
    copying = Copying(cluster, name)
    deadline = time.monotonic() + PATIENCE_S
    while copying.copied < 60 and time.monotonic() < deadline:
        copying.step()
    victim = coordinator_of(cluster, name if kind is KeyType.TRANSACTION else f"{name}-group", kind)
    victim.kill()
    while copying.copied < RECORDS and time.monotonic() < deadline:
        copying.step()
    copying.close()
    eventually(lambda: coordinator_of(cluster, name, KeyType.TRANSACTION) is not victim)
    victim.start()
    cluster.wait_until_whole()
    assert all_values(cluster, f"{name}-out", RECORDS) == Counter(map(str, range(RECORDS)))


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_group_goes_on_from_its_offsets_when_its_coordinator_is_killed(
    cluster: Cluster, protocol: str
) -> None:
    topic, group = f"group-{protocol}", f"group-of-{protocol}"
    create(cluster, topic)
    fill(cluster, topic)
    reader = consumer(cluster, group, **{"group.protocol": protocol})
    reader.subscribe([topic])
    seen: list[str] = []
    deadline = time.monotonic() + PATIENCE_S
    while len(seen) < 100 and time.monotonic() < deadline:
        seen += values(reader.consume(20, timeout=1))
    persistently(lambda: reader.commit(asynchronous=False))
    victim = coordinator_of(cluster, group, KeyType.GROUP)
    victim.kill()
    while len(set(seen)) < RECORDS and time.monotonic() < deadline:
        seen += values(reader.consume(20, timeout=1))
    commit_ends(reader, topic)
    reader.close()
    with WireCluster.connect(cluster.bootstrap) as asked:
        assert group in {row.group_id for row in groups.list_groups(asked)}
        assert not isinstance(groups.describe(asked, [group])[group], Exception)
        assert all(row.transactional_id for row in transactions.list_all(asked))
    victim.start()
    cluster.wait_until_whole()
    assert Counter(seen) == Counter(map(str, range(RECORDS)))
