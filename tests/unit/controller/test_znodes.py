"""The tree's JSON is Kafka's: golden values in the shape that Kafka 3.9 writes to ZooKeeper, both ways."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.controller import tree
from barnabas.controller.znodes import administration, cluster, topics
from barnabas.controller.znodes.fields import MalformedNodeError
from barnabas.model.endpoint import Endpoint, SecurityProtocol
from barnabas.model.ids import TopicPartition
from barnabas.model.image import (
    BrokerImage,
    ConfigKind,
    ConfigResource,
    PartitionImage,
    ProducerIdBlock,
    TopicImage,
)

BROKER = BrokerImage(
    5,
    77,
    {
        "INSIDE": Endpoint("::1", 9093, SecurityProtocol.SASL_SSL),
        "PLAINTEXT": Endpoint("host.example", 9092, SecurityProtocol.PLAINTEXT),
    },
    "rack-1",
)
BROKER_JSON = {
    "version": 5,
    "host": "host.example",
    "port": 9092,
    "jmx_port": -1,
    "timestamp": "1700000000000",
    "endpoints": ["INSIDE://[::1]:9093", "PLAINTEXT://host.example:9092"],
    "listener_security_protocol_map": {"INSIDE": "SASL_SSL", "PLAINTEXT": "PLAINTEXT"},
    "rack": "rack-1",
    "features": {"f": {"min_version": 1, "max_version": 3}},
}
TOPIC_ID = bytes(range(16))
TOPIC = TopicImage(
    "t",
    TOPIC_ID,
    (
        PartitionImage(0, (1, 2, 3), (1, 2), 1, 4, 9, adding=(3,), removing=(1,)),
        PartitionImage(1, (2, 3), (3,), 3, 5, 2, elr=(2,), last_known_elr=(2, 3)),
    ),
)


def test_a_broker_registers_in_version_five() -> None:
    data = cluster.encode_broker(BROKER, 1_700_000_000_000, {"f": (1, 3)})
    assert json.loads(data) == BROKER_JSON
    assert cluster.decode_broker("/brokers/ids/5", data, 77) == BROKER


def test_a_broker_without_plaintext_has_no_host_for_old_clients() -> None:
    only = BrokerImage(1, 1, {"S": Endpoint("h", 1, SecurityProtocol.SSL)})
    value = json.loads(cluster.encode_broker(only, 0))
    assert (value["host"], value["port"], "rack" in value) == (None, -1, False)


def test_a_topic_holds_its_replicas_in_version_three() -> None:
    data = topics.encode_topic(TOPIC)
    assert json.loads(data) == {
        "version": 3,
        "topic_id": "AAECAwQFBgcICQoLDA0ODw",
        "partitions": {"0": [1, 2, 3], "1": [2, 3]},
        "adding_replicas": {"0": [3]},
        "removing_replicas": {"0": [1]},
    }
    assert topics.decode_topic("/brokers/topics/t", data) == topics.TopicNode(
        TOPIC_ID, {0: (1, 2, 3), 1: (2, 3)}, {0: (3,)}, {0: (1,)}
    )


def test_a_partition_state_is_what_old_tools_read() -> None:
    data = topics.encode_state(TOPIC.partitions[0], controller_epoch=6)
    assert data == b'{"controller_epoch":6,"leader":1,"version":1,"leader_epoch":4,"isr":[1,2]}'
    assert topics.decode_state("/s", data) == topics.StateNode(1, 4, (1, 2), 6)


def test_eligible_leaders_survive_in_the_state() -> None:
    data = topics.encode_state(TOPIC.partitions[1], controller_epoch=6)
    assert topics.decode_state("/s", data) == topics.StateNode(3, 5, (3,), 6, (2,), (2, 3))


def test_the_smaller_nodes_are_kafkas() -> None:
    assert json.loads(cluster.encode_controller(3, 12)) == {
        "version": 2,
        "brokerid": 3,
        "timestamp": "12",
        "kraftControllerEpoch": -1,
    }
    assert cluster.encode_controller_epoch(7) == b"7"
    assert cluster.encode_cluster_id("id") == b'{"version":"1","id":"id"}'
    assert json.loads(cluster.encode_features({"f": 2})) == {
        "version": 2,
        "status": 1,
        "features": {"f": {"max_version_level": 2}},
    }
    assert administration.encode_config({"a": "b"}) == b'{"version":1,"config":{"a":"b"}}'
    assert administration.encode_config_change(ConfigResource(ConfigKind.TOPIC, "t")) == (
        b'{"version":2,"entity_path":"topics/t"}'
    )
    assert administration.encode_log_dir_failure(2) == b'{"version":1,"broker":2,"event":1}'
    assert administration.encode_partitions([TopicPartition("t", 1)]) == (
        b'{"version":1,"partitions":[{"topic":"t","partition":1}]}'
    )
    assert administration.encode_reassignment({TopicPartition("t", 1): (2, 3)}) == (
        b'{"version":1,"partitions":[{"topic":"t","partition":1,"replicas":[2,3]}]}'
    )


def test_what_is_encoded_is_decoded() -> None:
    assert cluster.decode_controller("/c", cluster.encode_controller(3, 12)) == 3
    assert cluster.decode_controller_epoch("/e", b"7") == 7
    assert cluster.decode_cluster_id("/i", cluster.encode_cluster_id("id")) == "id"
    assert cluster.decode_features("/f", cluster.encode_features({"f": 2})) == {"f": 2}
    block = ProducerIdBlock(1, 2000, 2999)
    assert cluster.decode_producer_ids("/p", cluster.encode_producer_ids(block)) == block
    assert cluster.decode_producer_ids("/p", b"") is None
    assert administration.decode_config("/c", administration.encode_config({"a": "b"})) == {"a": "b"}
    resource = ConfigResource(ConfigKind.GROUP, "a/b")
    change = administration.encode_config_change(resource)
    assert administration.decode_config_change("/c", change) == resource
    partitions = (TopicPartition("t", 1), TopicPartition("u", 0))
    encoded = administration.encode_partitions(partitions)
    assert administration.decode_partitions("/p", encoded) == partitions
    moves = {TopicPartition("t", 1): (2, 3)}
    assert administration.decode_reassignment("/r", administration.encode_reassignment(moves)) == moves
    assert administration.decode_log_dir_failure("/l", administration.encode_log_dir_failure(2)) == 2


@pytest.mark.parametrize(
    ("resource", "path"),
    [
        (ConfigResource(ConfigKind.TOPIC, "t"), "/config/topics/t"),
        (ConfigResource(ConfigKind.BROKER, ""), "/config/brokers/<default>"),
        (ConfigResource(ConfigKind.BROKER, "1"), "/config/brokers/1"),
        (ConfigResource(ConfigKind.USER, "u/clients/c"), "/config/users/u/clients/c"),
        (ConfigResource(ConfigKind.GROUP, "a b/ü~"), "/config/groups/a%20b%2F%C3%BC~"),
    ],
)
def test_settings_live_where_kafka_keeps_them(resource: ConfigResource, path: str) -> None:
    assert tree.config_path(resource) == path
    assert tree.config_resource(path) == resource


@pytest.mark.parametrize("path", ["/config", "/config/topics", "/config/changes/config_change_1", "/other/x"])
def test_other_paths_are_no_settings(path: str) -> None:
    assert tree.config_resource(path) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["0", "topic", "f"]), inner, max_size=3)
    ),
    max_leaves=8,
)
SOUND = [
    (partial(cluster.decode_broker, epoch=1), cluster.encode_broker(BROKER, 0, {"f": (1, 3)})),
    (partial(cluster.decode_broker, epoch=1), b'{"version":1,"host":"h","port":1}'),
    (cluster.decode_controller, cluster.encode_controller(3, 12)),
    (cluster.decode_cluster_id, cluster.encode_cluster_id("id")),
    (cluster.decode_features, cluster.encode_features({"f": 2})),
    (cluster.decode_producer_ids, cluster.encode_producer_ids(ProducerIdBlock(1, 0, 999))),
    (topics.decode_topic, topics.encode_topic(TOPIC)),
    (topics.decode_state, topics.encode_state(TOPIC.partitions[1], 1)),
    (administration.decode_config, administration.encode_config({"a": "b"})),
    (administration.decode_config_change, b'{"version":2,"entity_path":"topics/t"}'),
    (administration.decode_partitions, administration.encode_partitions([TopicPartition("t", 1)])),
    (administration.decode_reassignment, administration.encode_reassignment({TopicPartition("t", 1): (2,)})),
    (administration.decode_log_dir_failure, administration.encode_log_dir_failure(2)),
]


@given(st.sampled_from(SOUND), st.data())
def test_one_field_that_a_tool_spoiled_is_read_or_named_as_malformed(
    sound: tuple[Callable[[str, bytes], object], bytes], data: st.DataObject
) -> None:
    decode, encoded = sound
    value = json.loads(encoded)
    key = data.draw(st.sampled_from(sorted(value)))
    value[key] = data.draw(JSON)
    with suppress(MalformedNodeError):
        decode("/brokers/ids/1", json.dumps(value).encode())
    del value[key]
    with suppress(MalformedNodeError):
        decode("/brokers/ids/1", json.dumps(value).encode())


@given(st.sampled_from([decode for decode, _ in SOUND]), st.binary(max_size=20) | st.just(b"[" * 100_000))
def test_garbage_is_named_as_malformed(decode: Callable[[str, bytes], object], data: bytes) -> None:
    with suppress(MalformedNodeError):
        decode("/brokers/ids/1", data)
