"""Moving replicas: what is written, what the image shows, and Kafka's words for what cannot be done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.support.chance import SeededRandom
from tests.unit.controller.support import Cluster

from barnabas.controller.elections import ElectionRules
from barnabas.controller.isr import Member, ProposedIsr, alter_isrs
from barnabas.controller.partitions import MorePartitions, create_partitions
from barnabas.controller.reassignment import (
    Move,
    MoveResult,
    alter_reassignments,
    altered,
    change_writes,
    completions,
)
from barnabas.controller.topics import Assignment, NewTopic
from barnabas.model.errors import ErrorCode
from barnabas.model.image import (
    UNINITIALISED_EPOCH,
    BrokerChanged,
    PartitionChanged,
    PartitionImage,
)


@pytest.fixture
def cluster() -> Cluster:
    cluster = Cluster(2, 3, 4, 5)
    cluster.create(NewTopic("t", assignments=(Assignment(0, (1, 2)), Assignment(1, (2, 3)))))
    return cluster


def move(cluster: Cluster, *moves: tuple[int, Sequence[int] | None], **options: bool) -> list[MoveResult]:
    asked = [Move("t", index, None if ids is None else tuple(ids)) for index, ids in moves]
    rules = ElectionRules(1, options.pop("unclean", False))
    results = cluster.carry_out(alter_reassignments(cluster.image, asked, lambda _topic: rules, **options))
    assert cluster.is_consistent()
    return list(results)


def in_sync(cluster: Cluster, isr: Sequence[int], leader: int | None = None) -> None:
    """What an AlterPartition of partition 0 makes of it, before anybody asks whether a move is done."""
    before = partition(cluster)
    after = replace(
        before,
        isr=tuple(isr),
        leader=before.leader if leader is None else leader,
        partition_epoch=before.partition_epoch + 1,
    )
    delta = PartitionChanged("t", after)
    cluster.submit(*change_writes(cluster.image, [delta]))
    cluster.image = cluster.image.apply([delta])


def clean(_topic: str) -> ElectionRules:
    return ElectionRules(1, unclean=False)


def partition(cluster: Cluster, index: int = 0) -> PartitionImage:
    return cluster.image.topics["t"].partitions[index]


def shape(it: PartitionImage) -> tuple[tuple[int, ...], ...]:
    return it.replicas, it.adding, it.removing, it.isr


def test_a_move_begins_with_the_old_and_the_new_replicas(cluster: Cluster) -> None:
    before = partition(cluster)
    (result,) = move(cluster, (0, (4, 3)))
    assert result == MoveResult("t", 0)
    after = partition(cluster)
    assert shape(after) == ((4, 3, 1, 2), (3, 4), (1, 2), (1, 2))
    assert (after.leader, after.leader_epoch) == (before.leader, before.leader_epoch)
    assert after.partition_epoch == before.partition_epoch + 1
    assert partition(cluster, 1).partition_epoch == 0


def test_a_move_is_done_when_every_new_replica_is_in_sync(cluster: Cluster) -> None:
    move(cluster, (0, (4, 3)))
    in_sync(cluster, (1, 2, 3))
    assert completions(cluster.image, clean).deltas == ()
    in_sync(cluster, (1, 2, 3, 4))
    before = partition(cluster)
    cluster.carry_out(completions(cluster.image, clean))
    after = partition(cluster)
    assert shape(after) == ((4, 3), (), (), (3, 4))
    assert after.leader == 4
    assert after.leader_epoch == before.leader_epoch + 1
    assert cluster.is_consistent()
    assert completions(cluster.image, clean).operations == ()


def test_a_leader_that_stays_is_not_replaced(cluster: Cluster) -> None:
    move(cluster, (0, (3, 1)))
    in_sync(cluster, (1, 2, 3))
    cluster.carry_out(completions(cluster.image, clean))
    after = partition(cluster)
    assert (after.leader, after.leader_epoch, after.replicas) == (1, 1, (3, 1))


def test_a_broker_that_is_leaving_does_not_become_the_leader(cluster: Cluster) -> None:
    move(cluster, (0, (4, 3)))
    in_sync(cluster, (1, 2, 3, 4))
    leaving = replace(cluster.image.brokers[4], leaving=True)
    image = cluster.image.apply([BrokerChanged(leaving)])
    (change,) = completions(image, clean).deltas
    assert isinstance(change, PartitionChanged)
    assert change.partition.leader == 3
    image = image.apply([BrokerChanged(replace(image.brokers[3], fenced=True))])
    assert completions(image, clean).deltas == ()


def test_fewer_replicas_and_another_order_take_effect_at_once(cluster: Cluster) -> None:
    move(cluster, (0, (2,)), (1, (3, 2)))
    assert shape(partition(cluster)) == ((2,), (), (), (2,))
    assert partition(cluster).leader == 2
    reordered = partition(cluster, 1)
    assert shape(reordered) == ((3, 2), (), (), (2, 3))
    assert (reordered.leader, reordered.leader_epoch, reordered.partition_epoch) == (2, 0, 1)


def test_more_replicas_take_effect_when_they_are_in_sync(cluster: Cluster) -> None:
    move(cluster, (0, (1, 2, 5)))
    assert shape(partition(cluster)) == ((1, 2, 5), (5,), (), (1, 2))
    in_sync(cluster, (1, 2, 5))
    cluster.carry_out(completions(cluster.image, clean))
    assert shape(partition(cluster)) == ((1, 2, 5), (), (), (1, 2, 5))
    assert partition(cluster).leader_epoch == 0


def test_where_it_already_is_nothing_is_written(cluster: Cluster) -> None:
    decision = alter_reassignments(cluster.image, [Move("t", 0, (1, 2))], clean)
    assert (decision.operations, decision.deltas) == ((), ())
    move(cluster, (0, (3, 4)))
    decision = alter_reassignments(cluster.image, [Move("t", 0, (3, 4))], clean)
    assert decision.operations == ()


def test_a_cancelled_move_goes_back_to_where_it_began(cluster: Cluster) -> None:
    move(cluster, (0, (4, 3)))
    in_sync(cluster, (1, 2, 3))
    assert move(cluster, (0, None)) == [MoveResult("t", 0)]
    after = partition(cluster)
    assert shape(after) == ((1, 2), (), (), (1, 2))
    assert (after.leader, after.leader_epoch) == (1, 1)


def test_a_second_move_forgets_the_target_of_the_first_and_not_the_origin(cluster: Cluster) -> None:
    move(cluster, (0, (4, 3)))
    in_sync(cluster, (1, 2, 3))
    move(cluster, (0, (5, 4)))
    assert shape(partition(cluster)) == ((5, 4, 1, 2), (4, 5), (1, 2), (1, 2))
    move(cluster, (0, None))
    assert shape(partition(cluster)) == ((1, 2), (), (), (1, 2))


def test_a_second_move_keeps_the_only_replica_that_is_in_sync_until_it_is_done(cluster: Cluster) -> None:
    move(cluster, (0, (4, 3)))
    in_sync(cluster, (4,), leader=4)
    move(cluster, (0, (5,)))
    assert shape(partition(cluster)) == ((5, 1, 2, 4), (5,), (1, 2, 4), (4,))
    assert partition(cluster).leader == 4
    in_sync(cluster, (4, 5))
    cluster.carry_out(completions(cluster.image, clean))
    assert shape(partition(cluster)) == ((5,), (), (), (5,))


def test_a_second_move_elects_when_it_lets_the_leader_go(cluster: Cluster) -> None:
    move(cluster, (0, (4, 3)))
    in_sync(cluster, (4, 2), leader=4)
    move(cluster, (0, (5, 3)))
    after = partition(cluster)
    assert shape(after) == ((5, 3, 1, 2), (3, 5), (1, 2), (2,))
    assert (after.leader, after.leader_epoch) == (2, 1)


def test_a_move_back_to_the_origin_ends_at_once(cluster: Cluster) -> None:
    move(cluster, (0, (4, 3)))
    move(cluster, (0, (1, 2)))
    assert shape(partition(cluster)) == ((1, 2), (), (), (1, 2))


def test_taking_back_what_would_lose_records_needs_the_topics_leave(cluster: Cluster) -> None:
    move(cluster, (0, (4, 3)))
    in_sync(cluster, (4,), leader=4)
    (refused,) = move(cluster, (0, None))
    assert refused.error == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert refused.message == (
        "Unable to revert partition assignment for t:0 because it would require an unclean leader election."
    )
    assert move(cluster, (0, None), unclean=True) == [MoveResult("t", 0)]
    assert (partition(cluster).isr, partition(cluster).leader) == ((1,), 1)


def test_replicas_that_left_may_not_be_elected_later(cluster: Cluster) -> None:
    move(cluster, (0, (3, 4)))
    before = partition(cluster)
    now = replace(before, isr=(3, 4), leader=3, elr=(1, 2), last_known_elr=(2,))
    after = altered(cluster.image, before, now, ElectionRules(3, unclean=False))
    assert (after.replicas, after.elr, after.last_known_elr) == ((3, 4), (), ())


def test_a_move_ends_in_the_decision_that_completes_its_in_sync_replicas(cluster: Cluster) -> None:
    move(cluster, (0, (4, 3)))
    before = partition(cluster)
    everybody = tuple(Member(broker) for broker in (1, 2, 3, 4))
    proposed = ProposedIsr(
        cluster.image.topics["t"].id, 0, before.leader_epoch, before.partition_epoch, everybody
    )
    leader = cluster.image.brokers[1]
    (result,) = cluster.carry_out(alter_isrs(cluster.image, 1, leader.epoch, [proposed], clean))
    assert shape(partition(cluster)) == ((4, 3), (), (), (3, 4))
    assert partition(cluster).leader == 4
    assert result.error == ErrorCode.NEW_LEADER_ELECTED
    assert cluster.is_consistent()


def test_a_partition_that_has_no_leader_yet_is_simply_placed_elsewhere(cluster: Cluster) -> None:
    before = partition(cluster)
    blank = replace(before, isr=(), leader=-1, leader_epoch=UNINITIALISED_EPOCH, partition_epoch=-1)
    image = cluster.image.apply([PartitionChanged("t", blank)])
    decision = alter_reassignments(image, [Move("t", 0, (4,))], clean)
    (delta,) = decision.deltas
    assert delta == PartitionChanged("t", replace(blank, replicas=(4,)))
    assert [operation.path for operation in decision.operations[1:]] == ["/brokers/topics/t"]


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        (Move("none", 0, (1,)), 3, "Unable to find a topic named none."),
        (Move("t", 7, (1,)), 3, "Unable to find partition t:7."),
        (Move("t", -1, None), 3, "Unable to find partition t:-1."),
        (Move("t", 0, ()), 39, "The manual partition assignment includes an empty replica list."),
        (
            Move("t", 0, (1, 9)),
            39,
            "The manual partition assignment includes broker 9, but no such broker is registered.",
        ),
        (
            Move("t", 0, (3, 1, 3)),
            39,
            "The manual partition assignment includes the broker 3 more than once.",
        ),
        (Move("t", 0, None), 85, None),
    ],
)
def test_what_cannot_be_done_is_refused_in_kafkas_words(
    cluster: Cluster, asked: Move, error: int, message: str | None
) -> None:
    decision = alter_reassignments(cluster.image, [asked], clean)
    assert decision.results == (MoveResult(asked.topic, asked.partition, ErrorCode(error), message),)
    assert decision.operations == ()


def test_the_replication_factor_can_be_guarded(cluster: Cluster) -> None:
    (refused,) = move(cluster, (0, (3, 4, 5)), allow_replication_factor_change=False)
    assert refused.error == ErrorCode.INVALID_REPLICATION_FACTOR
    assert refused.message == "The replication factor is changed from 2 to 3"
    assert move(cluster, (0, (3, 4)), allow_replication_factor_change=False) == [MoveResult("t", 0)]
    # While it moves, its factor is that of the target.
    (refused,) = move(cluster, (0, (3,)), allow_replication_factor_change=False)
    assert refused.message == "The replication factor is changed from 2 to 1"


def test_what_passes_is_carried_out_although_something_else_does_not(cluster: Cluster) -> None:
    refused, started = move(cluster, (0, None), (1, (4, 5)))
    assert (refused.error, started.error) == (ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, ErrorCode.NONE)
    assert shape(partition(cluster, 1)) == ((4, 5, 2, 3), (4, 5), (2, 3), (2, 3))


def test_moves_of_one_topic_are_one_write_of_its_node(cluster: Cluster) -> None:
    move(cluster, (0, (4, 5)), (1, (5, 1)))
    assert shape(partition(cluster, 0)) == ((4, 5, 1, 2), (4, 5), (1, 2), (1, 2))
    assert shape(partition(cluster, 1)) == ((5, 1, 2, 3), (1, 5), (2, 3), (2, 3))


def test_partitions_that_are_added_meanwhile_get_as_many_replicas_as_the_others_will_have(
    cluster: Cluster,
) -> None:
    move(cluster, (0, (3, 4)))
    assert cluster.image.topics["t"].replication_factor == 2
    cluster.carry_out(create_partitions(cluster.image, [MorePartitions("t", 3)], random=SeededRandom()))
    assert len(partition(cluster, 2).replicas) == 2
    assert shape(partition(cluster)) == ((3, 4, 1, 2), (3, 4), (1, 2), (1, 2))
    assert cluster.is_consistent()
