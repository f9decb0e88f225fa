"""Kill -9 of the broker: what a coordinator has acknowledged is there, and its clients go on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from tests.clients.conftest import QUICK
from tests.support.members.face import CONSUMER, Committed
from tests.support.members.filling import fill, numbers, places
from tests.support.members.kinds import CONFLUENT, EVERY_KIND, JAVA, Kind, each, each_library
from tests.support.members.making import Clients
from tests.support.ready import create_ready_topic
from tests.support.targets import make_broker
from tests.support.waiting import eventually

from barnabas.testing import BrokerProcess

PATIENCE_S = 60.0
SESSION_MS = 30_000


@pytest.fixture(scope="module")
def mortal_broker() -> Iterator[BrokerProcess]:
    """Killed and started again by every test of this file: use names of your own."""
    with make_broker(dict(QUICK, **{"group.consumer.session.timeout.ms": SESSION_MS})) as running:
        yield running


@pytest.fixture
def mortal_clients(request: pytest.FixtureRequest, mortal_broker: BrokerProcess) -> Iterator[Clients]:
    with ExitStack() as stack:
        yield Clients(mortal_broker, lambda: request.getfixturevalue("java_driver"), stack)


def crash(broker: BrokerProcess) -> None:
    broker.kill()
    broker.start()


@each(kind for kind in EVERY_KIND if kind.library in {CONFLUENT, JAVA})  # the others leak sockets at a crash
def test_a_member_reads_on_and_keeps_its_offsets_when_the_broker_was_killed(
    mortal_clients: Clients, mortal_broker: BrokerProcess, kind: Kind, topic: str, group: str
) -> None:
    create_ready_topic(mortal_broker, topic, partitions=2)
    fill(mortal_broker, topic, partitions=2, count=10)
    member = mortal_clients.join(kind, group, topic, session_timeout_ms=SESSION_MS)
    eventually(lambda: numbers(member) == list(range(10)))
    member.commit({(topic, 0): Committed(3, "three")})
    crash(mortal_broker)
    fill(mortal_broker, topic, partitions=2, count=10, start=10)
    eventually(lambda: set(numbers(member)) >= set(range(20)), PATIENCE_S)
    assert member.committed((topic, 0)) == Committed(3, "three")
    assert member.assignment() == places(topic, 2)


@each_library((CONFLUENT, JAVA))
def test_a_transaction_goes_on_when_the_broker_was_killed_in_its_middle(
    mortal_clients: Clients, mortal_broker: BrokerProcess, library: str, topic: str, group: str
) -> None:
    create_ready_topic(mortal_broker, topic)
    producer = mortal_clients.transactional(library, group)
    producer.begin()
    producer.send(topic, [b"0", b"1"])
    producer.commit()
    crash(mortal_broker)
    producer.begin()
    producer.send(topic, [b"2"])
    crash(mortal_broker)
    producer.send(topic, [b"3"])
    producer.commit()
    crash(mortal_broker)
    reader = mortal_clients.join(Kind(library, CONSUMER), group, topic, isolation="read_committed")
    eventually(lambda: len(reader.received()) >= 4, PATIENCE_S)
    assert [one.value for one in reader.received()] == [b"0", b"1", b"2", b"3"]


@each_library((CONFLUENT, JAVA))
def test_what_was_open_at_a_crash_is_aborted_by_the_successor(
    mortal_clients: Clients, mortal_broker: BrokerProcess, library: str, topic: str, group: str
) -> None:
    create_ready_topic(mortal_broker, topic)
    dead = mortal_clients.transactional(library, group)
    dead.begin()
    dead.send(topic, [b"never"])
    crash(mortal_broker)
    successor = mortal_clients.transactional(library, group)
    successor.begin()
    successor.send(topic, [b"done"])
    successor.commit()
    reader = mortal_clients.join(Kind(library, CONSUMER), group, topic, isolation="read_committed")
    eventually(lambda: len(reader.received()) >= 1, PATIENCE_S)
    assert [one.value for one in reader.received()] == [b"done"]
