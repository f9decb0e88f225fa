"""A group changes its protocol while it is used: classic members, then new ones beside them, and back."""

from __future__ import annotations

import pytest
from tests.support.members.face import CLASSIC, CONSUMER, Committed
from tests.support.members.filling import fill, numbers, places
from tests.support.members.kinds import CONFLUENT, JAVA, KAFKA_PYTHON, Kind
from tests.support.members.making import Clients
from tests.support.ready import create_ready_topic
from tests.support.waiting import eventually

from barnabas.testing import BrokerProcess

CLASSIC_THEN_NEW = [
    pytest.param(Kind(JAVA, CLASSIC), Kind(JAVA, CONSUMER), id="java", marks=pytest.mark.java),
    pytest.param(Kind(CONFLUENT, CLASSIC), Kind(CONFLUENT, CONSUMER), id="confluent-kafka"),
    pytest.param(Kind(KAFKA_PYTHON, CLASSIC), Kind(CONFLUENT, CONSUMER), id="kafka-python, confluent-kafka"),
]


@pytest.mark.java
@pytest.mark.parametrize(("old", "new"), CLASSIC_THEN_NEW)
def test_a_group_goes_to_the_new_protocol_and_back_without_losing_its_place(
    clients: Clients, coordinator: BrokerProcess, old: Kind, new: Kind, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic, partitions=2)
    admin = clients.java_admin()
    classic = clients.join(old, group, topic)
    eventually(lambda: classic.assignment() == places(topic, 2))
    fill(coordinator, topic, partitions=2, count=10)
    eventually(lambda: numbers(classic) == list(range(10)))
    classic.commit()
    assert admin.type_and_assignor(group)[0] == "Classic"

    modern = clients.join(new, group, topic)
    eventually(lambda: len(classic.assignment()) == len(modern.assignment()) == 1)
    assert admin.type_and_assignor(group)[0] == "Consumer"
    fill(coordinator, topic, partitions=2, count=10, start=10)
    eventually(lambda: sorted([*numbers(classic), *numbers(modern)]) == list(range(20)))
    classic.commit()
    modern.commit()
    classic.close()
    eventually(lambda: modern.assignment() == places(topic, 2))

    back = clients.join(old, group, topic)
    eventually(lambda: len(back.assignment()) == len(modern.assignment()) == 1)
    modern.close()
    eventually(lambda: back.assignment() == places(topic, 2))
    eventually(lambda: admin.type_and_assignor(group)[0] == "Classic")
    fill(coordinator, topic, partitions=2, count=4, start=20)
    eventually(lambda: len(back.received()) >= 4)
    assert numbers(back) == list(range(20, 24))


@pytest.mark.java
def test_an_empty_classic_group_becomes_a_new_one_and_keeps_its_offsets(
    clients: Clients, coordinator: BrokerProcess, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic)
    fill(coordinator, topic, partitions=1, count=10)
    old = clients.join(Kind(CONFLUENT, CLASSIC), group, topic)
    eventually(lambda: old.assignment() == places(topic, 1))
    old.commit({(topic, 0): Committed(7)})
    old.close()
    new = clients.join(Kind(CONFLUENT, CONSUMER), group, topic)
    eventually(lambda: [one.offset for one in new.received()] == [7, 8, 9])
    assert clients.java_admin().type_and_assignor(group) == ("Consumer", "uniform")
