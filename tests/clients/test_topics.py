"""Topics, partitions and settings, as every library's admin client sees them."""

from __future__ import annotations

import time

import pytest
from tests.clients.conftest import MakeClient
from tests.conftest import StartTarget
from tests.support.client import EARLIEST, LATEST, Client, Outgoing, RefusedError
from tests.support.java_client import JavaClient, JavaDriver
from tests.support.kafka_python_client import KafkaPythonClient
from tests.support.over import ALL, CONFLUENT, JAVA, KAFKA_PYTHON, over
from tests.support.requests import metadata_request
from tests.support.targets import ON_APACHE
from tests.support.waiting import at_once, eventually
from tests.support.wire import Connection

from barnabas.testing import BrokerProcess

UNKNOWN_TOPIC, LEADER_NOT_AVAILABLE, MESSAGE_TOO_LARGE = 3, 5, 10
INVALID_TOPIC, TOPIC_EXISTS, INVALID_PARTITIONS, INVALID_CONFIG = 17, 36, 37, 40


@over(ALL)
def test_a_created_topic_is_listed_with_its_partitions(client: Client, topic: str) -> None:
    client.create_topic(topic, partitions=3)
    at_once(lambda: topic in client.topics())
    at_once(lambda: client.partition_count(topic) == 3)


@over(ALL)
def test_a_topic_cannot_be_created_twice(client: Client, topic: str) -> None:
    client.create_topic(topic)
    with pytest.raises(RefusedError) as refused:
        client.create_topic(topic)
    assert refused.value.code == TOPIC_EXISTS


@over(ALL)
@pytest.mark.parametrize("name", ["two words", "..", "ü", "x" * 250])
def test_a_bad_topic_name_is_refused(client: Client, name: str) -> None:
    with pytest.raises(RefusedError) as refused:
        client.create_topic(name)
    assert refused.value.code == INVALID_TOPIC


@over(ALL)
def test_a_bad_setting_is_refused_and_nothing_is_created(client: Client, topic: str) -> None:
    with pytest.raises(RefusedError) as refused:
        client.create_topic(topic, configs={"retention.ms": "soon"})
    assert refused.value.code == INVALID_CONFIG
    assert topic not in client.topics()


@over(ALL)
def test_a_deleted_topic_is_gone_and_its_name_is_free_again(client: Client, topic: str) -> None:
    client.create_topic(topic, partitions=2)
    client.produce(topic, [Outgoing(b"old")])
    client.delete_topic(topic)
    at_once(lambda: topic not in client.topics())
    client.create_topic(topic)
    at_once(lambda: client.partition_count(topic) == 1)
    at_once(lambda: client.find_offset(topic, 0, LATEST) == 0)


@over(ALL)
def test_deleting_an_unknown_topic_says_so(client: Client, topic: str) -> None:
    with pytest.raises(RefusedError) as refused:
        client.delete_topic(topic)
    assert refused.value.code == UNKNOWN_TOPIC


@over(ALL)
def test_partitions_can_be_added_and_never_taken_away(client: Client, topic: str) -> None:
    client.create_topic(topic, partitions=2)
    client.create_partitions(topic, 4)
    at_once(lambda: client.partition_count(topic) == 4)
    client.produce(topic, [Outgoing(b"new", partition=3)])
    assert client.read(topic, 3, 0, 1)[0].value == b"new"
    with pytest.raises(RefusedError) as refused:
        client.create_partitions(topic, 1)
    assert refused.value.code == INVALID_PARTITIONS


@over(ALL)
def test_producing_creates_the_topic_by_itself(client: Client, topic: str) -> None:
    client.produce(topic, [Outgoing(b"first")])
    assert client.read(topic, 0, 0, 1)[0].value == b"first"


def test_the_first_answer_about_a_topic_being_created_asks_to_try_again(
    target: BrokerProcess, topic: str
) -> None:
    with Connection(target.port) as connection:
        first = connection.ask(metadata_request(topic, auto_create=True)).topics[0]
        # Kafka with ZooKeeper said LEADER_NOT_AVAILABLE, as we do; with KRaft it says
        # UNKNOWN_TOPIC_OR_PARTITION.
        assert first.error_code == (UNKNOWN_TOPIC if ON_APACHE else LEADER_NOT_AVAILABLE)
        eventually(
            lambda: connection.ask(metadata_request(topic, auto_create=True)).topics[0].error_code == 0
        )
        (again,) = connection.ask(metadata_request(topic, auto_create=True)).topics
        assert [partition.leader_id for partition in again.partitions] == [1]


def test_metadata_without_auto_create_creates_nothing(target: BrokerProcess, topic: str) -> None:
    with Connection(target.port) as connection:
        for _ in range(2):
            (described,) = connection.ask(metadata_request(topic, auto_create=False)).topics
            assert described.error_code == UNKNOWN_TOPIC


def test_auto_create_can_be_switched_off(start_target: StartTarget, topic: str) -> None:
    broker = start_target({"auto.create.topics.enable": False})
    with Connection(broker.port) as connection:
        (described,) = connection.ask(metadata_request(topic, auto_create=True)).topics
        assert described.error_code == UNKNOWN_TOPIC
        time.sleep(0.3)
        (described,) = connection.ask(metadata_request(topic, auto_create=True)).topics
        assert described.error_code == UNKNOWN_TOPIC


@over(ALL)
def test_settings_are_described_with_defaults_and_overrides(client: Client, topic: str) -> None:
    client.create_topic(topic, configs={"retention.ms": "12345"})
    at_once(lambda: client.topic_config(topic).get("retention.ms") == "12345")
    config = client.topic_config(topic)
    assert config["cleanup.policy"] == "delete"
    assert config["max.message.bytes"] == "1048588"
    assert config["segment.bytes"] == "1073741824"


@over((CONFLUENT, KAFKA_PYTHON, JAVA))
def test_a_changed_setting_takes_effect_at_once(client: Client, topic: str) -> None:
    client.create_topic(topic)
    client.produce(topic, [Outgoing(b"x" * 5_000)])
    client.alter_topic_config(topic, {"max.message.bytes": "1000"})
    at_once(lambda: client.topic_config(topic)["max.message.bytes"] == "1000")
    with pytest.raises(RefusedError) as refused:
        client.produce(topic, [Outgoing(b"x" * 5_000)])
    assert refused.value.code == MESSAGE_TOO_LARGE
    client.alter_topic_config(topic, {"max.message.bytes": "9000"})
    at_once(lambda: client.topic_config(topic)["max.message.bytes"] == "9000")
    client.produce(topic, [Outgoing(b"x" * 5_000)])


@over(ALL)
def test_a_changed_setting_must_be_valid(client: Client, topic: str) -> None:
    client.create_topic(topic)
    with pytest.raises(RefusedError) as refused:
        client.alter_topic_config(topic, {"segment.bytes": "many"})
    assert refused.value.code == INVALID_CONFIG


def test_topics_settings_and_records_survive_a_clean_restart(
    start_target: StartTarget, make_client: MakeClient, topic: str
) -> None:
    broker = start_target()
    client = make_client(KAFKA_PYTHON, broker.bootstrap)
    client.create_topic(topic, partitions=2, configs={"retention.ms": "7777777"})
    client.alter_topic_config(topic, {"max.message.bytes": "4321"})
    client.produce(topic, [Outgoing(b"%d" % number, partition=1) for number in range(10)])
    broker.restart()
    assert client.partition_count(topic) == 2
    config = client.topic_config(topic)
    assert (config["retention.ms"], config["max.message.bytes"]) == ("7777777", "4321")
    assert [message.value for message in client.read(topic, 1, 0, 10)] == [b"%d" % n for n in range(10)]


@over(ALL)
def test_deleted_records_raise_the_low_watermark(client: Client, topic: str) -> None:
    client.create_topic(topic)
    client.produce(topic, [Outgoing(b"%d" % number) for number in range(10)])
    assert client.delete_records(topic, 0, 4) == 4
    assert client.find_offset(topic, 0, EARLIEST) == 4
    assert client.read(topic, 0, 4, 1)[0].value == b"4"


@over((CONFLUENT, KAFKA_PYTHON, JAVA))
def test_records_beyond_the_end_cannot_be_deleted(client: Client, existing_topic: str) -> None:
    with pytest.raises(RefusedError) as refused:
        client.delete_records(existing_topic, 0, 5)
    assert refused.value.code == 1, "OFFSET_OUT_OF_RANGE"


@over(ALL)
def test_the_cluster_is_this_one_broker(client: Client, target: BrokerProcess) -> None:
    assert client.brokers() == [(1, "127.0.0.1", target.port)]


@pytest.mark.java
def test_log_directories_tell_the_size_of_a_partition_to_java(
    target: BrokerProcess, java_driver: JavaDriver, topic: str
) -> None:
    client = JavaClient(target.bootstrap, java_driver)
    client.create_topic(topic)
    client.produce(topic, [Outgoing(b"x" * 1_000)])
    assert 1_000 < client.log_dirs()[topic, 0] < 2_000


def test_log_directories_tell_the_size_of_a_partition(target: BrokerProcess, topic: str) -> None:
    client = KafkaPythonClient(target.bootstrap)
    client.create_topic(topic)
    client.produce(topic, [Outgoing(b"x" * 1_000)])
    assert 1_000 < client.log_dirs()[topic, 0] < 2_000
