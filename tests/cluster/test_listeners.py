"""Two listeners, one for clients and one among brokers: each hears only of its own addresses, and a set that
does not go together with the neighbours' stops the start."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from tests.support.zookeeper import need_java

from barnabas.protocol.messages.metadata import MetadataRequest, MetadataResponse
from barnabas.testing import Broker, BrokerFailedError, Cluster, free_port
from barnabas.wire import Connection
from barnabas.wire.address import Address

COMMON: dict[str, object] = {
    "listener.security.protocol.map": "CLIENTS:PLAINTEXT,BROKERS:PLAINTEXT",
    "inter.broker.listener.name": "BROKERS",
}


@pytest.fixture(scope="module")
def two_listeners(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    need_java()
    cluster = Cluster(2, COMMON, directory=tmp_path_factory.mktemp("two-listeners"))
    for broker in cluster.brokers:
        broker.settings["listeners"] = f"CLIENTS://127.0.0.1:{broker.port},BROKERS://127.0.0.1:{free_port()}"
    with cluster:
        yield cluster


def inner_port(broker: Broker) -> int:
    return int(str(broker.settings["listeners"]).rpartition(":")[2])


def ports_heard_at(port: int) -> list[int]:
    with Connection.open(Address("127.0.0.1", port)) as connection:
        answer = connection.call(MetadataRequest(topics=[]), MetadataResponse)
    return sorted(broker.port for broker in answer.brokers)


def test_each_listener_tells_of_its_own_addresses(two_listeners: Cluster) -> None:
    brokers = two_listeners.brokers
    for broker in brokers:
        assert ports_heard_at(broker.port) == sorted(one.port for one in brokers)
        assert ports_heard_at(inner_port(broker)) == sorted(map(inner_port, brokers))


def test_records_are_replicated_over_the_listener_among_brokers(two_listeners: Cluster, topic: str) -> None:
    producer = Producer({"bootstrap.servers": two_listeners.bootstrap, "acks": "all"})
    producer.produce(topic, b"value")
    assert producer.flush(60) == 0
    reader = Consumer({"bootstrap.servers": two_listeners.bootstrap, "group.id": topic})
    reader.assign([TopicPartition(topic, 0, 0)])
    message = reader.poll(60)
    reader.close()
    assert message is not None
    assert message.value() == b"value"


@pytest.mark.parametrize(
    ("listeners", "inter_broker", "said"),
    [
        (
            "CLIENTS://127.0.0.1:{taken},BROKERS://127.0.0.1:{free}",
            "BROKERS",
            "already registered by broker 0",
        ),
        ("OWN://127.0.0.1:{free}", "OWN", "broker 0 has only CLIENTS, BROKERS"),
    ],
)
def test_what_does_not_go_with_the_neighbours_stops_the_start(
    two_listeners: Cluster, tmp_path: Path, listeners: str, inter_broker: str, said: str
) -> None:
    port = free_port()
    advertised = listeners.format(taken=two_listeners.brokers[0].port, free=port)
    settings: dict[str, object] = {
        "node.id": 77,
        "zookeeper.connect": two_listeners.zookeeper_connect,
        "listener.security.protocol.map": "CLIENTS:PLAINTEXT,BROKERS:PLAINTEXT,OWN:PLAINTEXT",
        "inter.broker.listener.name": inter_broker,
        "listeners": listeners.format(taken=free_port(), free=port),
        "advertised.listeners": advertised,
    }
    with (
        pytest.raises(BrokerFailedError, match=said),
        Broker(settings, directory=tmp_path, port=port),
    ):
        pass
