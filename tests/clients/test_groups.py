"""Members of a group share a topic's partitions: joining, leaving, dying, and going on meanwhile."""

from __future__ import annotations

import time

from tests.support.members.face import CONSUMER, GroupAdmin, Member, Place
from tests.support.members.filling import fill, numbers, places
from tests.support.members.kinds import (
    CLASSIC_KINDS,
    COOPERATIVE_KINDS,
    EVERY_KIND,
    Kind,
    each,
)
from tests.support.members.making import Clients
from tests.support.ready import create_ready_topic
from tests.support.waiting import eventually

from barnabas.testing import BrokerProcess

SESSION_TIMEOUT_MS = 2_000
LONG_SESSION_MS = 60_000
PATIENCE_S = 40  # less than that session


def spread_of(members: list[Member]) -> list[int]:
    return sorted(len(member.assignment()) for member in members)


def is_settled(admin: GroupAdmin, group: str, size: int) -> bool:
    """Every member is in, and nothing moves any more."""
    described = admin.describe(group)
    return described.state == "stable" and len(described.members) == size


@each(EVERY_KIND)
def test_a_group_reads_commits_and_resumes(
    clients: Clients, coordinator: BrokerProcess, kind: Kind, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic, partitions=2)
    fill(coordinator, topic, partitions=2, count=20)
    first = clients.join(kind, group, topic)
    eventually(lambda: numbers(first) == list(range(20)))
    first.commit()
    first.close()
    fill(coordinator, topic, partitions=2, count=4, start=20)
    second = clients.join(kind, group, topic)
    eventually(lambda: len(second.received()) >= 4)
    assert numbers(second) == list(range(20, 24))


@each(EVERY_KIND)
def test_eight_members_on_six_partitions_leave_two_idle(
    clients: Clients, coordinator: BrokerProcess, kind: Kind, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic, partitions=6)
    members = [clients.join(kind, group, topic, session_timeout_ms=10_000) for _ in range(8)]
    admin = clients.admin("confluent-kafka")
    eventually(
        lambda: spread_of(members) == [0, 0, 1, 1, 1, 1, 1, 1] and is_settled(admin, group, 8), patience_s=60
    )
    assert frozenset().union(*(member.assignment() for member in members)) == places(topic, 6)
    fill(coordinator, topic, partitions=6, count=12)
    eventually(lambda: sum(len(member.received()) for member in members) >= 12)
    assert sorted(number for member in members for number in numbers(member)) == list(range(12))
    assert sum(not member.received() for member in members) == 2


@each(EVERY_KIND)
def test_a_polite_leaver_loses_its_partitions_at_once(
    clients: Clients, coordinator: BrokerProcess, kind: Kind, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic, partitions=2)
    if kind.protocol == CONSUMER:
        clients.set_group_session_timeout(group, LONG_SESSION_MS)
    members = [clients.join(kind, group, topic, session_timeout_ms=LONG_SESSION_MS) for _ in range(2)]
    eventually(lambda: [len(member.assignment()) for member in members] == [1, 1])
    members[0].close()
    eventually(lambda: members[1].assignment() == places(topic, 2), PATIENCE_S)


@each(EVERY_KIND)
def test_a_killed_member_loses_its_partitions_after_its_session(
    clients: Clients, coordinator: BrokerProcess, kind: Kind, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic, partitions=2)
    if kind.protocol == CONSUMER:
        clients.set_group_session_timeout(group, SESSION_TIMEOUT_MS)
    mortal = clients.join_mortal(kind, group, topic, session_timeout_ms=SESSION_TIMEOUT_MS)
    eventually(lambda: mortal.assignment() == places(topic, 2))
    survivor = clients.join(kind, group, topic, session_timeout_ms=SESSION_TIMEOUT_MS)
    eventually(lambda: len(survivor.assignment()) == len(mortal.assignment()) == 1)
    killed_at = time.monotonic()
    mortal.vanish()
    eventually(lambda: survivor.assignment() == places(topic, 2))
    # Its last heartbeat was a moment before its death.
    assert time.monotonic() - killed_at > SESSION_TIMEOUT_MS / 1_000 / 2


@each(COOPERATIVE_KINDS)
def test_untouched_partitions_are_read_on_while_another_member_joins(
    clients: Clients, coordinator: BrokerProcess, kind: Kind, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic, partitions=4)
    first = clients.join(kind, group, topic)
    eventually(lambda: first.assignment() == places(topic, 4))
    second = clients.join(kind, group, topic)
    seen: set[frozenset[Place]] = set()
    written = 0
    while len(second.assignment()) < 2 or len(first.assignment()) > 2:
        written = fill(coordinator, topic, partitions=4, count=4, start=written)
        seen.add(first.assignment())
    kept = first.assignment()
    assert len(kept) == 2
    assert all(kept <= assignment for assignment in seen), "it gave up what it was to keep"
    eventually(lambda: len({*numbers(first), *numbers(second)}) == written)
    for place in kept:
        offsets = [one.offset for one in first.received() if (one.topic, one.partition) == place]
        assert offsets == list(range(len(offsets))), "read on without a break"


@each(EVERY_KIND)
def test_a_pattern_subscribes_to_the_topics_it_matches(
    clients: Clients, coordinator: BrokerProcess, kind: Kind, topic: str, group: str
) -> None:
    for name in ("north", "south", "elsewhere"):
        create_ready_topic(coordinator, f"{topic}-{name}")
    member = clients.join(kind, group, pattern=f"^{topic}-(nor|sou)th$")
    eventually(lambda: member.assignment() == {(f"{topic}-north", 0), (f"{topic}-south", 0)})


@each(CLASSIC_KINDS)
def test_a_pattern_finds_a_topic_that_is_made_later(
    clients: Clients, coordinator: BrokerProcess, kind: Kind, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, f"{topic}-one")
    member = clients.join(
        kind, group, pattern=f"^{topic}-.*", metadata_max_age_ms=500, session_timeout_ms=10_000
    )
    eventually(lambda: member.assignment() == {(f"{topic}-one", 0)})
    create_ready_topic(coordinator, f"{topic}-two")
    eventually(lambda: member.assignment() == {(f"{topic}-one", 0), (f"{topic}-two", 0)})


@each(EVERY_KIND)
def test_partitions_added_to_a_topic_reach_its_members(
    clients: Clients, coordinator: BrokerProcess, kind: Kind, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic)
    member = clients.join(kind, group, topic, metadata_max_age_ms=500, session_timeout_ms=10_000)
    eventually(lambda: member.assignment() == places(topic, 1))
    clients.create_partitions(topic, 3)
    eventually(lambda: member.assignment() == places(topic, 3))
