"""A broker lives and its disk does not: others go on with what was on it."""

from __future__ import annotations

from tests.unit.controller.support import broker

from barnabas.controller.elections import ElectionRules
from barnabas.controller.liveness import lose_replicas
from barnabas.model.ids import TopicPartition
from barnabas.model.image import BrokerChanged, ClusterImage, PartitionImage, TopicCreated, TopicImage

PLACE = TopicPartition("topic", 0)


def image_with(*isr: int) -> ClusterImage:
    partition = PartitionImage(0, (1, 2, 3), isr, leader=isr[0], leader_epoch=5, partition_epoch=10)
    brokers = [BrokerChanged(broker(each)) for each in (1, 2, 3)]
    topic = TopicCreated(TopicImage("topic", bytes(range(16)), (partition,)))
    return ClusterImage(controller_epoch_version=1).apply([*brokers, topic])


def after_loss(image: ClusterImage, broker_id: int) -> PartitionImage:
    rules = ElectionRules(2, unclean=False)
    decision = lose_replicas(image, broker_id, [PLACE, TopicPartition("gone", 7)], lambda _topic: rules)
    found = image.apply(decision.deltas).partition(*PLACE)
    assert found is not None
    return found


def test_another_leads_and_nobody_counts_on_the_lost_replica() -> None:
    after = after_loss(image_with(1, 2, 3), 1)
    assert (after.leader, after.isr, after.elr) == (2, (2, 3), ())
    assert (after.leader_epoch, after.partition_epoch) == (6, 11)


def test_a_lost_replica_is_not_eligible_later() -> None:
    after = after_loss(image_with(1, 2), 1)
    assert (after.leader, after.isr, after.elr) == (2, (2,), ())


def test_a_lost_follower_leaves_the_leader_in_its_epoch() -> None:
    after = after_loss(image_with(1, 2, 3), 3)
    assert (after.leader, after.isr, after.leader_epoch) == (1, (1, 2), 5)


def test_the_last_in_sync_is_not_given_up() -> None:
    image = image_with(1)
    assert after_loss(image, 1) is image.partition(*PLACE)


def test_what_is_not_in_sync_anyway_changes_nothing() -> None:
    image = image_with(1, 2)
    assert after_loss(image, 3) is image.partition(*PLACE)
