"""Who leads, who is in sync and what the tools say of it while brokers die, stop and return."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest
from tests.cli.processes import Outcome, tool
from tests.support.agreement import settle

from barnabas import Producer
from barnabas.protocol.messages.describe_topic_partitions import DescribeTopicPartitionsResponsePartition
from barnabas.testing import Cluster
from barnabas.wire import Cluster as Wire
from barnabas.wire.admin import topics

REPORTS = ("under-replicated", "under-min-isr", "at-min-isr", "unavailable")


@pytest.fixture(scope="module")
def cluster_settings() -> Mapping[str, object]:
    # A session that ends because the machine is busy would be an election that nobody asked for.
    return {
        "auto.leader.rebalance.enable": "false",
        "replica.lag.time.max.ms": 5000,
        "zookeeper.session.timeout.ms": 6000,
    }


@pytest.fixture
def wire(cluster: Cluster) -> Iterator[Wire]:
    with Wire.connect(cluster.bootstrap) as connected:
        yield connected
    for broker in cluster.brokers:
        if not broker.is_running():
            broker.start()
    cluster.wait_until_whole()


def create(cluster: Cluster, wire: Wire, name: str, replicas: Sequence[int], **configs: str) -> None:
    topics.create(
        wire,
        name,
        assignment={0: list(replicas)},
        configs={key.replace("_", "."): value for key, value in configs.items()},
    )
    settle(cluster)


def partition(wire: Wire, name: str) -> DescribeTopicPartitionsResponsePartition:
    (found,) = topics.describe(wire, [name])
    return found.partitions[0]


def state(wire: Wire, name: str) -> tuple[int, list[int], list[int], list[int]]:
    row = partition(wire, name)
    eligible, last_known = row.eligible_leader_replicas or (), row.last_known_elr or ()
    return row.leader_id, sorted(row.isr_nodes), list(eligible), list(last_known)


def until(what: Callable[[], object], expected: object, patience_s: float = 60) -> None:
    deadline = time.monotonic() + patience_s
    while (found := what()) != expected:
        assert time.monotonic() < deadline, f"{found} does not become {expected}"
        time.sleep(0.05)


def described(cluster: Cluster, report: str) -> set[str]:
    """The topics of which the report shows something."""
    shown = tool(
        "kafka-topics", "--bootstrap-server", cluster.bootstrap, "--describe", f"--{report}-partitions"
    )
    assert shown.code == 0, shown.stderr
    return {line.split("Topic: ")[1].split("\t")[0] for line in shown.stdout.splitlines()}


def elect(cluster: Cluster, kind: str, topic: str) -> Outcome:
    words = ("--election-type", kind, "--topic", topic, "--partition", "0")
    return tool("kafka-leader-election", "--bootstrap-server", cluster.bootstrap, *words)


def test_reports_tell_the_truth_while_brokers_die_and_return(cluster: Cluster, wire: Wire) -> None:
    create(cluster, wire, "three", [0, 1, 2], min_insync_replicas="2")
    create(cluster, wire, "one", [0], min_insync_replicas="1")
    cluster.brokers[0].kill()
    until(lambda: state(wire, "three"), (1, [1, 2], [], []))
    until(lambda: state(wire, "one"), (-1, [], [0], [0]))
    settle(cluster)
    truth = {report: described(cluster, report) & {"three", "one"} for report in REPORTS}
    assert truth == {
        "under-replicated": {"three", "one"},
        "under-min-isr": {"one"},
        "at-min-isr": {"three"},
        "unavailable": {"one"},
    }
    nobody = elect(cluster, "unclean", "one")
    assert (nobody.code, "EligibleLeadersNotAvailableException" in nobody.stdout) == (1, True)
    away = elect(cluster, "preferred", "three")
    assert (away.code, "PreferredLeaderNotAvailableException" in away.stdout) == (1, True)
    cluster.brokers[1].kill()
    until(lambda: state(wire, "three"), (2, [2], [1], []))
    settle(cluster)
    assert "three" in described(cluster, "under-min-isr")
    cluster.brokers[0].start()
    cluster.brokers[1].start()
    until(lambda: state(wire, "three"), (2, [0, 1, 2], [], []))
    until(lambda: state(wire, "one"), (0, [0], [], []))
    for report in ("under-replicated", "under-min-isr", "unavailable"):
        until(lambda report=report: described(cluster, report), set())  # type: ignore[misc]
    back = elect(cluster, "preferred", "three")
    assert back.stdout == "Successfully completed leader election (PREFERRED) for partitions three-0\n"
    settle(cluster)
    assert partition(wire, "three").leader_id == 0
    again = elect(cluster, "preferred", "three")
    assert again.stdout == "Valid replica already elected for partitions three-0\n"


def test_a_broker_that_stops_hands_over_while_records_are_written(cluster: Cluster, wire: Wire) -> None:
    create(cluster, wire, "handed", [1, 0, 2], min_insync_replicas="2")
    before = partition(wire, "handed").leader_epoch
    with Producer(cluster.bootstrap) as producer:
        for number in range(300):
            producer.send("handed", str(number))
            if number == 100:
                producer.flush()
                cluster.brokers[1].stop()
    until(lambda: state(wire, "handed"), (0, [0, 2], [], []))
    assert partition(wire, "handed").leader_epoch == before + 1
    assert "Controlled shutdown succeeded" in cluster.brokers[1].log_text()
    cluster.brokers[1].start()
    until(lambda: state(wire, "handed"), (0, [0, 1, 2], [], []))
    assert partition(wire, "handed").leader_epoch == before + 1


def test_records_are_given_up_only_when_somebody_says_so(cluster: Cluster, wire: Wire) -> None:
    names = ("by-setting", "by-tool")
    for name in names:
        create(cluster, wire, name, [1, 2], min_insync_replicas="1")
    cluster.brokers[2].stop()
    for name in names:
        until(lambda name=name: state(wire, name), (1, [1], [], []))  # type: ignore[misc]
    with Producer(cluster.bootstrap) as producer:
        for name in names:
            producer.send(name, "what broker 2 does not have")
    cluster.brokers[1].stop()
    cluster.brokers[2].start()
    for name in names:
        until(lambda name=name: state(wire, name), (-1, [], [1], [1]))  # type: ignore[misc]
    entity = ("--alter", "--topic", "by-setting", "--add-config", "unclean.leader.election.enable=true")
    assert tool("kafka-configs", "--bootstrap-server", cluster.bootstrap, *entity).code == 0
    until(lambda: state(wire, "by-setting"), (2, [2], [], []))
    assert state(wire, "by-tool")[0] == -1
    elected = elect(cluster, "unclean", "by-tool")
    assert elected.stdout == "Successfully completed leader election (UNCLEAN) for partitions by-tool-0\n"
    cluster.brokers[1].start()
    for name in names:
        until(lambda name=name: state(wire, name), (2, [1, 2], [], []))  # type: ignore[misc]


def test_a_broker_that_runs_registers_again_and_one_that_was_stopped_is_forgotten(
    cluster: Cluster, wire: Wire
) -> None:
    create(cluster, wire, "unregistered", [1, 2])
    before = partition(wire, "unregistered").leader_epoch
    words = ("kafka-cluster", "unregister", "--bootstrap-server", cluster.bootstrap, "--id")
    assert tool(*words, "1").stdout == "Broker 1 is no longer registered.\n"
    until(lambda: state(wire, "unregistered"), (2, [1, 2], [], []))
    assert partition(wire, "unregistered").leader_epoch > before
    cluster.brokers[1].stop()
    settle(cluster, [0, 2])
    gone = tool(*words, "1")
    assert "Broker ID 1 is not currently registered" in gone.stderr
    listed = tool("kafka-cluster", "list-endpoints", "--bootstrap-server", cluster.bootstrap)
    assert [line.split()[0] for line in listed.stdout.splitlines()] == ["ID", "0", "2"]
