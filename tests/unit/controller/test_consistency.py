"""The image a controller grows by deltas is the image its successor finds in the store. Always."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.controller.support import Cluster, Rules, SeededRandom

from barnabas.controller.configs import (
    Alteration,
    IncrementalChange,
    alter_configs_incrementally,
)
from barnabas.controller.deletion import TopicSelector, delete_topics
from barnabas.controller.partitions import MorePartitions, create_partitions
from barnabas.controller.producer_ids import allocate_producer_ids
from barnabas.controller.topics import NewTopic, TopicDefaults, create_topics
from barnabas.model.image import ConfigKind, ConfigResource

NAMES = st.sampled_from(["a", "b", "c.d", "c_d", "not legal"])


def act(cluster: Cluster, data: st.DataObject, random: SeededRandom) -> None:
    """One request that may or may not make sense."""
    names = data.draw(st.lists(NAMES, min_size=1, max_size=3))
    rules = Rules()
    match data.draw(st.sampled_from(["create", "delete", "grow", "configure", "producer ids"])):
        case "create":
            count, factor = data.draw(st.integers(-1, 4)), data.draw(st.integers(-1, 4))
            configs = data.draw(st.dictionaries(st.sampled_from(["retention.ms", "nope"]), st.just("1")))
            topics = [NewTopic(name, count, factor, configs=configs) for name in names]
            defaults = TopicDefaults(2, 2)
            cluster.carry_out(
                create_topics(
                    cluster.image, topics, defaults=defaults, check_configs=rules.check, random=random
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
            alteration = Alteration(key, data.draw(st.integers(0, 3)), "7")
            changes = [IncrementalChange(ConfigResource(ConfigKind.TOPIC, n), (alteration,)) for n in names]
            cluster.carry_out(alter_configs_incrementally(cluster.image, changes, rules=rules, broker_id=1))
        case _:
            cluster.carry_out(allocate_producer_ids(cluster.image, 1, cluster.image.brokers[1].epoch))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_successor_finds_what_the_deltas_said(data: st.DataObject) -> None:
    cluster = Cluster(2, 3)
    random = SeededRandom(data.draw(st.integers(0, 2**32)))
    for _ in range(data.draw(st.integers(1, 12))):
        act(cluster, data, random)
        assert cluster.is_consistent()
