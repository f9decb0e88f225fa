"""What a group has committed: offsets, metadata, leader epochs, and where reading goes on."""

from __future__ import annotations

import time

import pytest
from tests.support.client import Outgoing, RefusedError
from tests.support.confluent_client import ConfluentClient
from tests.support.members.face import Committed
from tests.support.members.filling import fill, numbers, places
from tests.support.members.kinds import AIOKAFKA, EVERY_KIND, Kind, each
from tests.support.members.making import Clients
from tests.support.ready import create_ready_topic
from tests.support.waiting import eventually

from barnabas.testing import BrokerProcess

OFFSET_METADATA_TOO_LARGE = 12


@each(EVERY_KIND)
def test_offsets_are_committed_with_their_metadata_and_leader_epoch(
    clients: Clients, coordinator: BrokerProcess, kind: Kind, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic, partitions=2)
    fill(coordinator, topic, partitions=2, count=10)
    member = clients.join(kind, group, topic)
    eventually(lambda: member.assignment() == places(topic, 2))
    assert member.committed((topic, 0)) is None
    # aiokafka has no word for a leader epoch.
    epoch = None if kind.library == AIOKAFKA else 0
    member.commit({(topic, 0): Committed(3, "half past three", epoch)})
    assert member.committed((topic, 0)) == Committed(3, "half past three", epoch)
    assert member.committed((topic, 1)) is None
    member.commit({(topic, 0): Committed(2), (topic, 1): Committed(5, "the end")})
    assert member.committed((topic, 0)) == Committed(2)
    assert member.committed((topic, 1)) == Committed(5, "the end")


@each(EVERY_KIND)
def test_metadata_above_the_limit_is_refused(
    clients: Clients, coordinator: BrokerProcess, kind: Kind, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic)
    member = clients.join(kind, group, topic)
    eventually(lambda: member.assignment() == places(topic, 1))
    longest = "m" * 4_095  # librdkafka counts a final NUL
    member.commit({(topic, 0): Committed(0, longest)})
    with pytest.raises(RefusedError) as refused:
        member.commit({(topic, 0): Committed(1, "m" * 4_097)})
    assert refused.value.code == OFFSET_METADATA_TOO_LARGE
    assert member.committed((topic, 0)) == Committed(0, longest)


@each(EVERY_KIND)
def test_a_member_seeks_to_a_time_and_reads_from_there(
    clients: Clients, coordinator: BrokerProcess, kind: Kind, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic)
    now_ms = int(time.time() * 1_000)
    records = [Outgoing(b"%d" % number, timestamp_ms=now_ms + number) for number in range(10)]
    ConfluentClient(coordinator.bootstrap).produce(topic, records)
    member = clients.join(kind, group, topic)
    eventually(lambda: numbers(member) == list(range(10)))
    found = member.offset_for_time((topic, 0), now_ms + 7)
    assert found == 7
    member.seek((topic, 0), found)
    eventually(lambda: len(member.received()) >= 13)
    assert [one.offset for one in member.received()] == [*range(10), 7, 8, 9]
    member.commit()
    committed = member.committed((topic, 0))
    assert committed is not None
    assert committed.offset == 10


@each(EVERY_KIND)
def test_groups_do_not_see_each_other(
    clients: Clients, coordinator: BrokerProcess, kind: Kind, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic)
    fill(coordinator, topic, partitions=1, count=5)
    one, other = (clients.join(kind, f"{group}-{name}", topic) for name in ("one", "other"))
    eventually(lambda: numbers(one) == numbers(other) == list(range(5)))
    one.commit()
    assert other.committed((topic, 0)) is None
