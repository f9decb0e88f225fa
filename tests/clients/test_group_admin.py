"""What an administrator sees of groups, and may do to them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.support.client import RefusedError
from tests.support.members.face import CLASSIC, CONSUMER, Committed, Member
from tests.support.members.filling import fill, places
from tests.support.members.kinds import (
    AIOKAFKA,
    CONFLUENT,
    JAVA,
    KAFKA_PYTHON,
    Kind,
    each_library,
)
from tests.support.members.making import Clients
from tests.support.ready import create_ready_topic
from tests.support.waiting import eventually

from barnabas.testing import BrokerProcess

UNKNOWN_MEMBER_ID, NON_EMPTY_GROUP, GROUP_ID_NOT_FOUND, GROUP_SUBSCRIBED_TO_TOPIC = 25, 68, 69, 86
LOOKING = (CONFLUENT, KAFKA_PYTHON, AIOKAFKA, JAVA)
CHANGING = (CONFLUENT, KAFKA_PYTHON, JAVA)  # aiokafka only looks


@pytest.fixture(params=[CLASSIC, CONSUMER])
def member(
    request: pytest.FixtureRequest, clients: Clients, coordinator: BrokerProcess, topic: str, group: str
) -> Member:
    """The only member of a group that has committed offsets of both partitions."""
    create_ready_topic(coordinator, topic, partitions=2)
    fill(coordinator, topic, partitions=2, count=10)
    joined = clients.join(Kind(CONFLUENT, request.param), group, topic, client_id="the-client")
    eventually(lambda: joined.assignment() == places(topic, 2))
    joined.commit({(topic, 0): Committed(1, "one"), (topic, 1): Committed(2, "two")})
    return joined


def refusal(work: Callable[[], object]) -> int:
    with pytest.raises(RefusedError) as refused:
        work()
    return refused.value.code


@pytest.mark.parametrize("member", [CLASSIC], indirect=True)
@each_library(LOOKING)
def test_a_classic_group_is_listed_and_described(
    clients: Clients, member: Member, library: str, topic: str, group: str
) -> None:
    admin = clients.admin(library)
    assert group in admin.groups()
    eventually(lambda: admin.describe(group).state == "stable")
    (only,) = admin.describe(group).members
    assert only.client_id == "the-client"
    assert only.member_id.startswith("the-client-")
    if library != AIOKAFKA:  # it does not decode assignments
        assert only.places == places(topic, 2)
    member.close()
    eventually(lambda: admin.describe(group).state == "empty")
    assert admin.describe(group).members == ()
    assert group in admin.groups()


@pytest.mark.parametrize("member", [CONSUMER], indirect=True)
@each_library((CONFLUENT, JAVA))
def test_a_group_of_the_new_protocol_is_listed_and_described(
    clients: Clients, member: Member, library: str, topic: str, group: str
) -> None:
    admin = clients.admin(library)
    assert group in admin.groups()
    eventually(lambda: admin.describe(group).state == "stable")
    (only,) = admin.describe(group).members
    assert (only.client_id, only.places) == ("the-client", places(topic, 2))
    member.close()
    eventually(lambda: admin.describe(group).state == "empty")
    assert admin.describe(group).members == ()


@pytest.mark.java
@pytest.mark.parametrize("member", [CLASSIC, CONSUMER], indirect=True)
def test_groups_are_listed_by_state_and_type(
    request: pytest.FixtureRequest, clients: Clients, member: Member, group: str
) -> None:
    admin = clients.java_admin()
    kind, _ = admin.type_and_assignor(group)
    protocol = kind.lower()
    assert protocol == request.node.callspec.params["member"]
    other = CONSUMER if protocol == CLASSIC else CLASSIC
    eventually(lambda: admin.listing(states=["Stable"]).get(group) == (kind, "Stable"))
    assert group in admin.listing(types=[protocol], states=["Stable", "Empty"])
    assert group not in admin.listing(types=[other])
    assert group not in admin.listing(states=["Empty"])
    member.close()
    eventually(lambda: group in admin.listing(states=["Empty"], types=[protocol]))


@each_library(CHANGING)
def test_offsets_of_a_group_are_read_and_of_an_empty_group_altered(
    clients: Clients, member: Member, library: str, topic: str, group: str
) -> None:
    admin = clients.admin(library)
    found = admin.offsets(group)
    # librdkafka, which committed them, sends a final NUL along.
    assert {place: (row.offset, row.metadata.rstrip("\0")) for place, row in found.items()} == {
        (topic, 0): (1, "one"),
        (topic, 1): (2, "two"),
    }
    assert refusal(lambda: admin.alter_offsets(group, {(topic, 0): 4})) == UNKNOWN_MEMBER_ID
    member.close()
    eventually(lambda: _done(lambda: admin.alter_offsets(group, {(topic, 0): 4})))
    assert {place: row.offset for place, row in admin.offsets(group).items()} == {
        (topic, 0): 4,
        (topic, 1): 2,
    }


@each_library((KAFKA_PYTHON, JAVA))
def test_offsets_of_topics_nobody_subscribes_to_can_be_deleted(
    clients: Clients, member: Member, library: str, topic: str, group: str
) -> None:
    admin = clients.admin(library)
    assert refusal(lambda: admin.delete_offsets(group, [(topic, 0)])) == GROUP_SUBSCRIBED_TO_TOPIC
    member.close()
    eventually(lambda: _done(lambda: admin.delete_offsets(group, [(topic, 0)])))
    assert set(admin.offsets(group)) == {(topic, 1)}


@each_library(CHANGING)
def test_an_empty_group_can_be_deleted_with_its_offsets(
    clients: Clients, member: Member, library: str, topic: str, group: str
) -> None:
    admin = clients.admin(library)
    assert refusal(lambda: admin.delete_group(group)) == NON_EMPTY_GROUP
    member.close()
    eventually(lambda: _done(lambda: admin.delete_group(group)))
    assert group not in admin.groups()
    assert refusal(lambda: admin.delete_group(group)) == GROUP_ID_NOT_FOUND
    assert clients.admin(CONFLUENT).offsets(group) == {}


@each_library(CHANGING)
def test_altering_offsets_makes_a_group(
    clients: Clients, coordinator: BrokerProcess, library: str, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic)
    fill(coordinator, topic, partitions=1, count=10)
    admin = clients.admin(library)
    admin.alter_offsets(group, {(topic, 0): 6})
    assert group in admin.groups()
    member = clients.join(Kind(CONFLUENT, CLASSIC), group, topic)
    eventually(lambda: [one.offset for one in member.received()] == [6, 7, 8, 9])


@pytest.mark.java
def test_a_static_member_can_be_removed(
    clients: Clients, coordinator: BrokerProcess, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic)
    kind, admin = Kind(JAVA, CLASSIC), clients.java_admin()
    member = clients.join(kind, group, topic, instance_id="rock", session_timeout_ms=30_000)
    eventually(lambda: member.assignment() == places(topic, 1))
    member.close()
    assert [one.instance_id for one in admin.describe(group).members] == ["rock"]
    admin.remove_member(group, "rock")
    eventually(lambda: admin.describe(group).members == ())


def _done(work: Callable[[], object]) -> bool:
    """Leaving takes a moment; being refused until then is `eventually`'s business."""
    work()
    return True
