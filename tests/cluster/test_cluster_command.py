"""`barnabas cluster`: one command starts it, what dies comes back, and what is wrong is said.

One cluster for all: every test finds it whole and leaves it whole."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.processes import Outcome, tool
from tests.support.waiting import eventually
from tests.support.zookeeper import need_java

from barnabas.testing import free_port
from barnabas.wire import Cluster
from barnabas.wire.admin import topics

PATIENCE_S = 60


class Local:
    """A cluster in a directory, through the command line alone."""

    def __init__(self, data: Path) -> None:
        self.data = data

    def run(self, verb: str, *words: object) -> Outcome:
        return tool("barnabas", "cluster", verb, "--data", self.data, *words)

    def start(self, *words: object) -> str:
        """The bootstrap list."""
        outcome = self.run("start", *words)
        assert outcome.code == 0, outcome
        return outcome.stdout.splitlines()[-1]

    def status(self) -> dict[str, Any]:
        outcome = self.run("status", "--json")
        found: dict[str, Any] = json.loads(outcome.stdout)
        assert found["healthy"] == (outcome.code == 0)
        return found

    def row(self, broker: int) -> dict[str, Any]:
        return next(row for row in self.status()["brokers"] if row["broker"] == broker)

    def wait_until_well(self) -> None:
        eventually(lambda: self.status()["healthy"], PATIENCE_S)


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    need_java()
    local = Local(tmp_path_factory.mktemp("cluster"))
    try:
        bootstrap = local.start(
            "--brokers", 3, "--port", free_port(5), "--zookeeper-port", free_port(),
            "--racks", "a,b", "--override", "num.partitions=5",
        )  # fmt: skip
        with Cluster.connect(bootstrap) as cluster:
            topics.create(cluster, "kept")
        local.wait_until_well()
        yield local
    finally:
        local.run("stop")


def bootstrap_of(local: Local) -> str:
    return ",".join(row["address"] for row in local.status()["brokers"])


def test_topics_have_three_copies_on_three_brokers_in_their_racks(local: Local) -> None:
    rows = local.status()["brokers"][:3]
    assert [row["rack"] for row in rows] == ["a", "b", "a"]
    with Cluster.connect(bootstrap_of(local)) as cluster:
        (kept,) = cluster.metadata(["kept"]).topics
    assert [sorted(partition.replica_nodes) for partition in kept.partitions] == [[0, 1, 2]] * 5


def test_the_table_marks_one_controller(local: Local) -> None:
    printed = local.run("status").stdout
    assert printed.splitlines()[0].split()[:3] == ["broker", "pid", "address"]
    assert sum(line.split()[1:2] == ["*"] for line in printed.splitlines()) == 1
    assert printed.endswith("All is well.\n")


def test_a_broker_that_is_killed_comes_back(local: Local) -> None:
    before = local.row(1)["pid"]
    killed = local.run("kill", 1)
    assert killed.stdout == f"Broker 1, process {before}, was killed. The supervisor brings it back.\n"
    eventually(lambda: local.row(1)["pid"] not in {before, None}, PATIENCE_S)
    local.wait_until_well()


def test_zookeeper_that_is_killed_comes_back(local: Local) -> None:
    running = json.loads((local.data / "running.json").read_text())
    before = running["zookeeper"]["pid"]
    os.kill(before, signal.SIGKILL)
    eventually(lambda: _zookeeper_pid(local) not in {before, None}, PATIENCE_S)
    local.wait_until_well()
    with Cluster.connect(bootstrap_of(local)) as cluster:  # what needs a decision is decided again
        topics.create(cluster, "after-zookeeper")
        eventually(lambda: "after-zookeeper" in topics.names(cluster), PATIENCE_S)
        topics.delete(cluster, ["after-zookeeper"])


def _zookeeper_pid(local: Local) -> int | None:
    pid: int | None = json.loads((local.data / "running.json").read_text())["zookeeper"]["pid"]
    return pid


@pytest.mark.parametrize(("words", "state"), [(["stop"], "stopped"), (["kill", "--stay-down"], "stopped")])
def test_a_broker_stays_down_until_it_is_started(local: Local, words: list[str], state: str) -> None:
    assert local.run(words[0], "--broker", 2, *words[1:]).code == 0
    row = local.row(2)
    assert (row["state"], row["pid"]) == (state, None)
    status = local.run("status")
    assert status.code == 1
    assert "broker 2 is stopped" in status.stdout
    eventually(
        lambda: any("under-replicated" in problem for problem in local.status()["problems"]), PATIENCE_S
    )
    local.start("--broker", 2)
    local.wait_until_well()


def test_a_second_start_says_that_it_runs(local: Local) -> None:
    again = local.run("start")
    assert again.code == 1
    assert "already runs" in again.stderr
    assert bootstrap_of(local) in again.stderr


def test_an_unknown_broker_is_said(local: Local) -> None:
    outcome = local.run("kill", "--broker", 77)
    assert outcome.code == 1
    assert outcome.stderr.startswith("There is no broker 77 in this cluster; there are 0, 1, 2")


def test_processes_outlive_their_supervisor_and_the_next_one_goes_on_with_them(local: Local) -> None:
    before = [row["pid"] for row in local.status()["brokers"]]
    os.kill(int((local.data / "supervisor.pid").read_text()), signal.SIGKILL)
    eventually(lambda: "nobody supervises it" in local.status()["problems"], PATIENCE_S)
    local.start()
    assert [row["pid"] for row in local.status()["brokers"]] == before


def test_what_was_stopped_starts_again_with_its_data_and_ports(local: Local) -> None:
    before = bootstrap_of(local)
    (controller,) = [row["broker"] for row in local.status()["brokers"] if row["controller"]]
    assert local.run("stop").stdout == "The cluster is stopped.\n"
    asked = re.findall(r"(\S+) is asked to stop", (local.data / "supervisor.log").read_text())
    assert asked[-2:] == [f"broker-{controller}", "zookeeper"]
    assert {row["state"] for row in local.status()["brokers"]} == {"dead"}
    assert "is not running" in local.run("stop").stderr
    assert local.start() == before
    with Cluster.connect(before) as cluster:
        assert "kept" in topics.names(cluster)
    local.wait_until_well()


def test_a_broker_is_added_with_the_next_id(local: Local) -> None:
    before = len(local.status()["brokers"])
    added = local.run("add-broker", "--rack", "c")
    assert added.code == 0, added
    rows = local.status()["brokers"]
    assert [row["broker"] for row in rows] == list(range(before + 1))
    assert (rows[-1]["rack"], rows[-1]["state"]) == ("c", "serves")
    assert added.stdout == bootstrap_of(local) + "\n"


# --- what cannot start ---


def test_a_wrong_setting_is_said_and_nothing_is_left_behind(tmp_path: Path) -> None:
    need_java()
    local = Local(tmp_path)
    ports = ("--port", free_port(4), "--zookeeper-port", free_port())
    outcome = local.run("start", "--brokers", 1, *ports, "--override", "log.segment.bytes=many")
    assert outcome.code == 1
    assert "broker 0 did not start: " in outcome.stderr
    assert "log.segment.bytes" in outcome.stderr
    assert "is not running" in local.run("stop").stderr


def test_a_directory_without_a_cluster_is_said(tmp_path: Path) -> None:
    for verb in ("status", "stop", "add-broker"):
        outcome = Local(tmp_path).run(verb)
        assert (outcome.code, "holds no cluster" in outcome.stderr) == (1, True), outcome


def test_without_java_what_to_install_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    outcome = Local(tmp_path).run("start", "--port", free_port(4), "--zookeeper-port", free_port())
    assert outcome.code == 1
    assert "barnabas cluster needs Java 17 or newer" in outcome.stderr
    assert "apt-get install" in outcome.stderr
