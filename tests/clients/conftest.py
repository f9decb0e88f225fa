"""Clients by name: a test says `@over(ALL)` and gets one run per library."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator

import pytest
from bench.apache_kafka import UnavailableError, provision
from tests.support.aiokafka_client import AiokafkaClient
from tests.support.client import Client
from tests.support.confluent_client import ConfluentClient
from tests.support.java_client import JavaClient, JavaDriver
from tests.support.kafka_python_client import KafkaPythonClient
from tests.support.ready import create_ready_topic

from barnabas.testing import BrokerProcess

MakeClient = Callable[[str, str], Client]


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
