"""A broker whose metadata lives in ZooKeeper: what it writes there, and what it survives."""

from __future__ import annotations

import itertools
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import partial

import pytest
from confluent_kafka import Consumer, Producer
from kazoo.client import KazooClient
from tests.support.waiting import eventually
from tests.support.zookeeper import ZookeeperServer

from barnabas.model.config_numbers import ResourceType
from barnabas.model.errors import ApiError
from barnabas.testing import Broker, BrokerFailedError
from barnabas.wire import Cluster
from barnabas.wire.admin import configs, topics
from barnabas.wire.admin.configs import Resource
from barnabas.wire.errors import WireError

SHORT_SESSION_MS, SESSION_TIMEOUT_MS, AN_HOUR_MS = 2_000, 30_000, 3_600_000
StartBroker = Callable[..., Broker]
_numbers = itertools.count(1)


wait_until = partial(eventually, patience_s=60)  # sessions must end first


@pytest.fixture
def chroot() -> str:
    return f"/kafka-{os.getpid()}-{next(_numbers)}"


@pytest.fixture
def start(zookeeper: ZookeeperServer, chroot: str) -> Iterator[StartBroker]:
    with ExitStack() as brokers:

        def starter(connect: str = zookeeper.connect, **settings: object) -> Broker:
            named = {name.replace("_", "."): value for name, value in settings.items()}
            broker = Broker(
                {
                    "zookeeper.connect": connect + chroot,
                    "zookeeper.session.timeout.ms": SESSION_TIMEOUT_MS,
                    "zookeeper.connection.timeout.ms": 60_000,
                    "offsets.topic.replication.factor": 1,
                    "offsets.topic.num.partitions": 1,
                }
                | named
            )
            del broker.settings["node.id"]  # `broker.id` says it, as in files of that time
            return brokers.enter_context(broker)

        yield starter


@pytest.fixture
def tree(zookeeper: ZookeeperServer, chroot: str) -> Iterator[KazooClient]:
    client = KazooClient(zookeeper.connect)
    client.start()
    client.ensure_path(chroot)
    client.chroot = chroot
    yield client
    client.stop()
    client.close()


def read_json(tree: KazooClient, path: str) -> dict[str, object]:
    data, _ = tree.get(path)
    value = json.loads(data)
    assert isinstance(value, dict)
    return value


def create(broker: Broker, topic: str) -> None:
    with Cluster.connect(broker.bootstrap) as cluster:
        topics.create(cluster, topic, partitions=2)


def produce(broker: Broker, topic: str, *values: bytes) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for value in values:
        producer.produce(topic, value, partition=0)
    assert producer.flush(60) == 0


def consume(broker: Broker, topic: str, count: int) -> list[bytes]:
    consumer = Consumer(
        {"bootstrap.servers": broker.bootstrap, "group.id": "readers", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe([topic])
    found: list[bytes] = []
    end = time.monotonic() + 60
    while len(found) < count and time.monotonic() < end:
        message = consumer.poll(0.5)
        if message is not None and message.error() is None:
            found.append(message.value() or b"")
    consumer.close()
    return found


def test_what_it_writes_is_what_kafka_writes(start: StartBroker, tree: KazooClient) -> None:
    broker = start(broker_id=7, broker_rack="west")
    create(broker, "trucks")
    registered = read_json(tree, "/brokers/ids/7")
    assert registered["version"] == 5
    assert registered["endpoints"] == [f"PLAINTEXT://127.0.0.1:{broker.port}"]
    assert registered["listener_security_protocol_map"] == {"PLAINTEXT": "PLAINTEXT"}
    assert (registered["rack"], registered["features"]) == ("west", {})
    assert read_json(tree, "/controller")["brokerid"] == 7
    assert len(str(read_json(tree, "/cluster/id")["id"])) == 22
    topic = read_json(tree, "/brokers/topics/trucks")
    assert (topic["version"], topic["partitions"]) == (3, {"0": [7], "1": [7]})
    state = read_json(tree, "/brokers/topics/trucks/partitions/0/state")
    assert (state["leader"], state["isr"], state["version"]) == (7, [7], 1)
    assert tree.get("/controller_epoch")[0] == b"1"


def test_a_broker_that_was_killed_waits_for_its_old_session_and_has_everything(start: StartBroker) -> None:
    broker = start(broker_id=1, zookeeper_session_timeout_ms=10_000)
    create(broker, "trucks")
    produce(broker, "trucks", b"1", b"2", b"3")
    broker.kill()
    broker.start()
    assert "waiting until that has ended" in broker.log_text()
    assert consume(broker, "trucks", 3) == [b"1", b"2", b"3"]


def test_a_broker_that_slept_too_long_registers_again(start: StartBroker, tree: KazooClient) -> None:
    broker = start(broker_id=1, zookeeper_session_timeout_ms=SHORT_SESSION_MS)
    create(broker, "before")
    first = tree.exists("/brokers/ids/1").czxid
    os.kill(broker.pid, signal.SIGSTOP)
    try:
        wait_until(lambda: tree.exists("/brokers/ids/1") is None)
    finally:
        os.kill(broker.pid, signal.SIGCONT)
    wait_until(lambda: tree.exists("/controller") is not None and tree.exists("/brokers/ids/1") is not None)
    assert tree.exists("/brokers/ids/1").czxid > first
    create(broker, "after")
    produce(broker, "before", b"x")
    assert consume(broker, "before", 1) == [b"x"]
    assert int(tree.get("/controller_epoch")[0]) > 1


def test_a_broker_goes_on_while_zookeeper_is_away_and_stops_without_it(
    start: StartBroker, tmp_path_factory: pytest.TempPathFactory
) -> None:
    own = ZookeeperServer(tmp_path_factory.mktemp("alone"))
    own.start()
    try:
        own.wait()
        broker = start(own.connect, broker_id=1, zookeeper_connection_timeout_ms=AN_HOUR_MS)
        create(broker, "before")
        own.kill()
        produce(broker, "before", b"x")
        own.start()
        own.wait()
        wait_until(lambda: try_to_create(broker, "after"))
        assert consume(broker, "before", 1) == [b"x"]
        losses = count_losses(broker)
    finally:
        own.kill()
    wait_until(lambda: count_losses(broker) > losses)  # what it asks from now on has no answer
    broker.stop()
    assert "shut down completed" in broker.log_text()


def count_losses(broker: Broker) -> int:
    return broker.log_text().count("Zookeeper connection lost")


def try_to_create(broker: Broker, topic: str) -> bool:
    """A creation whose answer got lost with the connection may have happened; one that lost its connection to
    ZooKeeper may not."""
    with Cluster.connect(broker.bootstrap) as cluster:
        with suppress(WireError, ApiError):
            topics.create(cluster, topic, partitions=1)
        return topic in topics.names(cluster)


def test_a_second_broker_joins_the_first(start: StartBroker, tree: KazooClient) -> None:
    start(broker_id=1)
    start(broker_id=2)
    assert sorted(tree.get_children("/brokers/ids")) == ["1", "2"]
    assert json.loads(tree.get("/controller")[0])["brokerid"] == 1


def test_an_id_in_use_is_refused_when_the_wait_is_over(start: StartBroker) -> None:
    start(broker_id=1)
    with pytest.raises(BrokerFailedError, match="is another broker running with the id 1"):
        start(broker_id=1, zookeeper_session_timeout_ms=SHORT_SESSION_MS)


def test_ids_are_given_out_as_kafka_does(start: StartBroker, tree: KazooClient) -> None:
    broker = start(broker_id=-1)
    assert tree.get_children("/brokers/ids") == ["1001"]
    broker.restart()
    assert tree.get_children("/brokers/ids") == ["1001"]
    broker.stop()
    start(broker_id=-1)
    assert tree.get_children("/brokers/ids") == ["1002"]


def names(broker: Broker) -> list[str]:
    with Cluster.connect(broker.bootstrap) as cluster:
        return topics.names(cluster, include_internal=False)


def partitions(broker: Broker, topic: str) -> int:
    with Cluster.connect(broker.bootstrap) as cluster:
        (described,) = topics.describe(cluster, [topic])
        return len(described.partitions)


def retention(broker: Broker, topic: str) -> str | None:
    with Cluster.connect(broker.bootstrap) as cluster:
        rows = configs.describe(cluster, Resource(ResourceType.TOPIC, topic), ["retention.ms"])
        return rows[0].value


def test_a_topic_that_a_tool_writes_into_the_tree_is_created_grown_set_and_deleted(
    start: StartBroker, tree: KazooClient
) -> None:
    broker = start(broker_id=1)
    tree.create("/config/topics/trucks", b'{"version":1,"config":{"retention.ms":"1000000"}}')
    tree.create("/brokers/topics/trucks", b'{"version":1,"partitions":{"0":[1]}}')
    wait_until(lambda: names(broker) == ["trucks"])
    produce(broker, "trucks", b"x")
    assert consume(broker, "trucks", 1) == [b"x"]
    assert retention(broker, "trucks") == "1000000"
    tree.set("/brokers/topics/trucks", b'{"version":1,"partitions":{"0":[1],"1":[1]}}')
    wait_until(lambda: partitions(broker, "trucks") == 2)
    tree.set("/config/topics/trucks", b'{"version":1,"config":{"retention.ms":"2000000"}}')
    tree.create(
        "/config/changes/config_change_", b'{"version":2,"entity_path":"topics/trucks"}', sequence=True
    )
    wait_until(lambda: retention(broker, "trucks") == "2000000")
    wait_until(lambda: tree.get_children("/config/changes") == [])
    create(broker, "other")
    tree.create("/admin/delete_topics/trucks")
    wait_until(lambda: names(broker) == ["other"])
    wait_until(lambda: tree.get_children("/admin/delete_topics") == [])
    assert tree.exists("/brokers/topics/trucks") is None
    tree.create("/brokers/topics/trucks", b'{"version":1,"partitions":{"0":[1]}}')
    wait_until(lambda: names(broker) == ["other", "trucks"])


def test_a_topic_that_cannot_be_read_harms_nobody(start: StartBroker, tree: KazooClient) -> None:
    broker = start(broker_id=1)
    tree.create("/brokers/topics/broken", b"no json")
    create(broker, "trucks")
    produce(broker, "trucks", b"x")
    assert names(broker) == ["trucks"]
