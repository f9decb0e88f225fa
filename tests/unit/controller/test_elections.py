"""How what is half done becomes whole."""

from __future__ import annotations

from tests.support.chance import SeededRandom
from tests.unit.controller.support import Cluster, check_topic_configs, submit_as_to_zookeeper

from barnabas.controller.decision import Decision
from barnabas.controller.elections import complete
from barnabas.controller.rebuild import image_from
from barnabas.controller.topics import NewTopic, TopicDefaults, create_topics
from barnabas.model.ids import ZERO_UUID
from barnabas.ports import Check, Create, Put


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
        check_configs=check_topic_configs,
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


def test_what_a_crash_left_of_a_wide_topic_is_completed_in_parts_that_zookeeper_takes() -> None:
    cluster = Cluster()
    replicas = ",".join(f'"{index}":[1]' for index in range(4_000))
    cluster.submit(Create("/brokers/topics/wide", b'{"version":1,"partitions":{%s}}' % replicas.encode()))
    decision = complete(cluster.rebuilt(), SeededRandom())
    submit_as_to_zookeeper(cluster, decision.multis())
    assert all(partition.leader == 1 for partition in cluster.rebuilt().topics["wide"].partitions)


def test_a_state_that_a_tool_spoiled_is_not_begun_anew() -> None:
    """Who was in sync is not known any more: whoever led by chance could take away what was acknowledged."""
    cluster = Cluster()
    cluster.submit(Create("/brokers/topics/t", b'{"version":1,"partitions":{"0":[1]}}'))
    cluster.submit(Put("/brokers/topics/t/partitions/0/state", b"{}"))
    image = image_from(cluster.tree().values()).image
    assert image.unreadable == {"t"}
    assert complete(image, SeededRandom()).operations == ()
