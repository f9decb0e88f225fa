"""Members with a name of their own: they return to what they had, and nobody else may use the name."""

from __future__ import annotations

import pytest
from tests.support.client import RefusedError
from tests.support.members.face import CLASSIC, CONSUMER, Committed, Member
from tests.support.members.filling import places
from tests.support.members.kinds import AIOKAFKA, CLASSIC_KINDS, CONSUMER_KINDS, EVERY_KIND, Kind, each
from tests.support.members.making import Clients
from tests.support.ready import create_ready_topic
from tests.support.waiting import eventually

from barnabas.testing import BrokerProcess

FENCED_INSTANCE_ID, UNRELEASED_INSTANCE_ID = 82, 111
SESSION_MS = 30_000


def named(clients: Clients, kind: Kind, group: str, topic: str, name: str) -> Member:
    if kind.protocol == CONSUMER:
        clients.set_group_session_timeout(group, SESSION_MS)
    return clients.join(kind, group, topic, instance_id=name, session_timeout_ms=SESSION_MS)


def fencing_of(member: Member, topic: str) -> int | None:
    """Some libraries end polling with the error, some tell it with the next commit."""
    if (code := member.error()) is not None:
        return code
    with pytest.raises(RefusedError) as refused:
        member.commit({(topic, 0): Committed(0)})
    return refused.value.code


@each(EVERY_KIND)
def test_a_static_member_that_returns_in_time_moves_nothing(
    clients: Clients, coordinator: BrokerProcess, kind: Kind, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic, partitions=4)
    leaving, staying = (named(clients, kind, group, topic, name) for name in ("leaving", "staying"))
    eventually(lambda: len(leaving.assignment()) == len(staying.assignment()) == 2)
    before, kept = leaving.assignment(), staying.assignment()
    leaving.close()
    assert staying.assignment() == kept
    returned = named(clients, kind, group, topic, "leaving")
    eventually(lambda: returned.assignment() == before)
    assert staying.assignment() == kept
    described = clients.admin("confluent-kafka").describe(group).members
    assert {one.instance_id for one in described} == {"leaving", "staying"}


@each(kind for kind in CLASSIC_KINDS if kind.library != AIOKAFKA)  # aiokafka joins anew
def test_the_newest_of_two_with_one_name_stays_and_the_other_is_fenced(
    clients: Clients, coordinator: BrokerProcess, kind: Kind, topic: str, group: str
) -> None:
    assert kind.protocol == CLASSIC
    create_ready_topic(coordinator, topic)
    first = named(clients, kind, group, topic, "rock")
    eventually(lambda: first.assignment() == places(topic, 1))
    second = named(clients, kind, group, topic, "rock")
    eventually(lambda: second.assignment() == places(topic, 1))
    eventually(lambda: fencing_of(first, topic) == FENCED_INSTANCE_ID)


@each(CONSUMER_KINDS)
def test_a_name_in_use_is_refused_by_the_new_protocol(
    clients: Clients, coordinator: BrokerProcess, kind: Kind, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic)
    first = named(clients, kind, group, topic, "rock")
    eventually(lambda: first.assignment() == places(topic, 1))
    second = named(clients, kind, group, topic, "rock")
    eventually(lambda: second.error() is not None)
    assert second.error() == UNRELEASED_INSTANCE_ID
    assert first.assignment() == places(topic, 1)
