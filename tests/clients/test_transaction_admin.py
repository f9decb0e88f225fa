"""What an administrator sees of transactions, and how one that hangs is ended."""

from __future__ import annotations

import pytest
from tests.support.client import RefusedError
from tests.support.members.face import CLASSIC
from tests.support.members.filling import fill, numbers
from tests.support.members.kinds import AIOKAFKA, CONFLUENT, JAVA, KAFKA_PYTHON, Kind, each_library
from tests.support.members.making import Clients
from tests.support.ready import create_ready_topic
from tests.support.transactional.face import FENCED
from tests.support.waiting import eventually

from barnabas.testing import BrokerProcess

LOOKING = (KAFKA_PYTHON, JAVA)
OLDER = (CONFLUENT, KAFKA_PYTHON, AIOKAFKA)


@each_library(LOOKING)
def test_a_transaction_is_listed_and_described_from_begin_to_end(
    clients: Clients, coordinator: BrokerProcess, library: str, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic, partitions=2)
    admin = clients.transaction_admin(library)
    producer = clients.transactional(library, group, timeout_ms=54_321)
    assert admin.transactions()[group] == "Empty"
    producer.begin()
    producer.send(topic, [b"x"], 1)
    described = admin.describe(group)
    assert (described.state, described.timeout_ms) == ("Ongoing", 54_321)
    assert described.places == {(topic, 1)}
    assert admin.transactions()[group] == "Ongoing"
    (active,) = admin.producers((topic, 1))
    assert (active.producer_id, active.epoch) == (described.producer_id, described.epoch)
    assert active.start_offset == 0
    assert admin.producers((topic, 0)) == []
    producer.commit()
    eventually(lambda: admin.describe(group).state == "CompleteCommit")
    assert admin.describe(group).places == frozenset()
    (active,) = admin.producers((topic, 1))
    assert active.start_offset == -1


@each_library(LOOKING)
def test_what_a_dead_producer_left_open_can_be_aborted(
    clients: Clients, coordinator: BrokerProcess, library: str, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic)
    dead = clients.transactional(library, group)
    dead.begin()
    dead.send(topic, [b"never decided"])
    fill(coordinator, topic, partitions=1, count=2)
    reader = clients.join(Kind(CONFLUENT, CLASSIC), group, topic, isolation="read_committed")
    admin = clients.transaction_admin(library)
    (open_one,) = [one for one in admin.producers((topic, 0)) if one.start_offset >= 0]
    assert open_one.start_offset == 0
    assert reader.received() == []
    admin.abort((topic, 0), open_one.producer_id, open_one.epoch, max(open_one.coordinator_epoch, 0))
    eventually(lambda: numbers(reader) == [0, 1])
    assert all(one.start_offset == -1 for one in admin.producers((topic, 0)))


@pytest.mark.java
def test_every_transaction_of_version_2_has_an_epoch_of_its_own(
    clients: Clients, coordinator: BrokerProcess, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic)
    admin = clients.transaction_admin(JAVA)
    producer = clients.transactional(JAVA, group)
    first = admin.describe(group)
    for _ in range(2):
        producer.begin()
        producer.send(topic, [b"x"])
        producer.commit()
    producer.begin()
    producer.send(topic, [b"x"])
    producer.abort()
    eventually(lambda: admin.describe(group).state == "CompleteAbort")
    last = admin.describe(group)
    assert (last.producer_id, last.epoch) == (first.producer_id, first.epoch + 3)


@each_library(OLDER)
def test_clients_of_version_1_keep_their_epoch(
    clients: Clients, coordinator: BrokerProcess, library: str, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic)
    admin = clients.transaction_admin(KAFKA_PYTHON)
    producer = clients.transactional(library, group)
    first = admin.describe(group)
    for _ in range(2):
        producer.begin()
        producer.send(topic, [b"x"])
        producer.commit()
    eventually(lambda: admin.describe(group).state == "CompleteCommit")
    last = admin.describe(group)
    assert (last.producer_id, last.epoch) == (first.producer_id, first.epoch)


@each_library(OLDER)
def test_taking_an_id_anew_bumps_its_epoch(
    clients: Clients, coordinator: BrokerProcess, library: str, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic)
    admin = clients.transaction_admin(KAFKA_PYTHON)
    clients.transactional(library, group)
    first = admin.describe(group)
    clients.transactional(library, group)
    second = admin.describe(group)
    assert (second.producer_id, second.epoch) == (first.producer_id, first.epoch + 1)


@pytest.mark.java
def test_an_administrator_fences_a_producer(
    clients: Clients, coordinator: BrokerProcess, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic)
    producer = clients.transactional(JAVA, group)
    producer.begin()
    producer.send(topic, [b"x"])
    clients.java_transaction_admin().fence(group)
    with pytest.raises(RefusedError) as refused:
        producer.commit()
    assert refused.value.code in FENCED
