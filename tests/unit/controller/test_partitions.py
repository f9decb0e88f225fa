"""Adding partitions: errors and messages were compared with an Apache Kafka 4.3 broker."""

from __future__ import annotations

import pytest
from tests.support.chance import SeededRandom
from tests.unit.controller.support import Cluster

from barnabas.controller.partitions import MorePartitions, create_partitions
from barnabas.controller.topics import NewTopic
from barnabas.model.errors import ErrorCode


@pytest.fixture
def cluster() -> Cluster:
    cluster = Cluster()
    cluster.create(NewTopic("t", 2))
    return cluster


def test_added_partitions_follow_the_old_ones(cluster: Cluster) -> None:
    before = cluster.image.topics["t"].partitions
    (result,) = cluster.carry_out(
        create_partitions(cluster.image, [MorePartitions("t", 5)], random=SeededRandom())
    )
    assert (result.error, result.message) == (ErrorCode.NONE, None)
    after = cluster.image.topics["t"].partitions
    assert after[:2] == before
    assert [partition.index for partition in after] == [0, 1, 2, 3, 4]
    assert cluster.is_consistent()


def test_manual_replicas_are_taken_as_they_are(cluster: Cluster) -> None:
    cluster.carry_out(
        create_partitions(cluster.image, [MorePartitions("t", 3, ((1,),))], random=SeededRandom())
    )
    assert cluster.image.topics["t"].partitions[2].replicas == (1,)
    assert cluster.is_consistent()


@pytest.mark.parametrize(
    ("request_", "error", "message"),
    [
        (MorePartitions("none", 3), 3, None),
        (MorePartitions("t", 2), 37, "Topic already has 2 partition(s)."),
        (
            MorePartitions("t", 1),
            37,
            "The topic t currently has 2 partition(s); 1 would not be an increase.",
        ),
        (
            MorePartitions("t", -1),
            37,
            "The topic t currently has 2 partition(s); -1 would not be an increase.",
        ),
        (
            MorePartitions("t", 3, ((1,), (1,))),
            39,
            "Attempted to add 1 additional partition(s), but only 2 assignment(s) were specified.",
        ),
        (
            MorePartitions("t", 3, ()),
            39,
            "Attempted to add 1 additional partition(s), but only 0 assignment(s) were specified.",
        ),
        (
            MorePartitions("t", 3, ((),)),
            39,
            "The manual partition assignment includes an empty replica list.",
        ),
        (
            MorePartitions("t", 3, ((77,),)),
            39,
            "The manual partition assignment includes broker 77, but no such broker is registered.",
        ),
        (
            MorePartitions("t", 3, ((1, 1),)),
            39,
            "The manual partition assignment includes the broker 1 more than once.",
        ),
        (MorePartitions("t", 2**31 - 1), 44, "Excessively large number of partitions per request."),
    ],
)
def test_what_kafka_refuses_is_refused_in_its_words(
    cluster: Cluster, request_: MorePartitions, error: int, message: str | None
) -> None:
    decision = create_partitions(cluster.image, [request_], random=SeededRandom())
    (result,) = decision.results
    assert (result.name, result.error, result.message) == (request_.name, error, message)
    assert decision.operations == ()


def test_a_name_given_twice_is_refused(cluster: Cluster) -> None:
    requests = [MorePartitions("t", 3), MorePartitions("t", 4)]
    decision = create_partitions(cluster.image, requests, random=SeededRandom())
    assert [result.message for result in decision.results] == ["Duplicate topic name."]


def test_validate_only_writes_nothing(cluster: Cluster) -> None:
    decision = create_partitions(
        cluster.image, [MorePartitions("t", 3)], random=SeededRandom(), validate_only=True
    )
    assert decision.results[0].error is ErrorCode.NONE
    assert (decision.operations, decision.deltas) == ((), ())
