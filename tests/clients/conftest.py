"""Clients by name: a test says `@over(ALL)` and gets one run per library."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from bench.apache_kafka import UnavailableError, provision
from tests.support.aiokafka_client import AiokafkaClient
from tests.support.client import Client
from tests.support.confluent_client import ConfluentClient
from tests.support.java_client import JavaClient, JavaDriver
from tests.support.kafka_python_client import KafkaPythonClient
from tests.support.members.making import Clients
from tests.support.ready import create_ready_topic
from tests.support.targets import make_broker

from barnabas.testing import BrokerProcess

MakeClient = Callable[[str, str], Client]

# So that silence is noticed within a test's patience.
QUICK = {
    "group.initial.rebalance.delay.ms": 0,
    "group.min.session.timeout.ms": 500,
    "group.consumer.session.timeout.ms": 20_000,
    "group.consumer.min.session.timeout.ms": 500,
    "group.consumer.heartbeat.interval.ms": 100,
    "group.consumer.min.heartbeat.interval.ms": 100,
    "offsets.topic.num.partitions": 4,
    "transaction.state.log.num.partitions": 4,
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": 200,
}


@pytest.fixture(scope="session")
def java_driver() -> Iterator[JavaDriver]:
    try:
        driver = JavaDriver()
    except UnavailableError as missing:
        pytest.skip(str(missing))
    yield driver
    driver.close()


@pytest.fixture
def make_client(request: pytest.FixtureRequest) -> MakeClient:
    """A client of the named library for a bootstrap address."""

    def make(name: str, bootstrap: str) -> Client:
        if name == "java":
            return JavaClient(bootstrap, request.getfixturevalue("java_driver"))
        kinds: dict[str, Callable[[str], Client]] = {
            "confluent-kafka": ConfluentClient,
            "kafka-python": KafkaPythonClient,
            "aiokafka": AiokafkaClient,
        }
        return kinds[name](bootstrap)

    return make


@pytest.fixture
def client(request: pytest.FixtureRequest, make_client: MakeClient, target: BrokerProcess) -> Client:
    """The library named by the test's parameter, connected to the shared broker."""
    return make_client(request.param, target.bootstrap)


@pytest.fixture
def consumer_names(request: pytest.FixtureRequest) -> list[str]:
    """Every library that can run here, to read what another one wrote."""
    names = ["confluent-kafka", "kafka-python", "aiokafka"]
    try:
        provision()
    except UnavailableError:
        return names
    return [*names, "java"] if shutil.which("javac") else names


@pytest.fixture
def existing_topic(target: BrokerProcess, topic: str) -> str:
    """A topic of two partitions whose leader answers, for tests that speak the protocol themselves."""
    create_ready_topic(target, topic, partitions=2)
    return topic


@pytest.fixture(scope="session")
def coordinator() -> Iterator[BrokerProcess]:
    """One broker for all tests of groups and transactions of this worker: use names of your own."""
    with make_broker(dict(QUICK)) as running:
        yield running


@pytest.fixture
def clients(request: pytest.FixtureRequest, coordinator: BrokerProcess) -> Iterator[Clients]:
    with ExitStack() as stack:
        yield Clients(coordinator, lambda: request.getfixturevalue("java_driver"), stack)


@pytest.fixture
def group(topic: str) -> str:
    """A group name that no other test uses."""
    return topic.replace("topic", "group")
