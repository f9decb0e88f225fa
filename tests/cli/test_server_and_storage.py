"""kafka-server-start, kafka-server-stop and kafka-storage as people type them."""

from __future__ import annotations

import random
import re
import time
from pathlib import Path

import pytest
from tests.cli.processes import SCRIPTS, tool

from barnabas.testing import free_port
from barnabas.testing.process import answers_api_versions

CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qk"


def write_properties(directory: Path, node_id: int, port: int, **more: str) -> Path:
    path = directory / "server.properties"
    lines = {
        "node.id": str(node_id),
        "process.roles": "broker,controller",
        "controller.quorum.voters": f"{node_id}@127.0.0.1:9093",
        "controller.listener.names": "CONTROLLER",
        "listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "log.dirs": str(directory / "data"),
    }
    path.write_text("".join(f"{name}={value}\n" for name, value in (lines | more).items()))
    return path


def wait_for(port: int, answering: bool, deadline_s: float = 60.0) -> None:
    end = time.monotonic() + deadline_s
    while answers_api_versions(port, 0.5) is not answering:
        assert time.monotonic() < end, f"port {port} should {'' if answering else 'not '}answer"
        time.sleep(0.02)


def test_a_broker_starts_in_the_background_and_is_stopped_by_its_id(tmp_path: Path) -> None:
    # An id of its own: other brokers of this user must not be stopped by a test.
    node_id, port = random.randrange(10**6, 10**9), free_port()
    write_properties(tmp_path, node_id, port + 1)
    override = f"listeners=PLAINTEXT://127.0.0.1:{port}"
    started = tool(
        "kafka-server-start.sh", "-daemon", "server.properties", "--override", override, cwd=tmp_path
    )
    try:
        assert started == (0, "", "")
        wait_for(port, answering=True)
        assert f"id={node_id}" in (tmp_path / "logs" / "kafkaServer.out").read_text()
    finally:
        stopped = tool("kafka-server-stop.sh", f"--node-id={node_id}")
    assert stopped.code == 0
    wait_for(port, answering=False)


def test_without_a_file_the_usage_is_kafkas() -> None:
    outcome = tool("kafka-server-start")
    script = SCRIPTS / "kafka-server-start"
    usage = f"USAGE: {script} [-daemon] server.properties [--override property=value]*\n"
    assert outcome == (1, usage, "")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    outcome = tool("kafka-server-start", tmp_path / "nope.properties")
    assert outcome.code == 1
    assert (
        outcome.stderr.splitlines()[-1]
        == f"java.nio.file.NoSuchFileException: {tmp_path / 'nope.properties'}"
    )


def test_a_stray_word_is_refused(tmp_path: Path) -> None:
    path = write_properties(tmp_path, 1, 1)
    outcome = tool("kafka-server-start", path, "stray")
    assert (outcome.code, outcome.stderr.splitlines()[0]) == (1, "Found non argument parameters: stray")


def test_random_ids_are_twenty_two_letters_and_differ() -> None:
    one, two = tool("kafka-storage", "random-uuid"), tool("kafka-storage.sh", "random-uuid")
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]{21}\n", one.stdout)
    assert one.stdout != two.stdout


def test_directories_are_formatted_once_and_described(tmp_path: Path) -> None:
    data = f"{tmp_path / 'd1'},{tmp_path / 'd2'}"
    path = write_properties(tmp_path, 5, 1, **{"log.dirs": data})
    before = tool("kafka-storage", "info", "-c", path)
    assert before == (
        1,
        f"Found problems:\n  {tmp_path}/d1 does not exist\n  {tmp_path}/d2 does not exist\n\n",
        "",
    )
    formatted = tool("kafka-storage", "format", "-t", CLUSTER_ID, "-c", path)
    assert formatted.stdout == (
        f"Formatting metadata directory {tmp_path}/d1 with metadata.version 4.3-IV0.\n"
        f"Formatting data directory {tmp_path}/d2 with metadata.version 4.3-IV0.\n"
    )
    again = tool("kafka-storage", "format", "-t", CLUSTER_ID, "-c", path)
    assert again == (
        1,
        "",
        f"Log directory {tmp_path}/d1 is already formatted. Use --ignore-formatted to ignore this directory "
        "and format the others.\n",
    )
    ignored = tool("kafka-storage", "format", "-t", CLUSTER_ID, "-c", path, "--ignore-formatted")
    assert ignored == (0, "All of the log directories are already formatted.\n", "")
    info = tool("kafka-storage", "info", "-c", path)
    assert re.fullmatch(
        rf"Found log directories:\n  {tmp_path}/d1\n  {tmp_path}/d2\n\n"
        rf"Found metadata: {{cluster.id={CLUSTER_ID}, directory.id=\S{{22}}, node.id=5, version=1}}\n\n",
        info.stdout,
    )


def test_a_value_no_setting_takes_is_found_before_the_first_start(tmp_path: Path) -> None:
    path = write_properties(tmp_path, 5, 1, **{"num.partitions": "x"})
    wrong = "Invalid value x for configuration num.partitions: Not a number of type INT"
    for words in (("info",), ("format", "-t", CLUSTER_ID)):
        outcome = tool("kafka-storage", *words, "-c", path)
        assert outcome == (1, "", f"org.apache.kafka.common.config.ConfigException: {wrong}\n")


def test_what_is_no_directory_is_not_formatted(tmp_path: Path) -> None:
    path = write_properties(tmp_path, 5, 1)
    (tmp_path / "data").write_text("a file")
    outcome = tool("kafka-storage", "format", "-t", CLUSTER_ID, "-c", path)
    assert outcome.code == 1
    assert outcome.stdout == f"I/O error trying to read log directory {tmp_path}/data. Ignoring...\n"
    assert outcome.stderr.splitlines()[-1] == "No available log directories to format."


def test_another_clusters_directory_is_not_taken_over(tmp_path: Path) -> None:
    path = write_properties(tmp_path, 5, 1)
    tool("kafka-storage", "format", "-t", CLUSTER_ID, "-c", path)
    outcome = tool("kafka-storage", "format", "-t", "other", "-c", path, "-g")
    assert outcome.code == 1
    assert outcome.stderr == (
        f"Invalid cluster.id in: {tmp_path}/data/meta.properties. Expected other, but read {CLUSTER_ID}\n"
    )


def test_a_broker_keeps_the_cluster_id_it_was_formatted_with(tmp_path: Path) -> None:
    node_id, port = random.randrange(10**6, 10**9), free_port()
    path = write_properties(tmp_path, node_id, port)
    tool("kafka-storage", "format", "-t", CLUSTER_ID, "-c", path)
    tool("kafka-server-start", "-daemon", path, cwd=tmp_path)
    try:
        wait_for(port, answering=True)
    finally:
        tool("kafka-server-stop", f"--node-id={node_id}")
    wait_for(port, answering=False)
    assert f"cluster.id={CLUSTER_ID}\n" in (tmp_path / "data" / "meta.properties").read_text()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("format", "-c", "x"), "kafka-storage: error: argument --cluster-id/-t is required"),
        ((), "kafka-storage: error: too few arguments"),
        (("info", "-c", "/nowhere/x"), "java.nio.file.NoSuchFileException: /nowhere/x"),
        (("feature-dependencies", "-f", "foo=1"), "Unknown feature: foo"),
    ],
)
def test_what_cannot_be_done_is_refused_in_kafkas_words(words: tuple[str, ...], complaint: str) -> None:
    outcome = tool("kafka-storage", *words)
    assert outcome.code == 1
    assert outcome.stderr.splitlines()[-1] == complaint
