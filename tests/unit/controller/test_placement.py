"""Placement: every promise for every cluster."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.chance import SeededRandom
from tests.unit.controller.support import broker

from barnabas.controller.placement import place
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.image import BrokerImage

FENCED = "All brokers are currently fenced, or have all their log directories cordoned."


@st.composite
def clusters(draw: st.DrawFn) -> list[BrokerImage]:
    ids = draw(st.lists(st.integers(0, 1000), min_size=1, max_size=12, unique=True))
    brokers = [
        broker(one, rack=draw(st.sampled_from([None, "a", "b", "c"])), fenced=draw(st.booleans()))
        for one in ids
    ]
    return [*brokers, broker(1001)]


@st.composite
def even_clusters(draw: st.DrawFn) -> tuple[list[BrokerImage], int]:
    """Racks of equal size, nobody fenced; and a replication factor that fits."""
    racks, size = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    brokers = [broker(rack * 10 + n, rack=f"rack-{rack}") for rack in range(racks) for n in range(size)]
    return brokers, draw(st.integers(1, len(brokers)))


@given(clusters(), st.integers(0, 50), st.integers(0, 2**32), st.data())
def test_no_broker_twice_and_an_active_one_leads(
    brokers: list[BrokerImage], partitions: int, seed: int, data: st.DataObject
) -> None:
    replication_factor = data.draw(st.integers(1, len(brokers)))
    placed = place(brokers, partitions, replication_factor, SeededRandom(seed))
    known = {one.id: one for one in brokers}
    assert len(placed) == partitions
    for replicas in placed:
        assert len(set(replicas)) == len(replicas) == replication_factor
        assert set(replicas) <= set(known)
        assert not known[replicas[0]].fenced


@given(clusters(), st.integers(1, 30), st.integers(0, 2**32), st.data())
def test_racks_are_spread_as_far_as_they_reach(
    brokers: list[BrokerImage], partitions: int, seed: int, data: st.DataObject
) -> None:
    replication_factor = data.draw(st.integers(1, len(brokers)))
    rack_of = {one.id: one.rack for one in brokers}
    sizes = Counter(rack_of.values())
    for replicas in place(brokers, partitions, replication_factor, SeededRandom(seed)):
        used = Counter(rack_of[one] for one in replicas)
        fullest = max(used.values())
        # A rack has fewer than the fullest but one only if it has nobody left to give.
        assert all(used[rack] >= fullest - 1 or used[rack] == size for rack, size in sizes.items())


@given(even_clusters(), st.integers(1, 10), st.integers(0, 2**32))
def test_leaders_and_replicas_are_balanced(
    cluster: tuple[list[BrokerImage], int], rounds: int, seed: int
) -> None:
    brokers, replication_factor = cluster
    partitions = rounds * len(brokers)
    placed = place(brokers, partitions, replication_factor, SeededRandom(seed))
    leaders = Counter(replicas[0] for replicas in placed)
    assert set(leaders.values()) == {rounds}
    load = Counter(one for replicas in placed for one in replicas)
    fair = partitions * replication_factor / len(brokers)
    # However many rounds: what one round leaves uneven, the next evens out.
    assert all(abs(load[one.id] - fair) <= 3 for one in brokers)


@given(clusters(), st.integers(0, 2**32))
def test_fenced_brokers_wait_until_their_rack_has_nobody_else(brokers: list[BrokerImage], seed: int) -> None:
    known = {one.id: one for one in brokers}
    for replicas in place(brokers, 10, (len(brokers) + 1) // 2, SeededRandom(seed)):
        for fenced in (known[one] for one in replicas if known[one].fenced):
            active = {one.id for one in brokers if one.rack == fenced.rack and not one.fenced}
            assert active <= set(replicas)


def test_a_leaders_followers_differ_so_that_its_load_spreads_when_it_fails() -> None:
    placed = place([broker(one) for one in range(5)], 100, 2, SeededRandom())
    followers = {follower for leader, follower in placed if leader == 0}
    assert len(followers) > 2


@pytest.mark.parametrize(
    ("brokers", "replication_factor", "message"),
    [
        ([broker(1)], 0, "Invalid replication factor 0: the replication factor must be positive."),
        ([broker(1, fenced=True)], 1, FENCED),
        ([], 1, FENCED),
        (
            [broker(1)],
            2,
            "The target replication factor of 2 cannot be reached because only 1 broker(s) are registered "
            "or some brokers have all their log directories cordoned.",
        ),
    ],
)
def test_what_cannot_be_placed_is_refused(
    brokers: list[BrokerImage], replication_factor: int, message: str
) -> None:
    with pytest.raises(ApiError) as refused:
        place(brokers, 1, replication_factor, SeededRandom())
    assert (refused.value.code, refused.value.message) == (ErrorCode.INVALID_REPLICATION_FACTOR, message)
