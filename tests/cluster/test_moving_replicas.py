"""Replicas move from broker to broker while records are written, and nobody notices but the disks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.cli.processes import Outcome, tool
from tests.support.agreement import settle
from tests.support.waiting import eventually as until

from barnabas import Consumer, Producer
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.describe_topic_partitions import DescribeTopicPartitionsResponsePartition
from barnabas.testing import Cluster
from barnabas.wire import Cluster as Wire
from barnabas.wire.admin import reassignments, topics

TOOL = "kafka-reassign-partitions"
# Slow enough that a move of these topics does not end by itself while a test looks at it.
SLOWLY = 1024
VALUE = b"v" * 10_000


@pytest.fixture
def wire(cluster: Cluster) -> Iterator[Wire]:
    with Wire.connect(cluster.bootstrap) as connected:
        yield connected


def plan_file(folder: Path, **topic_replicas: Sequence[Sequence[int]]) -> Path:
    rows = [
        {"topic": name, "partition": index, "replicas": list(replicas)}
        for name, lists in topic_replicas.items()
        for index, replicas in enumerate(lists)
    ]
    path = folder / "plan.json"
    path.write_text(json.dumps({"version": 1, "partitions": rows}))
    return path


def reassign(cluster: Cluster, action: str, *words: object) -> Outcome:
    return tool(TOOL, "--bootstrap-server", cluster.bootstrap, f"--{action}", *words)


def partitions(wire: Wire, name: str) -> list[DescribeTopicPartitionsResponsePartition]:
    (found,) = topics.describe(wire, [name])
    return sorted(found.partitions, key=lambda row: row.partition_index)


def fill(cluster: Cluster, topic: str) -> None:
    """More than one fetch brings: the first is let through before its size is known."""
    with Producer(cluster.bootstrap) as producer:
        for _ in range(500):
            producer.send(topic, VALUE, partition=0)


def described_configs(cluster: Cluster, *entity: str) -> str:
    return tool("kafka-configs", "--bootstrap-server", cluster.bootstrap, "--describe", *entity).stdout


def holders(cluster: Cluster, name: str) -> set[int]:
    """Brokers that have the topic's first partition on their disks."""
    return {
        broker_id
        for broker_id, broker in enumerate(cluster.brokers)
        if (broker.directory / "data" / f"{name}-0").exists()
    }


def test_a_topic_moves_while_it_is_written_and_read(cluster: Cluster, wire: Wire, tmp_path: Path) -> None:
    topics.create(wire, "busy", assignment={0: [0, 1], 1: [1, 0]})
    settle(cluster)
    plan = plan_file(tmp_path, busy=[[2, 1], [0, 2]])
    with Producer(cluster.bootstrap) as producer:
        for number in range(200):
            producer.send("busy", str(number), partition=number % 2)
        begun = reassign(cluster, "execute", "--reassignment-json-file", plan)
        assert begun.code == 0, begun.stdout
        assert (
            begun.stdout.splitlines()[-1] == "Successfully started partition reassignments for busy-0,busy-1"
        )
        number = 200
        while reassignments.ongoing(wire) or number < 1000:
            producer.send("busy", str(number), partition=number % 2)
            number += 1
    verified = reassign(cluster, "verify", "--reassignment-json-file", plan)
    assert "Reassignment of partition busy-0 is completed." in verified.stdout
    settle(cluster)
    assert [list(row.replica_nodes) for row in partitions(wire, "busy")] == [[2, 1], [0, 2]]
    assert all(row.leader_id in row.replica_nodes for row in partitions(wire, "busy"))
    with Consumer(cluster.bootstrap, "busy", start="earliest") as consumer:
        seen = [int(consumer.poll(60).value) for _ in range(number)]  # type: ignore[union-attr]
    for parity in (0, 1):
        assert [one for one in seen if one % 2 == parity] == list(range(parity, number, 2))
    until(lambda: holders(cluster, "busy") == {1, 2})


def test_a_throttled_move_is_listed_may_be_taken_back_and_leaves_no_throttle(
    cluster: Cluster, wire: Wire, tmp_path: Path
) -> None:
    topics.create(wire, "slow", assignment={0: [0]})
    settle(cluster)
    fill(cluster, "slow")
    plan = plan_file(tmp_path, slow=[[1, 2]])
    file = ("--reassignment-json-file", plan)
    assert reassign(cluster, "execute", *file, "--throttle", SLOWLY).code == 0
    assert "slow-0: replicas: 1,2,0. adding: 1,2. removing: 0." in reassign(cluster, "list").stdout
    described = tool("kafka-topics", "--bootstrap-server", cluster.bootstrap, "--describe", "--topic", "slow")
    assert "Replicas: 1,2,0" in described.stdout
    assert re.search(r"Adding Replicas: 1,2\s+Removing Replicas: 0", described.stdout)
    refused = reassign(cluster, "execute", *file)
    assert refused.code == 1
    assert refused.stdout.startswith("Cannot execute because there is an existing partition assignment.")
    verified = reassign(cluster, "verify", *file)
    assert "Reassignment of partition slow-0 is still in progress." in verified.stdout
    cancelled = reassign(cluster, "cancel", *file)
    assert cancelled.stdout.splitlines() == [
        "Successfully cancelled partition reassignment for: slow-0",
        "None of the specified partition moves are active.Clearing broker-level throttles on brokers 0,1,2",
        "Clearing topic-level throttles on topic slow",
    ]
    settle(cluster)
    (row,) = partitions(wire, "slow")
    assert (list(row.replica_nodes), list(row.isr_nodes), row.leader_id) == ([0], [0], 0)
    until(lambda: holders(cluster, "slow") == {0})
    for entity in (("--topic", "slow"), ("--broker", "0"), ("--broker", "1")):
        until(lambda entity=entity: "throttled" not in described_configs(cluster, *entity))  # type: ignore[misc]


def test_a_throttle_that_is_raised_lets_the_move_end(cluster: Cluster, wire: Wire, tmp_path: Path) -> None:
    topics.create(wire, "raised", assignment={0: [0]})
    settle(cluster)
    fill(cluster, "raised")
    file = ("--reassignment-json-file", plan_file(tmp_path, raised=[[1]]))
    assert reassign(cluster, "execute", *file, "--throttle", SLOWLY).code == 0
    assert TopicPartition("raised", 0) in reassignments.ongoing(wire)
    raised = reassign(cluster, "execute", *file, "--throttle", 100_000_000, "--additional")
    assert raised.code == 0, raised.stdout
    until(lambda: not reassignments.ongoing(wire))
    assert "is completed." in reassign(cluster, "verify", *file).stdout
    settle(cluster)
    (row,) = partitions(wire, "raised")
    assert (list(row.replica_nodes), row.leader_id) == ([1], 1)


def test_what_execute_prints_leads_back(cluster: Cluster, wire: Wire, tmp_path: Path) -> None:
    topics.create(wire, "back", assignment={0: [0, 1]})
    settle(cluster)
    begun = reassign(cluster, "execute", "--reassignment-json-file", plan_file(tmp_path, back=[[1, 2]]))
    (saved,) = (line for line in begun.stdout.splitlines() if line.startswith("{"))
    assert str(cluster.brokers[0].directory) in saved
    until(lambda: not reassignments.ongoing(wire))
    settle(cluster)
    (tmp_path / "saved.json").write_text(saved)
    rolled = reassign(cluster, "execute", "--reassignment-json-file", tmp_path / "saved.json")
    assert rolled.code == 0, rolled.stdout
    until(lambda: not reassignments.ongoing(wire))
    settle(cluster)
    assert list(partitions(wire, "back")[0].replica_nodes) == [0, 1]
    verified = reassign(cluster, "verify", "--reassignment-json-file", tmp_path / "saved.json")
    assert "Reassignment of replica back-0-0 completed successfully." in verified.stdout


def test_what_generate_proposes_can_be_executed(cluster: Cluster, wire: Wire, tmp_path: Path) -> None:
    topics.create(wire, "spread", assignment={index: [0] for index in range(6)})
    settle(cluster)
    (tmp_path / "topics.json").write_text(json.dumps({"topics": [{"topic": "spread"}]}))
    words = ("--topics-to-move-json-file", tmp_path / "topics.json", "--broker-list", "0,1,2")
    proposed = reassign(cluster, "generate", *words).stdout.splitlines()[-1]
    (tmp_path / "proposed.json").write_text(proposed)
    assert reassign(cluster, "execute", "--reassignment-json-file", tmp_path / "proposed.json").code == 0
    until(lambda: not reassignments.ongoing(wire))
    settle(cluster)
    assert sorted(row.replica_nodes[0] for row in partitions(wire, "spread")) == [0, 0, 1, 1, 2, 2]


def test_a_move_that_a_kafka_2_tool_orders_in_zookeeper_is_carried_out(cluster: Cluster, wire: Wire) -> None:
    topics.create(wire, "ordered", assignment={0: [0]})
    settle(cluster)
    order = json.dumps(
        {"version": 1, "partitions": [{"topic": "ordered", "partition": 0, "replicas": [2]}]},
        separators=(",", ":"),
    )
    shell = ("zookeeper-shell", cluster.zookeeper_connect)
    created = tool(*shell, "create", "/admin/reassign_partitions", order)
    assert created.code == 0, created.stderr

    def is_done() -> bool:
        return "reassign_partitions" not in tool(*shell, "ls", "/admin").stdout

    until(is_done)
    settle(cluster)
    (row,) = partitions(wire, "ordered")
    assert (list(row.replica_nodes), row.leader_id) == ([2], 2)


def test_the_tool_finds_its_brokers_in_zookeeper(cluster: Cluster) -> None:
    listed = tool(TOOL, "--zookeeper", cluster.zookeeper_connect, "--list")
    assert (listed.code, listed.stdout) == (0, "No partition reassignments found.\n")


def test_a_move_goes_on_when_the_controller_is_killed(cluster: Cluster, wire: Wire, tmp_path: Path) -> None:
    controller = wire.metadata(()).controller_id
    source, target = (broker for broker in range(3) if broker != controller)
    topics.create(wire, "orphan", assignment={0: [source]})
    settle(cluster)
    fill(cluster, "orphan")
    file = ("--reassignment-json-file", plan_file(tmp_path, orphan=[[target]]))
    assert reassign(cluster, "execute", *file, "--throttle", SLOWLY).code == 0
    cluster.brokers[controller].kill()
    until(lambda: wire.metadata(()).controller_id in {source, target})
    assert list(reassignments.ongoing(wire)) == [TopicPartition("orphan", 0)]
    cluster.brokers[controller].start()
    cluster.wait_until_whole()
    raised = reassign(cluster, "execute", *file, "--throttle", 100_000_000, "--additional")
    assert raised.code == 0, raised.stdout
    until(lambda: not reassignments.ongoing(wire))
    settle(cluster)
    (row,) = partitions(wire, "orphan")
    assert (list(row.replica_nodes), row.leader_id) == ([target], target)
    assert reassign(cluster, "verify", *file).code == 0
