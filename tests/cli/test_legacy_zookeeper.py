"""`--zookeeper host:2181` of Kafka 2.x's tools, on a broker that is registered there."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.processes import tool
from tests.support.zookeeper import ZookeeperServer

from barnabas.cli.support.registered_brokers import bootstrap_of
from barnabas.ports import Get
from barnabas.store.asking import Asking
from barnabas.store.zookeeper import ZookeeperStore
from barnabas.store.zookeeper_options import ZookeeperOptions
from barnabas.testing import free_port


def test_a_topic_is_written_and_read_without_naming_a_broker(
    broker_on_zookeeper: str, prefix: str, tmp_path: Path
) -> None:
    topic = f"{prefix}mytopic"
    where = ("--zookeeper", broker_on_zookeeper)
    created = tool("kafka-topics", *where, "--create", "--topic", topic, "--partitions", "1")
    assert (created.code, created.stdout) == (0, f"Created topic {topic}.\n")
    broker = ("--bootstrap-server", bootstrap_of(broker_on_zookeeper))
    tool("kafka-console-producer", *broker, "--topic", topic, stdin="one\ntwo\n")
    (tmp_path / "my_own_config.properties").write_text("group.id=mine\n")
    words = ("--topic", topic, "--from-beginning", "--max-messages", "2")
    config = ("--consumer.config", tmp_path / "my_own_config.properties")
    read = tool("kafka-console-consumer.sh", *where, *words, *config)
    assert (read.code, read.stdout) == (0, "one\ntwo\n")
    listed = tool("kafka-consumer-groups", *where, "--list")
    assert "mine" in listed.stdout.splitlines()
    altered = tool(
        "kafka-configs", f"--zookeeper={broker_on_zookeeper}", "--alter", "--entity-type", "topics",
        "--entity-name", topic, "--add-config", "retention.ms=1000",
    )  # fmt: skip
    assert altered.stdout == f"Completed updating config for topic {topic}.\n"


def test_a_topics_settings_are_altered_and_forgotten(broker_on_zookeeper: str, prefix: str) -> None:
    topic = f"{prefix}mytopic"
    where = ("--zookeeper", broker_on_zookeeper)
    tool("kafka-topics", *where, "--create", "--topic", topic, "--partitions", "1")
    tool("kafka-topics", *where, "--alter", "--topic", topic, "--config", "retention.ms=72000")
    described = tool("kafka-topics", *where, "--describe", "--topic", topic)
    assert "retention.ms=72000" in described.stdout
    tool("kafka-topics", *where, "--alter", "--topic", topic, "--delete-config", "retention.ms")
    described = tool("kafka-topics", *where, "--describe", "--topic", topic)
    assert "retention.ms" not in described.stdout


def test_where_no_broker_is_registered_that_is_said_and_nothing_made(zookeeper: ZookeeperServer) -> None:
    outcome = tool("kafka-topics", "--zookeeper", f"{zookeeper.connect}/nobody", "--list")
    assert outcome.code == 1
    assert f"No broker is registered in ZooKeeper at {zookeeper.connect}/nobody" in outcome.stderr
    with Asking(ZookeeperStore(ZookeeperOptions(zookeeper.connect))) as asking:
        assert asking.ask([Get("/nobody")]) == (None,)


def test_where_no_zookeeper_is_that_is_said() -> None:
    outcome = tool("kafka-topics", "--zookeeper", f"127.0.0.1:{free_port()}", "--list")
    assert outcome.code == 1
    _, sentence = outcome.stderr.splitlines()
    assert sentence.startswith("No connection to ZooKeeper at 127.0.0.1:")
    assert sentence.endswith("or correct --zookeeper.")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--zookeeper", "a:1", "--bootstrap-server", "b:2", "--list"), "Only one of --bootstrap-server or"),
        (("--list", "--zookeeper"), "Option zookeeper requires an argument"),
        (("--zookeeper", "a:x", "--list"), "--zookeeper=a:x is no list of servers"),
    ],
)
def test_a_line_that_cannot_be_read_is_answered(words: tuple[str, ...], said: str) -> None:
    outcome = tool("kafka-topics", *words)
    assert outcome.code == 1
    assert said in outcome.stderr
