"""What somebody with a shell writes into the tree may be wrong: it costs no broker and no record."""

from __future__ import annotations

import logging

import pytest
from tests.support.batches import Batch
from tests.support.node import NOW_MS, SmallNode
from tests.unit.broker.test_membership import Member

from barnabas.broker.boot import BootError
from barnabas.model.ids import TopicPartition
from barnabas.ports import Create, Delete, Put
from barnabas.store.memory import MemoryStore

PLACE = TopicPartition("trucks", 0)
TOPIC, STATE = "/brokers/topics/trucks", "/brokers/topics/trucks/partitions/0/state"
NOTE = b'{"version":2,"entity_path":"topics/trucks"}'


@pytest.fixture
def member() -> Member:
    member = Member()
    member.small.create_topic("trucks")
    batch = memoryview(bytearray(Batch(timestamp_ms=NOW_MS).encode()))
    member.node.replicas.get("trucks", 0).append(batch, 1, NOW_MS)
    assert member.node.logs.logs[PLACE].log_end_offset == 1
    return member


def note(member: Member, path: str, config: bytes) -> None:
    member.write(
        Put(path, b'{"version":1,"config":' + config + b"}"),
        Create("/config/changes/config_change_", NOTE, sequential=True),
    )


def test_a_value_that_is_none_is_left_out_and_said(member: Member, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        note(member, "/config/topics/trucks", b'{"retention.ms":"rubbish","segment.bytes":"1048576"}')
    assert member.node.replicas.get("trucks", 0).leader_log().config.segment_bytes == 1_048_576
    assert "Invalid value rubbish for configuration retention.ms" in caplog.text
    member.small.restart()
    assert member.small.node.is_ready


@pytest.mark.parametrize("broker", ["<default>", "1"])
def test_settings_of_brokers_that_cannot_be_obeyed_change_nothing(
    member: Member, broker: str, caplog: pytest.LogCaptureFixture
) -> None:
    before = member.node.settings
    with caplog.at_level(logging.WARNING):
        note(member, f"/config/brokers/{broker}", b'{"log.retention.ms":"rubbish"}')
        note(member, f"/config/brokers/{broker}", b'{"listeners":"NOBODY://:1"}')
    assert member.node.settings.integer("log.retention.hours") == before.integer("log.retention.hours")
    assert member.node.settings.listeners == before.listeners
    assert "could not be applied" in caplog.text
    member.small.create_topic("after")
    assert "after" in member.node.image.topics


def test_a_feature_node_that_nobody_can_read_does_not_stop_a_start(member: Member) -> None:
    member.write(Put("/feature", b"{"))
    member.small.restart()
    assert member.small.node.is_ready


@pytest.mark.parametrize("path", [TOPIC, STATE])
def test_a_topic_that_nobody_can_read_keeps_its_records(member: Member, path: str) -> None:
    whole = member.read(path)
    assert whole is not None
    member.write(Put(path, b"{"))
    member.node.controller.on_lost()  # whatever has the tree read again
    member.settle()
    assert "trucks" not in member.node.image.topics
    assert member.node.logs.logs[PLACE].log_end_offset == 1
    member.small.restart()
    assert member.small.node.logs.logs[PLACE].log_end_offset == 1


def test_a_topic_that_was_mended_is_there_again(member: Member) -> None:
    whole = member.read(TOPIC)
    assert whole is not None
    member.write(Put(TOPIC, b"{"))
    member.node.controller.on_lost()
    member.settle()
    member.write(Put(TOPIC, whole.data))
    assert member.node.image.topics["trucks"].partitions[0].leader == 1
    assert member.node.replicas.get("trucks", 0).leader_log().log_end_offset == 1


def test_a_topic_that_nobody_could_read_and_somebody_took_away_is_gone(member: Member) -> None:
    member.write(Put(TOPIC, b"{"))
    member.node.controller.on_lost()
    member.settle()
    member.write(Delete(TOPIC, recursive=True))
    member.node.controller.on_lost()
    member.settle()
    assert PLACE not in member.node.logs.logs


def test_logs_of_a_cluster_that_the_store_has_lost_stop_the_start() -> None:
    """Or one broker would take its own over, and the others delete theirs as nobody's."""
    small = SmallNode(zookeeper_connect="zoo:2181")
    small.create_topic("trucks")
    small.node.logs.close_all(NOW_MS)
    with pytest.raises(BootError, match="ZooKeeper at zoo:2181 knows of no cluster"):
        small.start(MemoryStore())


def test_a_cluster_without_a_readable_name_stops_the_start(member: Member) -> None:
    """Whoever gave it another name would part it from its logs."""
    member.write(Put("/cluster/id", b"{"))
    with pytest.raises(BootError, match=r"^/cluster/id: not JSON.*Correct the node\.$"):
        member.small.restart()


def test_a_folder_that_was_only_formatted_joins_whatever_cluster_there_is() -> None:
    small = SmallNode(zookeeper_connect="zoo:2181")
    cluster_id = small.node.image.cluster_id
    small.node.logs.close_all(NOW_MS)
    small.start(MemoryStore())
    assert small.node.image.cluster_id == cluster_id
