"""Topics for tests that speak the protocol themselves and so cannot retry as a library would."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from tests.support.client import LATEST
from tests.support.confluent_client import ConfluentClient
from tests.support.requests import list_offsets_request, partition_of
from tests.support.targets import ON_CLUSTER
from tests.support.waiting import eventually
from tests.support.wire import Connection

from barnabas.testing import BrokerProcess


def create_ready_topic(
    broker: BrokerProcess, topic: str, *, partitions: int = 1, configs: Mapping[str, str] | None = None
) -> None:
    """Create a topic and wait until every partition's leader answers: in Kafka that is a moment later."""
    client = ConfluentClient(broker.bootstrap)
    client.create_topic(topic, partitions, configs)
    if ON_CLUSTER:
        for partition in range(partitions):
            eventually(lambda partition=partition: client.find_offset(topic, partition, LATEST) == 0)  # type: ignore[misc]
        return
    with Connection(broker.port) as connection:
        for partition in range(partitions):
            eventually(partial(_answers, connection, topic, partition))


def _answers(connection: Connection, topic: str, partition: int) -> bool:
    answer = connection.ask(list_offsets_request(topic, -1, partition=partition))
    return bool(partition_of(answer).error_code == 0)
