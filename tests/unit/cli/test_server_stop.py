"""Which processes kafka-server-stop takes for brokers, shown on a made-up /proc."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from barnabas.cli.kafka_server_stop import broker_arguments, brokers, matches


def make_process(proc: Path, pid: int, words: list[str], directory: Path) -> None:
    (proc / str(pid)).mkdir(parents=True)
    (proc / str(pid) / "cmdline").write_bytes(b"".join(word.encode() + b"\0" for word in words))
    (proc / str(pid) / "cwd").symlink_to(directory)


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        (["python3", "/x/bin/kafka-server-start", "a.properties"], ("a.properties",)),
        (["python3", "/x/bin/kafka-server-start.sh", "-daemon", "a"], ("-daemon", "a")),
        (["/x/bin/kafka-server-start", "a"], ("a",)),
        (["python3", "-m", "barnabas.runtime.server", "a", "--override", "b=c"], ("a", "--override", "b=c")),
        (["python3", "-X", "dev", "-m", "barnabas.runtime.server"], None),
        (["python3", "/x/bin/barnabas", "run", "--data", "d"], ("--data", "d")),
        (["python3", "/x/bin/barnabas", "topics"], None),
        (["vi", "notes", "kafka-server-start"], None),
        (["grep", "-m", "1", "barnabas.runtime.server"], None),
        (["java", "-cp", "x", "kafka.Kafka", "server.properties"], None),
        ([], None),
    ],
)
def test_only_the_program_makes_a_broker(words: list[str], arguments: tuple[str, ...] | None) -> None:
    assert broker_arguments(words) == arguments


def test_brokers_are_chosen_by_node_id_and_role(tmp_path: Path) -> None:
    proc, home = tmp_path / "proc", tmp_path / "home"
    home.mkdir()
    (home / "one.properties").write_text("node.id=1\nprocess.roles=broker,controller\n")
    (home / "two.properties").write_text("broker.id=2\n")
    make_process(proc, 20, ["python3", "/b/kafka-server-start", "-daemon", "two.properties"], home)
    make_process(proc, 10, ["python3", "/b/kafka-server-start", "one.properties"], home)
    make_process(
        proc, 30, ["python3", "/b/kafka-server-start", "one.properties", "--override", "node.id=3"], home
    )
    make_process(proc, 40, ["vi", "one.properties"], home)
    make_process(proc, 50, ["python3", "/b/kafka-server-start", "gone.properties"], home)
    (proc / "version").write_text("no process")
    found = brokers(proc, os.getuid())
    assert [process.pid for process in found] == [10, 20, 30, 50]

    def chosen(node_id: str | None, role: str | None) -> list[int]:
        return [process.pid for process in found if matches(process, node_id, role)]

    assert chosen("1", None) == [10]
    assert chosen("2", None) == [20]
    assert chosen("3", None) == [30]
    assert chosen(None, "broker,controller") == [10, 30]
    assert chosen(None, None) == [10, 20, 30, 50]


def test_other_peoples_processes_are_left_alone(tmp_path: Path) -> None:
    make_process(tmp_path, 10, ["python3", "/b/kafka-server-start", "a"], tmp_path)
    assert brokers(tmp_path, os.getuid() + 1) == []
