"""zookeeper-server-start, -stop and -shell as people type them, on a real ZooKeeper."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.processes import SCRIPTS, tool
from tests.support.zookeeper import ZookeeperServer

from barnabas.java import JavaError, require


@pytest.fixture
def running(tmp_path: Path) -> Iterator[ZookeeperServer]:
    """In the background, from a directory with `zookeeper.properties`."""
    try:
        require(needed_by="this test")
    except JavaError as missing:
        pytest.skip(str(missing))
    server = ZookeeperServer(tmp_path, extra="admin.enableServer=true\n")
    started = tool("zookeeper-server-start.sh", "-daemon", "zookeeper.properties", cwd=tmp_path)
    assert (started.code, started.stdout) == (0, "")
    assert "The admin page on port 8080 is left out" in started.stderr
    try:
        wait_until(server, serving=True)
        yield server
    finally:
        tool("zookeeper-server-stop", str(server.properties))
        wait_until(server, serving=False)


def wait_until(server: ZookeeperServer, *, serving: bool) -> None:
    end = time.monotonic() + 60
    while (server.mode() is not None) is not serving:
        assert time.monotonic() < end, f"should {'' if serving else 'not '}serve"
        time.sleep(0.05)


def test_a_server_in_the_background_is_used_by_the_shell_and_stopped_by_its_file(
    running: ZookeeperServer, tmp_path: Path
) -> None:
    assert "binding to port /127.0.0.1" in (tmp_path / "logs" / "zookeeper.out").read_text()
    script = "create /kafka chroot\ncreate /kafka/a hello\nget /kafka/a\n"
    piped = tool("zookeeper-shell.sh", running.connect, stdin=script)
    assert piped.code == 0
    assert "hello" in piped.stdout.splitlines()
    listed = tool("zookeeper-shell", f"{running.connect}/kafka", "ls", "/")
    assert (listed.code, listed.stdout.splitlines()[-1]) == (0, "[a]")
    missing = tool("zookeeper-shell", running.connect, "get", "/no")
    assert missing.code == 1
    assert "Node does not exist: /no" in missing.stderr
    assert tool("zookeeper-server-stop", str(tmp_path / "other.properties")).stdout == (
        "No zookeeper server to stop\n"
    )
    assert running.mode() == "standalone"
    assert tool("zookeeper-server-stop.sh", "zookeeper.properties", cwd=tmp_path).code == 0
    wait_until(running, serving=False)


def test_an_override_wins_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "zookeeper.properties").write_text("clientPort=2181\n")
    outcome = tool(
        "zookeeper-server-start",
        "zookeeper.properties",
        "--override",
        f"dataDir={tmp_path}",
        "--override",
        "clientPort=",
        cwd=tmp_path,
    )
    assert outcome.code == 2
    assert "zookeeper.properties has no clientPort" in outcome.stderr


@pytest.mark.parametrize(
    ("name", "rest"),
    [
        ("zookeeper-server-start", "[-daemon] zookeeper.properties [--override property=value]*"),
        ("zookeeper-shell", "zookeeper_host:port[/path] [-zk-tls-config-file file] [args...]"),
    ],
)
def test_without_words_the_usage_is_shown(name: str, rest: str) -> None:
    outcome = tool(name)
    assert (outcome.code, outcome.stdout) == (1, f"USAGE: {os.fspath(SCRIPTS / name)} {rest}\n")
