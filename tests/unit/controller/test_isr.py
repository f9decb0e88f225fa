"""Who joins and leaves the in-sync replicas when their leader proposes it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.controller.images import BROKERS, images, rules
from tests.unit.controller.support import Cluster

from barnabas.controller.decision import Decision
from barnabas.controller.elections import ElectionRules
from barnabas.controller.isr import IsrResult, Member, ProposedIsr, alter_isrs
from barnabas.controller.liveness import leave
from barnabas.controller.topics import Assignment, NewTopic
from barnabas.model.errors import ErrorCode
from barnabas.model.image import BrokerChanged, BrokerGone, ClusterImage, PartitionChanged, PartitionImage
from barnabas.ports import Check

TWO = ElectionRules(2, unclean=False)


@pytest.fixture
def cluster() -> Cluster:
    """One partition on three brokers, led by broker 1, all in sync."""
    cluster = Cluster(2, 3)
    cluster.create(NewTopic("t", assignments=(Assignment(0, (1, 2, 3)), Assignment(1, (2, 1, 3)))))
    return cluster


def only(image: ClusterImage) -> PartitionImage:
    return image.topics["t"].partitions[0]


def members(*ids: int) -> tuple[Member, ...]:
    return tuple(Member(one) for one in ids)


def proposal(image: ClusterImage, *isr: int) -> ProposedIsr:
    known = only(image)
    return ProposedIsr(image.topics["t"].id, 0, known.leader_epoch, known.partition_epoch, members(*isr))


def decide(cluster: Cluster, *proposals: ProposedIsr, leader: int = 1) -> Decision[IsrResult]:
    epoch = cluster.image.brokers[leader].epoch
    return alter_isrs(cluster.image, leader, epoch, proposals, lambda _topic: TWO)


def alter(cluster: Cluster, *isr: int) -> ErrorCode:
    (result,) = cluster.carry_out(decide(cluster, proposal(cluster.image, *isr)))
    return result.error


def test_a_leader_shrinks_and_grows_what_is_in_sync(cluster: Cluster) -> None:
    assert alter(cluster, 1, 2) == ErrorCode.NONE
    assert (only(cluster.image).isr, only(cluster.image).elr) == ((1, 2), ())
    assert alter(cluster, 1) == ErrorCode.NONE
    assert (only(cluster.image).isr, only(cluster.image).elr) == ((1,), (2,))
    assert alter(cluster, 1, 3) == ErrorCode.NONE
    assert (only(cluster.image).isr, only(cluster.image).elr) == ((1, 3), ())
    assert (only(cluster.image).leader_epoch, only(cluster.image).partition_epoch) == (0, 3)
    assert cluster.is_consistent()


def test_many_partitions_are_one_decision(cluster: Cluster) -> None:
    topic = cluster.image.topics["t"]
    cluster.image = cluster.image.apply([PartitionChanged("t", replace(topic.partitions[1], leader=1))])
    second = ProposedIsr(topic.id, 1, 0, 0, members(1))
    decision = decide(cluster, proposal(cluster.image, 1, 2), second)
    assert [result.error for result in decision.results] == [ErrorCode.NONE, ErrorCode.NONE]
    assert [type(operation) for operation in decision.operations].count(Check) == 1
    assert len(decision.operations) == 3


def test_what_is_proposed_and_true_already_is_not_written(cluster: Cluster) -> None:
    decision = decide(cluster, proposal(cluster.image, 1, 2, 3))
    assert (decision.operations, decision.results[0].partition) == ((), only(cluster.image))


def test_of_two_proposals_for_one_partition_the_second_is_late(cluster: Cluster) -> None:
    decision = decide(cluster, proposal(cluster.image, 1, 2), proposal(cluster.image, 1))
    errors = [result.error for result in decision.results]
    assert errors == [ErrorCode.NONE, ErrorCode.INVALID_UPDATE_VERSION]


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"topic_id": bytes(16)}, ErrorCode.UNKNOWN_TOPIC_ID),
        ({"index": 7}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ({"index": -1}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ({"leader_epoch": 1}, ErrorCode.NOT_CONTROLLER),
        ({"partition_epoch": 1}, ErrorCode.NOT_CONTROLLER),
        ({"leader_epoch": -1}, ErrorCode.FENCED_LEADER_EPOCH),
        ({"partition_epoch": -1}, ErrorCode.INVALID_UPDATE_VERSION),
        ({"index": 1}, ErrorCode.INVALID_REQUEST),  # led by another
        ({"members": members(2, 3)}, ErrorCode.INVALID_REQUEST),
        ({"members": ()}, ErrorCode.INVALID_REQUEST),
        ({"members": members(1, 4)}, ErrorCode.INVALID_REQUEST),
        ({"members": members(1, 2, 2)}, ErrorCode.INVALID_REQUEST),
        ({"is_recovering": True}, ErrorCode.INVALID_REQUEST),
    ],
)
def test_a_proposal_that_cannot_be_is_refused_as_kafka_refuses_it(
    cluster: Cluster, change: dict[str, object], error: ErrorCode
) -> None:
    decision = decide(cluster, replace(proposal(cluster.image, 1, 2), **change))  # type: ignore[arg-type]
    assert decision.results[0].error == error
    assert decision.operations == ()


def test_an_earlier_life_of_a_broker_changes_nothing(cluster: Cluster) -> None:
    wrong_epoch = cluster.image.brokers[1].epoch - 1
    for broker_id, epoch in ((1, wrong_epoch), (9, 1)):
        decision = alter_isrs(
            cluster.image, broker_id, epoch, [proposal(cluster.image, 1)], lambda _topic: TWO
        )
        assert decision.results[0].error == ErrorCode.STALE_BROKER_EPOCH
        assert decision.operations == ()


def test_who_is_away_fenced_or_leaving_does_not_join(cluster: Cluster) -> None:
    alter(cluster, 1)
    second = cluster.image.brokers[2]
    for delta in (
        BrokerGone(2),
        BrokerChanged(replace(second, fenced=True)),
        BrokerChanged(replace(second, leaving=True)),
    ):
        cluster.image = cluster.image.apply([delta])
        assert alter(cluster, 1, 2) == ErrorCode.INELIGIBLE_REPLICA
        cluster.image = cluster.image.apply([BrokerChanged(second)])
        assert only(cluster.image).isr == (1,)


def test_who_came_back_is_not_taken_for_who_went(cluster: Cluster) -> None:
    """KIP-903."""
    alter(cluster, 1)
    stale = (Member(1), Member(2, cluster.image.brokers[2].epoch - 1))
    decision = decide(cluster, replace(proposal(cluster.image, 1, 2), members=stale))
    assert decision.results[0].error == ErrorCode.INELIGIBLE_REPLICA
    cluster.carry_out(decision)
    assert only(cluster.image).isr == (1,)


def test_a_proposal_that_was_refused_is_not_carried_out_when_it_arrives_once_more(cluster: Cluster) -> None:
    """Its leader has gone on without whom it had proposed."""
    alter(cluster, 1)
    here, late = cluster.image, proposal(cluster.image, 1, 2)
    cluster.image = here.apply([BrokerChanged(replace(here.brokers[2], leaving=True))])
    cluster.carry_out(decide(cluster, late))
    cluster.image = cluster.image.apply([BrokerChanged(here.brokers[2])])
    assert decide(cluster, late).results[0].error is ErrorCode.INVALID_UPDATE_VERSION
    assert only(cluster.image).isr == (1,)
    assert alter(cluster, 1, 2) == ErrorCode.NONE


def test_a_leader_that_stops_lets_others_join_who_can_take_over(cluster: Cluster) -> None:
    alter(cluster, 1)
    cluster.carry_out(leave(cluster.image, 1, lambda _topic: TWO))
    assert only(cluster.image).leader == 1
    assert alter(cluster, 1, 2) == ErrorCode.NONE
    cluster.carry_out(leave(cluster.image, 1, lambda _topic: TWO))
    after = only(cluster.image)
    assert (after.leader, after.isr, after.elr, after.leader_epoch) == (2, (2,), (1,), 1)


@given(images(), rules, st.sampled_from(BROKERS), st.lists(st.sampled_from(BROKERS)))
def test_whatever_is_proposed_the_leader_is_in_sync_and_nothing_is_forgotten(
    image: ClusterImage, topic_rules: ElectionRules, leader: int, isr: list[int]
) -> None:
    if leader not in image.brokers:
        return
    one = proposal(image, *isr)
    decision = alter_isrs(image, leader, image.brokers[leader].epoch, [one], lambda _topic: topic_rules)
    after, before = only(image.apply(decision.deltas)), only(image)
    if decision.results[0].error not in {ErrorCode.NONE, ErrorCode.NEW_LEADER_ELECTED}:
        assert after == before
        return
    assert after.leader in after.isr
    assert after.last_known_elr == ()
    if len(after.isr) < min(topic_rules.min_insync_replicas, len(after.replicas)):
        assert {*after.isr, *after.elr} >= {*before.isr, *before.elr}
    else:
        assert after.elr == ()
