"""Deleting topics: errors and messages were compared with an Apache Kafka 4.3 broker."""

from __future__ import annotations

import pytest
from tests.support.chance import SeededRandom
from tests.unit.controller.support import Cluster, submit_as_to_zookeeper

from barnabas.controller import tree
from barnabas.controller.deletion import TopicSelector, delete_topics
from barnabas.controller.elections import complete
from barnabas.controller.topics import NewTopic
from barnabas.model.errors import ErrorCode
from barnabas.model.ids import ZERO_UUID
from barnabas.ports import Create

OTHER_ID = bytes(range(16))


@pytest.fixture
def cluster() -> Cluster:
    cluster = Cluster()
    topics = [NewTopic("t", 2, configs={"retention.ms": "1"}), NewTopic("u")]
    cluster.create(*topics)
    return cluster


@pytest.mark.parametrize("by_id", [False, True])
def test_a_deleted_topic_leaves_nothing_behind(cluster: Cluster, by_id: bool) -> None:
    topic_id = cluster.image.topics["t"].id
    selector = TopicSelector(topic_id=topic_id) if by_id else TopicSelector("t")
    (result,) = cluster.carry_out(delete_topics(cluster.image, [selector]))
    assert (result.name, result.topic_id, result.error) == ("t", topic_id, ErrorCode.NONE)
    assert set(cluster.image.topics) == {"u"}
    assert topic_id not in cluster.image.topic_names
    assert cluster.image.configs == {}
    assert not [path for path in cluster.tree() if "/t/" in f"{path}/"]
    assert cluster.is_consistent()


def test_a_topic_marked_by_an_old_tool_loses_the_mark(cluster: Cluster) -> None:
    mark = f"{tree.DELETE_TOPICS}/t"
    cluster.submit(Create(mark))
    cluster.carry_out(delete_topics(cluster.image, [TopicSelector("t")]))
    assert mark not in cluster.tree()


LONG = "n" * 240


def test_a_topic_too_wide_for_one_multi_is_deleted_in_parts_that_may_be_cut_off() -> None:
    cluster = Cluster()
    cluster.create(NewTopic(LONG, 1_800))
    submit_as_to_zookeeper(cluster, delete_topics(cluster.image, [TopicSelector(LONG)]).multis()[:1])
    assert f"{tree.DELETE_TOPICS}/{LONG}" in cluster.tree()  # by which the next controller knows
    cluster.image = cluster.rebuilt()
    cluster.carry_out(complete(cluster.image, SeededRandom()))
    submit_as_to_zookeeper(cluster, delete_topics(cluster.image, [TopicSelector(LONG)]).multis())
    assert not [path for path in cluster.tree() if LONG in path]


def test_many_topics_at_once_are_deleted_one_after_the_other() -> None:
    cluster = Cluster()
    names = [f"{LONG}{number}" for number in range(4)]
    cluster.create(*(NewTopic(name, 500) for name in names))
    submit_as_to_zookeeper(cluster, delete_topics(cluster.image, list(map(TopicSelector, names))).multis())
    assert not [path for path in cluster.tree() if LONG in path]


@pytest.mark.parametrize(
    ("selector", "error", "message"),
    [
        (TopicSelector("none"), 3, "This server does not host this topic-partition."),
        (TopicSelector(topic_id=OTHER_ID), 100, "This server does not host this topic ID."),
        (TopicSelector(), 42, "Neither topic name nor id were specified."),
        (TopicSelector("t", OTHER_ID), 42, "You may not specify both topic name and topic id."),
    ],
)
def test_what_kafka_refuses_is_refused_in_its_words(
    cluster: Cluster, selector: TopicSelector, error: int, message: str
) -> None:
    decision = delete_topics(cluster.image, [selector])
    (result,) = decision.results
    assert (result.name, result.topic_id) == (selector.name, selector.topic_id)
    assert (result.error, result.message) == (error, message)
    assert decision.operations == ()


def test_a_topic_named_twice_stays(cluster: Cluster) -> None:
    topic_id = cluster.image.topics["t"].id
    for selector, message in (
        (TopicSelector("t"), "Duplicate topic name."),
        (TopicSelector(topic_id=topic_id), "Duplicate topic id."),
    ):
        decision = delete_topics(cluster.image, [selector, selector])
        assert [result.message for result in decision.results] == [message]
        assert decision.operations == ()


def test_a_topic_named_by_name_and_by_id_stays_and_the_others_go(cluster: Cluster) -> None:
    both = [TopicSelector(topic_id=cluster.image.topics["t"].id), TopicSelector("t"), TopicSelector("u")]
    results = cluster.carry_out(delete_topics(cluster.image, both))
    assert {result.name: result.message for result in results} == {
        "t": "The provided topic name maps to an ID that was already supplied.",
        "u": None,
    }
    assert set(cluster.image.topics) == {"t"}


def test_an_id_that_is_all_zeros_is_no_id(cluster: Cluster) -> None:
    assert delete_topics(cluster.image, [TopicSelector("t", ZERO_UUID)]).operations
