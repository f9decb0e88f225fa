"""kafka-reassign-partitions and Kafka's own tool on the same broker: the same lines and exit codes.

A single broker cannot move a replica; what it can do is refuse, complete at once, and list nothing. What is
under way is looked at on a cluster. What differs on purpose: usages and stack traces.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import Broker, Outcome, RunJava, RunTool

from barnabas import Producer
from barnabas.testing import Cluster as RealCluster
from barnabas.wire import Cluster
from barnabas.wire.admin import topics

pytestmark = pytest.mark.java

CLASSES = {
    "kafka-reassign-partitions": "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
    "kafka-topics": "org.apache.kafka.tools.TopicCommand",
    "kafka-configs": "kafka.admin.ConfigCommand",
}

# What is under way: {t} moves from broker 0 to 1 and 2, slowly, as the first line asks.
MOVING = """
    --execute --file {d}/move.json --throttle 1024
    --list
    kafka-topics --describe --topic {t}
    kafka-configs --describe --topic {t}
    kafka-configs --describe --broker 1
    --execute --file {d}/move.json
    --verify --file {d}/move.json
    --execute --file {d}/other.json --additional --disallow-replication-factor-change
    --execute --file {d}/move.json --additional --throttle 2048
    kafka-configs --describe --topic {t}
    --list
    --cancel --file {d}/move.json
    --verify --file {d}/move.json
    --list
"""

_LONG = {"--file": "--reassignment-json-file", "--topics": "--topics-to-move-json-file"}

# A line without a tool is one of kafka-reassign-partitions.
# {t} is a topic of two partitions, {d} a directory with files, {i} the broker's id.
SCENARIOS = {
    "execute and verify": """
        --list
        --verify --file {d}/here.json
        --execute --file {d}/here.json
        --execute --file {d}/here.json --throttle 5000000
        kafka-configs --describe --topic {t}
        kafka-configs --describe --broker {i}
        --verify --file {d}/here.json --preserve-throttles
        kafka-configs --describe --topic {t}
        --verify --file {d}/here.json
        kafka-configs --describe --topic {t}
        kafka-configs --describe --broker {i}
        --cancel --file {d}/here.json
        --cancel --file {d}/here.json --preserve-throttles
        --execute --file {d}/one.json --additional
        --execute --file {d}/one.json --disallow-replication-factor-change
        --execute --file {d}/one.json --replica-alter-log-dirs-throttle 99
        kafka-topics --describe --topic {t}
    """,
    "generate": """
        --generate --topics {d}/topics.json --broker-list {i}
        --generate --topics {d}/topics.json --broker-list {i} --disable-rack-aware
        --generate --topics {d}/topics.json --broker-list 77
        --generate --topics {d}/topics.json --broker-list x
        --generate --topics {d}/topics.json --broker-list 1,1
        --generate --topics {d}/topics-twice.json --broker-list {i}
        --generate --topics {d}/topics-none.json --broker-list {i}
        --generate --topics {d}/topics-field.json --broker-list {i}
        --generate --topics {d}/bad.json --broker-list {i}
        --generate --topics {d}/empty.json --broker-list {i}
    """,
    "what cannot be moved": """
        --execute --file {d}/nobody.json
        --execute --file {d}/unknown.json
        --execute --file {d}/beyond.json
        --verify --file {d}/unknown.json --preserve-throttles
        --verify --file {d}/nobody.json --preserve-throttles
        --cancel --file {d}/unknown.json --preserve-throttles
        --execute --file {d}/empty.json
        --execute --file {d}/no-replicas.json
        --execute --file {d}/twice.json
        --execute --file {d}/doubled.json
        --execute --file {d}/version.json
        --execute --file {d}/field.json
        --execute --file {d}/word.json
        --execute --file {d}/list.json
        --execute --file {d}/log-dirs.json
        --execute --file {d}/missing.json
    """,
    "mistakes on the command line": """
        --nothing
        --list --verify
        --both --bootstrap-controller localhost:1 --list
        --execute
        --generate --broker-list 1
        --list --throttle 1
        --verify --file x --additional
        --bootstrap-controller localhost:1 --verify --file x
        --execute --file x --preserve-throttles
    """,
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_line_is_answered_as_kafka_answers_it(
    name: str, broker: Broker, prefix: str, run_tool: RunTool, run_java: RunJava, tmp_path: Path
) -> None:
    with Cluster.connect(broker.bootstrap) as cluster:
        (node,) = cluster.brokers()
        for who in ("ours", "java"):
            topics.create(cluster, f"{prefix}{who}", partitions=2)
            _write_files(tmp_path / who, f"{prefix}{who}", node.node_id)
    different = {}
    for line in SCENARIOS[name].strip().splitlines():
        answers = {}
        for who in ("ours", "java"):
            topic, directory = f"{prefix}{who}", tmp_path / who
            words = _words(line.format(t=topic, d=directory, i=node.node_id), broker.bootstrap)
            outcome = run_tool(*words) if who == "ours" else run_java(CLASSES[words[0]], *words[1:])
            answers[who] = _comparable(outcome, topic, str(directory))
        if answers["ours"] != answers["java"]:
            different[line.strip()] = answers
    assert different == {}


@pytest.fixture(scope="module")
def cluster() -> Iterator[RealCluster]:
    with RealCluster(3) as running:
        yield running


def test_what_is_under_way_is_shown_and_taken_back_as_kafka_does(
    cluster: RealCluster, run_tool: RunTool, run_java: RunJava, tmp_path: Path
) -> None:
    with Cluster.connect(cluster.bootstrap) as wire:
        answers: dict[str, list[object]] = {"ours": [], "java": []}
        for who, seen in answers.items():
            topic, directory = f"moving-{who}", tmp_path / who
            topics.create(wire, topic, assignment={0: [0]})
            _fill(cluster, topic)
            _write_moves(directory, topic)
            for line in MOVING.strip().splitlines():
                words = _words(line.format(t=topic, d=directory), cluster.bootstrap)
                outcome = run_tool(*words) if who == "ours" else run_java(CLASSES[words[0]], *words[1:])
                seen.append((line.strip(), _comparable(outcome, topic, str(directory))))
    assert answers["ours"] == answers["java"]
    assert "adding: 1,2. removing: 0." in str(answers["ours"][1])


def test_a_cluster_on_zookeeper_has_no_quorum_to_describe(cluster: RealCluster, run_java: RunJava) -> None:
    words = ("--bootstrap-server", cluster.bootstrap, "describe", "--status")
    answer = run_java("org.apache.kafka.tools.MetadataQuorumCommand", *words)
    assert (answer.code, answer.stdout) == (1, "")
    assert "UnsupportedVersionException: The node does not support DESCRIBE_QUORUM" in answer.stderr


def _fill(cluster: RealCluster, topic: str) -> None:
    """More than one fetch brings: the first is let through before its size is known."""
    with Producer(cluster.bootstrap) as producer:
        for _ in range(400):
            producer.send(topic, b"v" * 10_000)


def _write_moves(directory: Path, topic: str) -> None:
    directory.mkdir()
    for name, replicas in {"move": [1, 2], "other": [2]}.items():
        row = {"topic": topic, "partition": 0, "replicas": replicas}
        (directory / f"{name}.json").write_text(json.dumps({"partitions": [row]}))


def _words(line: str, bootstrap: str) -> list[str]:
    words = [_LONG.get(word, word) for word in shlex.split(line)]
    if words[0].startswith("--"):
        words.insert(0, "kafka-reassign-partitions")
    if "--bootstrap-controller" not in words or "--both" in words:
        words[1:1] = ["--bootstrap-server", bootstrap]
    return [word for word in words if word not in {"--both", "--nothing"}]


def _comparable(outcome: Outcome, topic: str, directory: str) -> tuple[int, str, str]:
    out, err = (_plain(text, topic, directory) for text in (outcome.stdout, outcome.stderr))
    return outcome.code, out, err


def _plain(text: str, topic: str, directory: str) -> str:
    text = re.sub(r"\n*Option +Description *\n.*", "\n<usage>", text, flags=re.DOTALL)
    kept = [
        line for line in text.splitlines() if not re.match(r"\s+at |\s+\.\.\. \d+ more|Caused by: ", line)
    ]
    text = "\n".join(kept).strip().replace(topic, "TOPIC").replace(directory, "DIRECTORY")
    return re.sub(r"TopicId: \S{22}", "TopicId: ID", text)


def _write_files(directory: Path, topic: str, node_id: int) -> None:
    directory.mkdir()

    def row(partition: int, *replicas: int, **more: object) -> dict[str, object]:
        return {"topic": topic, "partition": partition, "replicas": list(replicas), **more}

    here, other = row(0, node_id), row(1, node_id)
    documents: dict[str, object] = {
        "here": {"version": 1, "partitions": [other, here]},
        "one": {"partitions": [row(0, node_id, log_dirs=["any"])]},
        "nobody": {"partitions": [row(0, node_id, 77)]},
        "unknown": {"partitions": [here | {"topic": f"{topic}-nope"}]},
        "beyond": {"partitions": [row(9, node_id)]},
        "no-replicas": {"partitions": [row(0)]},
        "twice": {"partitions": [here, other, here]},
        "doubled": {"partitions": [row(0, node_id, node_id)]},
        "version": {"version": 2, "partitions": [here]},
        "field": {"partitions": [{"topic": topic, "partition": 0}]},
        "word": {"partitions": [{"topic": topic, "partition": "zero", "replicas": [1]}]},
        "list": [],
        "log-dirs": {"partitions": [row(0, node_id, log_dirs=["any", "any"])]},
        "empty": {},
        "topics": {"version": 1, "topics": [{"topic": topic}]},
        "topics-twice": {"topics": [{"topic": topic}, {"topic": topic}]},
        "topics-none": {"topics": [{"topic": f"{topic}-nope"}]},
        "topics-field": {"topics": [{"name": topic}]},
    }
    for name, document in documents.items():
        (directory / f"{name}.json").write_text(json.dumps(document))
    (directory / "bad.json").write_text("{nonsense")
