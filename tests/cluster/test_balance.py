"""`barnabas cluster balance`: a broker that came late gets its share, and nothing is lost on the way."""

from __future__ import annotations

import json
import signal
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from tests.cli.processes import Outcome, start_tool, tool
from tests.support.agreement import settle
from tests.support.waiting import eventually

from barnabas import Producer
from barnabas.testing import Cluster
from barnabas.wire import Cluster as Wire
from barnabas.wire.admin import reassignments, topics

RECORDS = 600
VALUE = b"v" * 10_000


@pytest.fixture
def wire(cluster: Cluster) -> Iterator[Wire]:
    with Wire.connect(cluster.bootstrap) as connected:
        for name in topics.names(connected):
            topics.delete(connected, [name])
        settle(cluster)
        yield connected


def lopsided(cluster: Cluster, wire: Wire, name: str) -> None:
    """Eight partitions, all led by broker 0 and followed by broker 1; broker 2 has nothing."""
    topics.create(wire, name, assignment={index: [0, 1] for index in range(8)})
    settle(cluster)
    with Producer(cluster.bootstrap) as producer:
        for number in range(RECORDS):
            producer.send(name, VALUE, key=str(number), partition=number % 8)


def balance(cluster: Cluster, *words: object) -> Outcome:
    return tool("barnabas", "cluster", "balance", "--server", cluster.bootstrap, "--sample", 0, *words)


def described_configs(cluster: Cluster, *entity: str) -> str:
    return tool("kafka-configs", "--bootstrap-server", cluster.bootstrap, "--describe", *entity).stdout


def facts(outcome: Outcome) -> Mapping[str, Any]:
    assert outcome.code == 0, outcome.stderr
    found: Mapping[str, Any] = json.loads(outcome.stdout)
    return found


def replicas(wire: Wire, name: str) -> list[tuple[int, ...]]:
    (topic,) = topics.describe(wire, [name])
    return [tuple(row.replica_nodes) for row in sorted(topic.partitions, key=lambda row: row.partition_index)]


def test_a_dry_run_says_what_would_be_and_moves_nothing(cluster: Cluster, wire: Wire) -> None:
    lopsided(cluster, wire, "dry")
    outcome = balance(cluster, "--dry-run")
    assert outcome.code == 0, outcome.stderr
    assert "dry-0" in outcome.stdout
    assert "Brokers differ from the average by up to 200% now, and by" in outcome.stdout
    assert replicas(wire, "dry") == [(0, 1)] * 8
    planned = facts(balance(cluster, "--dry-run", "--json"))
    assert {move["topic"] for move in planned["moves"]} == {"dry"}
    assert reassignments.ongoing(wire) == {}


def test_what_was_proposed_is_carried_out_and_every_record_is_there(cluster: Cluster, wire: Wire) -> None:
    lopsided(cluster, wire, "late")
    planned = facts(balance(cluster, "--json", "--throttle", "100MB"))
    settle(cluster)
    after = replicas(wire, "late")
    for move in planned["moves"]:
        assert list(after[move["partition"]]) == move["to"]
    held = Counter(broker for row in after for broker in row)
    led = Counter(row[0] for row in after)
    assert max(held.values()) - min(held[broker] for broker in range(3)) <= 1
    assert max(led.values()) - min(led[broker] for broker in range(3)) <= 1
    (topic,) = topics.describe(wire, ["late"])
    assert all(row.leader_id == row.replica_nodes[0] for row in topic.partitions)
    ends = tool("kafka-get-offsets", "--bootstrap-server", cluster.bootstrap, "--topic", "late").stdout
    assert ends.split() == [f"late:{index}:{RECORDS // 8}" for index in range(8)]
    assert facts(balance(cluster, "--dry-run", "--json"))["moves"] == []
    eventually(lambda: "throttled" not in described_configs(cluster, "--topic", "late"))


def test_whoever_interrupts_it_gets_back_what_is_under_way(cluster: Cluster, wire: Wire) -> None:
    lopsided(cluster, wire, "halted")
    words = ("--server", cluster.bootstrap, "--sample", 0, "--throttle", 2048)
    with start_tool("barnabas", "cluster", "balance", *words) as running:
        eventually(lambda: any(row.adding_replicas for row in reassignments.ongoing(wire).values()))
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == 130
    settle(cluster)
    assert reassignments.ongoing(wire) == {}
    assert all(len(row) == 2 for row in replicas(wire, "halted"))
    for entity in (("--topic", "halted"), ("--broker", "0")):
        eventually(lambda entity=entity: "throttled" not in described_configs(cluster, *entity))  # type: ignore[misc]


def test_it_gives_up_where_nothing_arrives(cluster: Cluster, wire: Wire) -> None:
    lopsided(cluster, wire, "stuck")
    outcome = balance(cluster, "--throttle", 1, "--timeout", 2)
    assert outcome.code == 1
    assert "Nothing has arrived for 2 s" in outcome.stderr
    settle(cluster)
    assert reassignments.ongoing(wire) == {}
    assert all(len(row) == 2 for row in replicas(wire, "stuck"))
