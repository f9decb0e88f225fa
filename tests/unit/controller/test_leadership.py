"""Elections that somebody asks for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.controller.images import images, rules
from tests.unit.controller.support import Cluster, broker, image_of

from barnabas.controller.elections import ElectionRules
from barnabas.controller.leadership import ElectionResult, ElectionType, balance, elect_leaders
from barnabas.controller.topics import Assignment, NewTopic
from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.model.image import (
    NO_LEADER,
    ClusterImage,
    PartitionChanged,
    PartitionImage,
    TopicCreated,
    TopicImage,
)

FIRST = TopicPartition("t", 0)


def always(_topic: str) -> ElectionRules:
    return ElectionRules(2, unclean=False)


def cluster_led_by(leader: int, isr: tuple[int, ...] = (1, 2, 3)) -> Cluster:
    cluster = Cluster(2, 3)
    cluster.create(NewTopic("t", assignments=(Assignment(0, (1, 2, 3)),)))
    known = cluster.image.topics["t"].partitions[0]
    last_known = () if isr else (3,)
    changed = replace(known, leader=leader, isr=isr, last_known_elr=last_known)
    cluster.image = cluster.image.apply([PartitionChanged("t", changed)])
    return cluster


def elect(cluster: Cluster, kind: ElectionType, *places: TopicPartition) -> list[ErrorCode]:
    results = cluster.carry_out(elect_leaders(cluster.image, kind, places, always))
    return [result.error for result in results]


def test_leadership_returns_to_the_first_replica() -> None:
    cluster = cluster_led_by(2)
    assert elect(cluster, ElectionType.PREFERRED, FIRST) == [ErrorCode.NONE]
    after = cluster.image.topics["t"].partitions[0]
    assert (after.leader, after.isr, after.leader_epoch) == (1, (1, 2, 3), 1)
    assert elect(cluster, ElectionType.PREFERRED, FIRST) == [ErrorCode.ELECTION_NOT_NEEDED]
    assert cluster.is_consistent()


@pytest.mark.parametrize("isr", [(2, 3), (2,)])
def test_a_first_replica_that_is_not_in_sync_leads_nothing(isr: tuple[int, ...]) -> None:
    cluster = cluster_led_by(2, isr)
    assert elect(cluster, ElectionType.PREFERRED, FIRST) == [ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE]
    assert cluster.image.topics["t"].partitions[0].leader == 2


def test_an_unclean_election_is_for_partitions_without_leader() -> None:
    assert elect(cluster_led_by(2), ElectionType.UNCLEAN, FIRST) == [ErrorCode.ELECTION_NOT_NEEDED]
    cluster = cluster_led_by(NO_LEADER, ())
    assert elect(cluster, ElectionType.UNCLEAN, FIRST) == [ErrorCode.NONE]
    after = cluster.image.topics["t"].partitions[0]
    assert (after.leader, after.isr, after.last_known_elr) == (3, (3,), ())


def test_nobody_can_be_elected_where_nobody_is() -> None:
    cluster = Cluster()
    away = PartitionImage(0, (8, 9), (), NO_LEADER, 3, 3, elr=(8,), last_known_elr=(8,))
    cluster.image = cluster.image.apply([TopicCreated(TopicImage("t", bytes(range(16)), (away,)))])
    assert elect(cluster, ElectionType.UNCLEAN, FIRST) == [ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE]


def test_what_does_not_exist_is_said_by_name() -> None:
    cluster = cluster_led_by(2)
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    places = [TopicPartition("nope", 0), TopicPartition("t", 5)]
    decision = elect_leaders(cluster.image, ElectionType.PREFERRED, places, always)
    assert decision.results == (
        ElectionResult(places[0], unknown, "No such topic as nope"),
        ElectionResult(places[1], unknown, "No such partition as t-5"),
    )


def test_a_partition_named_twice_is_elected_once() -> None:
    cluster = cluster_led_by(2)
    errors = elect(cluster, ElectionType.PREFERRED, FIRST, FIRST)
    assert errors == [ErrorCode.NONE, ErrorCode.ELECTION_NOT_NEEDED]
    assert cluster.image.topics["t"].partitions[0].leader_epoch == 1


def test_of_all_partitions_those_that_need_nothing_are_not_told() -> None:
    cluster = cluster_led_by(2)
    cluster.create(NewTopic("well", 2, 3))
    decision = elect_leaders(cluster.image, ElectionType.PREFERRED, None, always)
    assert decision.results == (ElectionResult(FIRST),)


# --- by itself ---


def image_with(partitions: list[PartitionImage]) -> ClusterImage:
    topic = TopicImage("t", bytes(range(16)), tuple(partitions))
    return image_of(broker(1), broker(2), broker(3, fenced=True)).apply([TopicCreated(topic)])


def partitions_led_by(*leaders: int) -> list[PartitionImage]:
    return [PartitionImage(index, (1, 2), (1, 2), leader) for index, leader in enumerate(leaders)]


def test_leaderships_return_when_a_broker_lacks_too_many() -> None:
    image = image_with(partitions_led_by(1, 1, 1, 1, 1, 1, 1, 1, 1, 2))
    assert balance(image, 10).results == ()
    assert balance(image, 9).results == (TopicPartition("t", 9),)
    after = image.apply(balance(image, 9).deltas)
    assert {partition.leader for partition in after.topics["t"].partitions} == {1}


def test_only_what_can_move_moves() -> None:
    image = image_with(
        [
            PartitionImage(0, (1, 2), (2,), 2),  # not in sync
            PartitionImage(1, (3, 2), (2, 3), 2),  # fenced
            PartitionImage(2, (1, 2), (), NO_LEADER, elr=(1,)),  # nobody leads
            PartitionImage(3, (1, 2), (1, 2), 2, adding=(1,)),  # on the move
            PartitionImage(4, (1, 2), (1, 2), 2),
        ]
    )
    assert balance(image, 0).results == (TopicPartition("t", 4),)


@given(images(), st.integers(0, 100))
def test_what_is_balanced_is_led_from_within_the_in_sync_replicas(
    image: ClusterImage, percentage_max: int
) -> None:
    after = image.apply(balance(image, percentage_max).deltas)
    for old, new in zip(image.topics["t"].partitions, after.topics["t"].partitions, strict=True):
        assert new == old or (new.leader == new.replicas[0] and image.may_lead(new.leader))
        assert (new.isr, new.elr) == (old.isr, old.elr)


@given(images(), rules, st.sampled_from(ElectionType))
def test_every_partition_that_was_asked_for_is_answered(
    image: ClusterImage, topic_rules: ElectionRules, kind: ElectionType
) -> None:
    places = [TopicPartition("t", index) for index in range(6)]
    decision = elect_leaders(image, kind, places, lambda _topic: topic_rules)
    assert [result.partition for result in decision.results] == places
    after = image.apply(decision.deltas)
    for old, new in zip(image.topics["t"].partitions, after.topics["t"].partitions, strict=True):
        assert (new.leader_epoch > old.leader_epoch) == (new.leader != old.leader)
        assert new == old or new.leader in new.isr
