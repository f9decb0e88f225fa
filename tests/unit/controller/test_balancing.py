"""Moves that even a cluster out: what they never do, for every cluster, and what they do for some."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from barnabas.controller.balancing import Load, Placed, Situation, balance
from barnabas.model.ids import TopicPartition


@st.composite
def situations(draw: st.DrawFn) -> Situation:
    brokers = draw(st.lists(st.integers(0, 99), min_size=1, max_size=6, unique=True))
    rack_names: list[str | None] = draw(
        st.sampled_from([[None], ["a", "b"], ["a", "b", "c"], ["a", "b", None]])
    )
    racks = {broker: draw(st.sampled_from(rack_names)) for broker in brokers}
    partitions = {}
    for index in range(draw(st.integers(0, 15))):
        replicas = draw(st.lists(st.sampled_from(brokers), min_size=1, max_size=4, unique=True))
        place = TopicPartition("t", index)
        size, rate = draw(st.integers(0, 10**9)), draw(st.floats(0, 1e6))
        partitions[place] = Placed(place, tuple(replicas), size, rate)
    return Situation(racks, partitions)


@settings(max_examples=40)
@given(situations())
def test_no_partition_loses_or_doubles_a_replica(situation: Situation) -> None:
    after = balance(situation).after
    assert after.partitions.keys() == situation.partitions.keys()
    for place, partition in after.partitions.items():
        before = situation.partitions[place]
        assert len(set(partition.replicas)) == len(partition.replicas) == len(before.replicas)
        assert set(partition.replicas) <= set(situation.racks)
        assert replace(partition, replicas=()) == replace(before, replicas=())


@settings(max_examples=40)
@given(situations())
def test_no_partition_ends_in_fewer_racks(situation: Situation) -> None:
    after = balance(situation).after
    for place, partition in after.partitions.items():
        assert situation.rack_deficit(partition) <= situation.rack_deficit(situation.partitions[place])


@settings(max_examples=40)
@given(situations())
def test_every_further_step_makes_it_more_even(situation: Situation) -> None:
    unevenness = situation.unevenness()
    for steps in range(1, 6):
        after = balance(situation, steps).after
        if after == balance(situation, steps - 1).after:
            break
        assert after.unevenness() < unevenness
        unevenness = after.unevenness()


@settings(max_examples=40)
@given(situations())
def test_what_is_balanced_stays_as_it_is(situation: Situation) -> None:
    after = balance(situation).after
    assert balance(after).changed == {}


@settings(max_examples=40)
@given(situations())
def test_totals_do_not_change(situation: Situation) -> None:
    before, after = situation.loads(), balance(situation).after.loads()
    for load in Load:
        assert abs(sum(before[load].values()) - sum(after[load].values())) <= 1e-6 * (
            1 + sum(before[load].values())
        )


def placed(index: int, *replicas: int, size: int = 0, rate: float = 0.0) -> Placed:
    return Placed(TopicPartition("t", index), replicas, size, rate)


def situation_of(racks: dict[int, str | None], *partitions: Placed) -> Situation:
    return Situation(racks, {partition.place: partition for partition in partitions})


def test_a_new_broker_gets_its_share() -> None:
    racks: dict[int, str | None] = dict.fromkeys(range(4))
    held = [placed(index, index % 3, (index + 1) % 3, size=1000) for index in range(24)]
    done = balance(situation_of(racks, *held))
    loads = done.after.loads()
    assert loads[Load.REPLICAS] == {0: 12, 1: 12, 2: 12, 3: 12}
    assert loads[Load.LEADERS] == {0: 6, 1: 6, 2: 6, 3: 6}
    assert 12_000 <= done.bytes_to_move <= 14_000  # what it lacked, and hardly more


def test_leaders_are_evened_out_without_moving_a_byte() -> None:
    held = [placed(index, 0, 1, 2, size=10**9) for index in range(9)]
    done = balance(situation_of(dict.fromkeys(range(3)), *held))
    assert done.after.loads()[Load.LEADERS] == {0: 3, 1: 3, 2: 3}
    assert (done.bytes_to_move, len(done.changed)) == (0, 6)


def test_large_partitions_are_spread_although_counts_are_even() -> None:
    large = [placed(index, 0, size=1000) for index in range(4)]
    small = [placed(index + 4, 1, size=1) for index in range(4)]
    loads = balance(situation_of({0: None, 1: None}, *large, *small)).after.loads()
    assert abs(loads[Load.DISK][0] - loads[Load.DISK][1]) <= 2


def test_busy_partitions_are_spread_although_they_are_small() -> None:
    busy = [placed(index, 0, rate=1000.0) for index in range(4)]
    idle = [placed(index + 4, 1) for index in range(4)]
    loads = balance(situation_of({0: None, 1: None}, *busy, *idle)).after.loads()
    assert loads[Load.TRAFFIC] == {0: 2000.0, 1: 2000.0}


def test_replicas_that_share_a_rack_are_set_apart() -> None:
    racks: dict[int, str | None] = {0: "a", 1: "a", 2: "b", 3: "b"}
    done = balance(situation_of(racks, placed(0, 0, 1), placed(1, 2, 3)))
    assert all(done.after.rack_deficit(partition) == 0 for partition in done.after.partitions.values())
    assert len(done.changed) == 2


def test_no_more_steps_are_taken_than_allowed() -> None:
    held = [placed(index, 0, size=10) for index in range(20)]
    assert len(balance(situation_of({0: None, 1: None}, *held), 3).changed) == 3


def test_an_empty_cluster_needs_nothing() -> None:
    assert balance(Situation({}, {})).changed == {}
    assert balance(Situation({1: None}, {})).changed == {}
