"""Who leads, and how what is half done becomes whole."""

from __future__ import annotations

import pytest
from tests.unit.controller.support import Cluster, Rules, SeededRandom, broker, image_of

from barnabas.controller.decision import Decision
from barnabas.controller.elections import complete, elect, lead_again
from barnabas.controller.rebuild import image_from
from barnabas.controller.topics import Assignment, NewTopic, TopicDefaults, create_topics
from barnabas.model.ids import ZERO_UUID, TopicPartition
from barnabas.model.image import NO_LEADER, PartitionImage, TopicCreated, TopicImage
from barnabas.ports import Check, Create, Put


@pytest.mark.parametrize(
    ("isr", "unclean", "leader", "isr_after"),
    [
        ((1, 2, 3), False, 2, (2, 3)),
        ((3, 1), False, 3, (3,)),
        ((1,), False, NO_LEADER, (1,)),
        ((1,), True, 2, (2,)),
    ],
)
def test_the_first_replica_that_is_in_sync_and_active_leads(
    isr: tuple[int, ...], unclean: bool, leader: int, isr_after: tuple[int, ...]
) -> None:
    image = image_of(broker(1, fenced=True), broker(2), broker(3))
    before = PartitionImage(0, (1, 2, 3), isr, leader=1, leader_epoch=4, partition_epoch=9)
    after = elect(image, before, unclean=unclean)
    assert (after.leader, after.isr) == (leader, isr_after)
    assert (after.leader_epoch, after.partition_epoch) == (5, 10)


def test_a_broker_that_is_back_leads_again_in_a_new_epoch() -> None:
    cluster = Cluster(2)
    topics = [NewTopic("t", assignments=(Assignment(0, (1, 2)), Assignment(1, (2, 1))))]
    cluster.carry_out(
        create_topics(
            cluster.image,
            topics,
            defaults=TopicDefaults(1, 1),
            check_configs=Rules().check,
            random=SeededRandom(),
        )
    )
    assert cluster.carry_out(lead_again(cluster.image, 1)) == (TopicPartition("t", 0),)
    partitions = cluster.image.topics["t"].partitions
    assert [(p.leader, p.leader_epoch, p.partition_epoch) for p in partitions] == [(1, 1, 1), (2, 0, 0)]
    assert cluster.is_consistent()


def test_a_partition_without_leader_is_led_by_whoever_was_in_sync() -> None:
    headless = TopicImage("t", bytes(range(16)), (PartitionImage(0, (1, 2), (2,), NO_LEADER, 3, 3),))
    image = image_of(broker(1), broker(2)).apply([TopicCreated(headless)])
    assert lead_again(image, 1) == Decision(())
    decision = lead_again(image, 2)
    assert image.apply(decision.deltas).topics["t"].partitions[0].leader == 2


def test_a_topic_that_a_tool_wrote_is_obeyed() -> None:
    cluster = Cluster(2)
    cluster.submit(Create("/brokers/topics/t", b'{"version":1,"partitions":{"1":[2,1],"0":[1,2]}}'))
    cluster.image = cluster.rebuilt()
    assert cluster.image.topics["t"].id == ZERO_UUID
    assert not cluster.image.topics["t"].partitions[0].is_initialised
    assert cluster.carry_out(complete(cluster.image, SeededRandom())) == ("t",)
    topic = cluster.image.topics["t"]
    assert topic.id != ZERO_UUID
    assert [(p.leader, p.isr, p.leader_epoch) for p in topic.partitions] == [(1, (1, 2), 0), (2, (2, 1), 0)]
    assert cluster.is_consistent()
    assert complete(cluster.image, SeededRandom()) == Decision(())


def test_a_partition_waits_for_one_of_its_replicas() -> None:
    cluster = Cluster()
    cluster.submit(Create("/brokers/topics/t", b'{"version":1,"partitions":{"0":[7]}}'))
    cluster.image = cluster.rebuilt()
    cluster.carry_out(complete(cluster.image, SeededRandom()))
    partition = cluster.image.partition("t", 0)
    assert partition is not None
    assert not partition.is_initialised
    assert cluster.is_consistent()


def test_a_crash_between_the_parts_of_a_large_topic_is_made_good() -> None:
    cluster = Cluster()
    decision = create_topics(
        cluster.image,
        [NewTopic("t", 50)],
        defaults=TopicDefaults(1, 1),
        check_configs=Rules().check,
        random=SeededRandom(),
    )
    parts = decision.multis(bytes_max=3000)
    assert len(parts) > 2
    assert all(isinstance(part[0], Check) for part in parts)
    assert [operation for part in parts for operation in part[1:]] == list(decision.operations[1:])
    for part in parts[:2]:
        cluster.submit(*part)
    cluster.image = cluster.rebuilt()
    cluster.carry_out(complete(cluster.image, SeededRandom()))
    assert len(cluster.image.topics["t"].partitions) == 50
    assert all(partition.leader == 1 for partition in cluster.image.topics["t"].partitions)
    assert cluster.is_consistent()


def test_a_state_that_a_tool_spoiled_is_written_anew() -> None:
    cluster = Cluster()
    cluster.submit(Create("/brokers/topics/t", b'{"version":1,"partitions":{"0":[1]}}'))
    cluster.submit(Put("/brokers/topics/t/partitions/0/state", b"{}"))
    cluster.image = image_from(cluster.tree().values()).image
    cluster.carry_out(complete(cluster.image, SeededRandom()))
    assert cluster.rebuilt().topics["t"].partitions[0].leader == 1
