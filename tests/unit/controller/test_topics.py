"""Creating topics: errors and messages were compared with an Apache Kafka 4.3 broker."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.chance import SeededRandom
from tests.unit.controller.support import Cluster, broker, check_topic_configs, image_of

from barnabas.controller.decision import Decision
from barnabas.controller.registration import claim_controller
from barnabas.controller.topics import Assignment, NewTopic, TopicDefaults, TopicResult, create_topics
from barnabas.model.errors import ErrorCode
from barnabas.model.ids import ZERO_UUID
from barnabas.model.image import ClusterImage, ConfigKind, ConfigResource
from barnabas.ports import BadVersionError, Delete

DEFAULTS = TopicDefaults(partitions=3, replication_factor=1)


def decide(image: ClusterImage, *topics: NewTopic, validate_only: bool = False) -> Decision[TopicResult]:
    return create_topics(
        image,
        topics,
        defaults=DEFAULTS,
        check_configs=check_topic_configs,
        random=SeededRandom(),
        validate_only=validate_only,
    )


def create(image: ClusterImage, *topics: NewTopic) -> tuple[TopicResult, ...]:
    return decide(image, *topics).results


def carry_out(cluster: Cluster, *topics: NewTopic) -> tuple[TopicResult, ...]:
    return cluster.create(*topics, defaults=DEFAULTS)


def test_a_created_topic_is_in_the_image_and_in_the_store() -> None:
    cluster = Cluster()
    (result,) = carry_out(cluster, NewTopic("t", 2, 1, configs={"retention.ms": "5"}))
    assert (result.error, result.message) == (ErrorCode.NONE, None)
    assert (result.partitions, result.replication_factor) == (2, 1)
    assert result.configs == {"retention.ms": "5"}
    topic = cluster.image.topics["t"]
    assert topic.id == result.topic_id != ZERO_UUID
    assert cluster.image.topic_by_id(topic.id) is topic
    assert [(p.leader, p.isr, p.leader_epoch) for p in topic.partitions] == [(1, (1,), 0)] * 2
    assert cluster.image.configs == {ConfigResource(ConfigKind.TOPIC, "t"): {"retention.ms": "5"}}
    assert cluster.is_consistent()


def test_a_topic_is_written_in_one_multi() -> None:
    decision = decide(image_of(broker(1)), NewTopic("t", 1000, 1))
    assert len(decision.multis()) == 1


def test_minus_one_means_the_default() -> None:
    (result,) = create(image_of(broker(1)), NewTopic("t"))
    assert (result.partitions, result.replication_factor) == (3, 1)


def test_validate_only_answers_and_writes_nothing() -> None:
    decision = decide(image_of(broker(1)), NewTopic("t", 2, 1), validate_only=True)
    assert decision.results[0].error is ErrorCode.NONE
    assert decision.results[0].partitions == 2
    assert (decision.operations, decision.deltas, decision.multis()) == ((), (), [])


def test_good_topics_are_created_beside_bad_ones() -> None:
    cluster = Cluster()
    results = carry_out(cluster, NewTopic("bad name"), NewTopic("good"), NewTopic("bad", 0))
    assert [result.error for result in results] == [
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        ErrorCode.NONE,
        ErrorCode.INVALID_PARTITIONS,
    ]
    assert set(cluster.image.topics) == {"good"}


def test_a_deposed_controller_creates_nothing() -> None:
    cluster = Cluster()
    decision = decide(cluster.image, NewTopic("t"))
    cluster.submit(Delete("/controller"))
    cluster.submit(*claim_controller(cluster.tree(), broker_id=2, now_ms=0))
    with pytest.raises(BadVersionError):
        cluster.carry_out(decision)
    assert "t" not in cluster.rebuilt().topics


@pytest.mark.parametrize(
    ("topic", "error", "message"),
    [
        (NewTopic(""), 17, "Topic name is invalid: the empty string is not allowed"),
        (NewTopic(".."), 17, "Topic name is invalid: '..' is not allowed"),
        (
            NewTopic("a b"),
            17,
            "Topic name is invalid: 'a b' contains one or more characters other than ASCII alphanumerics, "
            "'.', '_' and '-'",
        ),
        (NewTopic("old.a_b"), 36, "Topic 'old.a_b' already exists."),
        (NewTopic("old_a.b"), 17, "Topic 'old_a.b' collides with existing topic: old.a_b"),
        (NewTopic("n", 0, 1), 37, "Number of partitions was set to an invalid non-positive value."),
        (NewTopic("n", -2, 1), 37, "Number of partitions was set to an invalid non-positive value."),
        (
            NewTopic("n", 1, 0),
            38,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        ),
        (
            NewTopic("n", 1, 2),
            38,
            "Unable to replicate the partition 2 time(s): The target replication factor of 2 cannot be "
            "reached because only 1 broker(s) are registered or some brokers have all their log directories "
            "cordoned.",
        ),
        (
            NewTopic("__cluster_metadata"),
            42,
            "Creation of internal topic __cluster_metadata is prohibited.",
        ),
        (
            NewTopic("n", 1, -1, (Assignment(0, (1,)),)),
            42,
            "A manual partition assignment was specified, but numPartitions was not set to -1.",
        ),
        (
            NewTopic("n", -1, 1, (Assignment(0, (1,)),)),
            42,
            "A manual partition assignment was specified, but replication factor was not set to -1.",
        ),
        (
            NewTopic("n", assignments=(Assignment(0, (1,)), Assignment(0, (1,)))),
            39,
            "Found multiple manual partition assignments for partition 0",
        ),
        (
            NewTopic("n", assignments=(Assignment(0, ()),)),
            39,
            "The manual partition assignment includes an empty replica list.",
        ),
        (
            NewTopic("n", assignments=(Assignment(0, (1, 1)),)),
            39,
            "The manual partition assignment includes the broker 1 more than once.",
        ),
        (
            NewTopic("n", assignments=(Assignment(0, (77,)),)),
            39,
            "The manual partition assignment includes broker 77, but no such broker is registered.",
        ),
        (
            NewTopic("n", assignments=(Assignment(1, (1,)),)),
            39,
            "partitions should be a consecutive 0-based integer sequence",
        ),
        (
            NewTopic("n", configs={"a": None, "b": None, "retention.ms": "1"}),
            40,
            "Null value not supported for topic configs: a,b",
        ),
        (NewTopic("n", configs={"nope": "1"}), 40, "Unknown topic config name: nope"),
        (NewTopic("n", 10_001, 1), 44, "Excessively large number of partitions per request."),
        (NewTopic("n", 2**31 - 1, 1), 44, "Excessively large number of partitions per request."),
        (NewTopic("n", 10_000, 1), 44, "Unable to perform excessively large batch operation."),
    ],
    ids=lambda value: value.name[:12] if isinstance(value, NewTopic) else None,
)
def test_what_kafka_refuses_is_refused_in_its_words(topic: NewTopic, error: int, message: str) -> None:
    cluster = Cluster()
    carry_out(cluster, NewTopic("old.a_b"))
    (result,) = create(cluster.image, topic)
    assert (result.name, result.error, result.message) == (topic.name, error, message)
    assert (result.partitions, result.replication_factor, result.topic_id) == (-1, -1, ZERO_UUID)


def test_replica_lists_of_different_length_are_refused() -> None:
    topic = NewTopic("t", assignments=(Assignment(0, (1, 2)), Assignment(1, (1,))))
    (result,) = create(image_of(broker(1), broker(2)), topic)
    assert result.message == (
        "The manual partition assignment includes a partition with 1 replica(s), but this is not consistent "
        "with previous partitions, which have 2 replica(s)."
    )


def test_manual_replicas_on_fenced_brokers_only_are_refused() -> None:
    topic = NewTopic("t", assignments=(Assignment(0, (2,)),))
    (result,) = create(image_of(broker(1), broker(2, fenced=True)), topic)
    assert result.message == (
        "All brokers specified in the manual partition assignment for partition 0 are fenced or in "
        "controlled shutdown."
    )


def test_a_topic_is_not_led_by_a_broker_that_is_about_to_stop() -> None:
    leaving = replace(broker(1), leaving=True)
    image = image_of(leaving, broker(2))
    by_hand = NewTopic("by-hand", assignments=(Assignment(0, (1, 2)),))
    created = image.apply(decide(image, by_hand, NewTopic("placed", 4, 1)).deltas).topics
    assert {partition.leader for topic in created.values() for partition in topic.partitions} == {2}
    assert created["by-hand"].partitions[0].isr == (2,)


def test_a_fenced_replica_is_not_in_sync_and_does_not_lead() -> None:
    cluster_image = image_of(broker(1), broker(2, fenced=True))
    decision = create_topics(
        cluster_image,
        [NewTopic("t", assignments=(Assignment(0, (2, 1)),))],
        defaults=DEFAULTS,
        check_configs=check_topic_configs,
        random=SeededRandom(),
    )
    partition = cluster_image.apply(decision.deltas).partition("t", 0)
    assert partition is not None
    assert (partition.replicas, partition.isr, partition.leader) == ((2, 1), (1,), 1)


def test_a_name_given_twice_is_answered_once_and_refused() -> None:
    results = create(image_of(broker(1)), NewTopic("t"), NewTopic("t"), NewTopic("u"))
    assert [(result.name, result.message) for result in results] == [
        ("u", None),
        ("t", "Duplicate topic name."),
    ]


def test_the_size_of_a_request_is_judged_as_a_whole() -> None:
    results = create(image_of(broker(1)), NewTopic("t", 9_990), NewTopic("u", 100))
    assert {result.message for result in results} == {"Excessively large number of partitions per request."}
