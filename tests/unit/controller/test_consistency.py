"""The image a controller grows by deltas is the image its successor finds in the store. Always."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.chance import SeededRandom
from tests.unit.controller.support import SETTINGS, Cluster, check_topic_configs

from barnabas.controller.configs import IncrementalChange, alter_configs
from barnabas.controller.decision import Decision
from barnabas.controller.deletion import TopicSelector, delete_topics
from barnabas.controller.elections import ElectionRules
from barnabas.controller.isr import IsrResult, Member, ProposedIsr, alter_isrs
from barnabas.controller.leadership import ElectionType, elect_leaders
from barnabas.controller.liveness import settle
from barnabas.controller.partitions import MorePartitions, create_partitions
from barnabas.controller.producer_ids import allocate_producer_ids
from barnabas.controller.topics import NewTopic, TopicDefaults, create_topics
from barnabas.model.image import ClusterImage, ConfigKind, ConfigResource
from barnabas.model.settings.alter import Change


def rules(_topic: str) -> ElectionRules:
    return ElectionRules(2, unclean=False)


def propose(image: ClusterImage, data: st.DataObject) -> Decision[IsrResult]:
    """Some leader proposes some in-sync replicas for each of its partitions."""
    leader = data.draw(st.integers(1, 3))
    proposals = [
        ProposedIsr(topic.id, one.index, one.leader_epoch, one.partition_epoch, tuple(map(Member, isr)))
        for topic in image.topics.values()
        for one in topic.partitions
        if (isr := data.draw(st.lists(st.sampled_from(one.replicas), unique=True)))
    ]
    return alter_isrs(image, leader, image.brokers[leader].epoch, proposals, rules)


NAMES = st.sampled_from(["a", "b", "c.d", "c_d", "not legal"])


def act(cluster: Cluster, data: st.DataObject, random: SeededRandom) -> None:
    """One request that may or may not make sense."""
    names = data.draw(st.lists(NAMES, min_size=1, max_size=3))
    kinds = ["create", "delete", "grow", "configure", "producer ids", "in sync", "elect", "restart"]
    match data.draw(st.sampled_from(kinds)):
        case "create":
            count, factor = data.draw(st.integers(-1, 4)), data.draw(st.integers(-1, 4))
            configs = data.draw(st.dictionaries(st.sampled_from(["retention.ms", "nope"]), st.just("1")))
            topics = [NewTopic(name, count, factor, configs=configs) for name in names]
            defaults = TopicDefaults(2, 2)
            cluster.carry_out(
                create_topics(
                    cluster.image, topics, defaults=defaults, check_configs=check_topic_configs, random=random
                )
            )
        case "delete":
            cluster.carry_out(delete_topics(cluster.image, [TopicSelector(name) for name in names]))
        case "grow":
            count = data.draw(st.integers(0, 6))
            more = [MorePartitions(name, count) for name in names]
            cluster.carry_out(create_partitions(cluster.image, more, random=random))
        case "configure":
            key = data.draw(st.sampled_from(["retention.ms", "cleanup.policy"]))
            value = data.draw(st.sampled_from(["7", "compact"]))
            change = Change(key, data.draw(st.integers(0, 3)), value)
            changes = [IncrementalChange(ConfigResource(ConfigKind.TOPIC, n), (change,)) for n in names]
            cluster.carry_out(alter_configs(cluster.image, changes, settings=SETTINGS, broker_id=1))
        case "in sync":
            cluster.carry_out(propose(cluster.image, data))
        case "elect":
            cluster.carry_out(elect_leaders(cluster.image, ElectionType.PREFERRED, None, rules))
        case "restart":
            cluster.carry_out(settle(cluster.image, rules, data.draw(st.sets(st.integers(1, 3)))))
        case _:
            cluster.carry_out(allocate_producer_ids(cluster.image, 1, cluster.image.brokers[1].epoch))


@settings(max_examples=60)
@given(st.data())
def test_a_successor_finds_what_the_deltas_said(data: st.DataObject) -> None:
    cluster = Cluster(2, 3)
    random = SeededRandom(data.draw(st.integers(0, 2**32)))
    for _ in range(data.draw(st.integers(1, 12))):
        act(cluster, data, random)
        assert cluster.is_consistent()
