"""The corners of administration that tools rely on: sources, synonyms, ids, validation, dynamic settings."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from typing import Any

import pytest
from tests.conftest import StartTarget
from tests.support.client import Outgoing, RefusedError
from tests.support.confluent_client import ConfluentClient
from tests.support.kafka_python_client import ConfigResource, KafkaAdminClient, TopicPartition
from tests.support.requests import request_module
from tests.support.waiting import at_once
from tests.support.wire import Connection

from barnabas.testing import BrokerProcess

INVALID_PARTITIONS, INVALID_REPLICATION_FACTOR, INVALID_ASSIGNMENT, INVALID_REQUEST = 37, 38, 39, 42
MESSAGE_TOO_LARGE = 10


@pytest.fixture
def admin(target: BrokerProcess) -> Iterator[Any]:
    with closing(KafkaAdminClient(bootstrap_servers=target.bootstrap)) as admin:
        yield admin


def _create(
    connection: Connection,
    topic: str,
    *,
    partitions: int = 1,
    factor: int = 1,
    assignments: dict[int, tuple[int, ...]] | None = None,
    validate_only: bool = False,
) -> Any:
    schema = request_module(19, 7)
    rows = tuple(
        schema.CreatableReplicaAssignment(partition_index=index, broker_ids=replicas)
        for index, replicas in (assignments or {}).items()
    )
    new = schema.CreatableTopic(
        name=topic, num_partitions=partitions, replication_factor=factor, assignments=rows, configs=()
    )
    request = schema.CreateTopicsRequest(
        topics=(new,), timeout=timedelta(seconds=30), validate_only=validate_only
    )
    (answer,) = connection.ask(request).topics
    return answer


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"partitions": 0}, INVALID_PARTITIONS),
        ({"partitions": -5}, INVALID_PARTITIONS),
        ({"factor": 2}, INVALID_REPLICATION_FACTOR),
        ({"factor": 0}, INVALID_REPLICATION_FACTOR),
        ({"partitions": -1, "factor": -1, "assignments": {0: (99,)}}, INVALID_ASSIGNMENT),
        ({"partitions": -1, "factor": -1, "assignments": {0: (1, 1)}}, INVALID_ASSIGNMENT),
        ({"partitions": -1, "factor": -1, "assignments": {1: (1,)}}, INVALID_ASSIGNMENT),
        ({"partitions": 2, "factor": 1, "assignments": {0: (1,)}}, INVALID_REQUEST),
    ],
    ids=str,
)
def test_an_impossible_topic_is_refused_with_kafkas_code(
    target: BrokerProcess, topic: str, options: dict[str, Any], code: int
) -> None:
    with Connection(target.port) as connection:
        answer = _create(connection, topic, **options)
    assert answer.error_code == code
    assert answer.error_message


def test_defaults_and_manual_assignments_are_taken(target: BrokerProcess, topic: str) -> None:
    with Connection(target.port) as connection:
        by_default = _create(connection, topic, partitions=-1, factor=-1)
        assert (by_default.error_code, by_default.num_partitions, by_default.replication_factor) == (0, 1, 1)
        assert by_default.topic_id is not None
        by_hand = _create(
            connection, f"{topic}-by-hand", partitions=-1, factor=-1, assignments={0: (1,), 1: (1,)}
        )
        assert (by_hand.error_code, by_hand.num_partitions) == (0, 2)


def test_validating_a_topic_creates_nothing(target: BrokerProcess, topic: str, admin: Any) -> None:
    with Connection(target.port) as connection:
        assert _create(connection, topic, partitions=3, validate_only=True).error_code == 0
        assert _create(connection, topic, partitions=0, validate_only=True).error_code == INVALID_PARTITIONS
    assert topic not in admin.list_topics()


def test_the_topic_id_is_the_same_everywhere_and_deletes_the_topic(existing_topic: str, admin: Any) -> None:
    (described,) = admin.describe_topics([existing_topic])
    (paged,) = admin.describe_topic_partitions([existing_topic])["topics"]
    topic_id = uuid.UUID(str(described["topic_id"]))
    assert uuid.UUID(str(paged["topic_id"])) == topic_id
    assert [partition["partition_index"] for partition in paged["partitions"]] == [0, 1]
    admin.delete_topics([topic_id])
    at_once(lambda: existing_topic not in admin.list_topics())


def test_settings_tell_their_source_and_synonyms(existing_topic: str, admin: Any) -> None:
    resource = ConfigResource("topic", existing_topic)
    admin.alter_configs([ConfigResource("topic", existing_topic, configs={"segment.bytes": "2000000"})])

    def described() -> Any:
        answer = admin.describe_configs([resource], include_synonyms=True, config_filter="all")
        return answer["topic"][existing_topic]

    at_once(lambda: bool(described()["segment.bytes"]["value"] == "2000000"))
    entry = described()["segment.bytes"]
    assert (entry["config_source"], entry["read_only"], entry["config_type"]) == (
        "DYNAMIC_TOPIC_CONFIG",
        False,
        "INT",
    )
    assert [(s["name"], s["value"], s["source"]) for s in entry["synonyms"]] == [
        ("segment.bytes", "2000000", "DYNAMIC_TOPIC_CONFIG"),
        ("log.segment.bytes", "1073741824", "DEFAULT_CONFIG"),
    ]
    default = described()["retention.ms"]
    assert (default["value"], default["config_source"]) == ("604800000", "DEFAULT_CONFIG")


def test_broker_settings_are_described(target: BrokerProcess, admin: Any) -> None:
    answer = admin.describe_configs([ConfigResource("broker", "1")], config_filter="all")["broker"]["1"]
    assert (answer["node.id"]["value"], answer["node.id"]["read_only"]) == ("1", True)
    assert answer["message.max.bytes"]["value"] == "1048588"
    assert answer["listeners"]["config_source"] == "STATIC_BROKER_CONFIG"


def test_resources_with_settings_are_listed(existing_topic: str, admin: Any) -> None:
    listed = admin.list_config_resources()
    assert "1" in listed["broker"]
    assert existing_topic in listed["topic"]


def test_active_producers_are_described(target: BrokerProcess, existing_topic: str, admin: Any) -> None:
    client = ConfluentClient(target.bootstrap)
    client.produce(existing_topic, [Outgoing(b"%d" % number) for number in range(10)], idempotent=True)
    where = TopicPartition(existing_topic, 0)
    (producer,) = admin.describe_producers([where])[where].active_producers
    assert (producer.producer_epoch, producer.last_sequence) == (0, 9)


def test_the_end_of_a_leader_epoch_is_the_end_of_the_log(target: BrokerProcess, existing_topic: str) -> None:
    ConfluentClient(target.bootstrap).produce(existing_topic, [Outgoing(b"x")] * 3)
    schema = request_module(23, 4)
    asked = schema.OffsetForLeaderPartition(partition=0, current_leader_epoch=-1, leader_epoch=0)
    request = schema.OffsetForLeaderEpochRequest(
        replica_id=-1, topics=(schema.OffsetForLeaderTopic(topic=existing_topic, partitions=(asked,)),)
    )
    with Connection(target.port) as connection:
        (answered,) = connection.ask(request).topics
    (partition,) = answered.partitions
    assert (partition.error_code, partition.leader_epoch, partition.end_offset) == (0, 0, 3)


def test_a_dynamic_broker_setting_takes_effect_at_once_and_survives_a_restart(
    start_target: StartTarget, topic: str
) -> None:
    broker = start_target()
    client = ConfluentClient(broker.bootstrap)
    client.produce(topic, [Outgoing(b"x" * 5_000)])
    with closing(KafkaAdminClient(bootstrap_servers=broker.bootstrap)) as admin:
        for each in admin.describe_cluster()["brokers"]:  # whoever leads the topic
            small = {"message.max.bytes": "2000"}
            admin.alter_configs([ConfigResource("broker", str(each["broker_id"]), configs=small)])
    at_once(lambda: _is_too_large(client, topic))
    broker.restart()
    assert _is_too_large(client, topic)
    client.produce(topic, [Outgoing(b"x" * 1_000)])


def _is_too_large(client: ConfluentClient, topic: str) -> bool:
    try:
        client.produce(topic, [Outgoing(b"x" * 5_000)])
    except RefusedError as refused:
        return refused.code == MESSAGE_TOO_LARGE
    return False
