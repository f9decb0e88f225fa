"""The last task of the notes, on one machine: an ensemble of three by our scripts, and a broker on it.

As written it cannot run: its server numbers do not match its myid files, and `dataDir` and `clientPort` are
missing. That is said; corrected, with ports in place of three machines, it runs."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cli.processes import tool
from tests.support.zookeeper import ZookeeperServer

from barnabas.testing import Broker, free_port

AS_WRITTEN = """\
maxClientCnxns=60
admin.enableServer=true
admin.serverPort=8080
tickTime=2000
initLimit=10
syncLimit=5
server.0=kafka1.local:2888:3888
server.1=kafka2.local:2888:3888
server.2=kafka3.local:2888:3888
"""


def test_as_written_each_mistake_is_said(tmp_path: Path) -> None:
    file = tmp_path / "zookeeper.properties"
    file.write_text(AS_WRITTEN)
    (tmp_path / "myid").write_text("3\n")
    start = ("zookeeper-server-start.sh", file)
    assert "has no dataDir" in tool(*start).stderr
    file.write_text(f"{AS_WRITTEN}dataDir={tmp_path}\n")
    assert "has no clientPort" in tool(*start).stderr
    file.write_text(f"{AS_WRITTEN}dataDir={tmp_path}\nclientPort=2181\n")
    assert "myid says 3, but zookeeper.properties lists the servers 0, 1 and 2" in tool(*start).stderr


@pytest.fixture
def ensemble(tmp_path: Path, zookeeper: ZookeeperServer) -> Iterator[list[ZookeeperServer]]:
    """Three, numbered from 1 as their myid files are. The shared one is asked for: it skips without Java."""
    lines = [f"server.{number}=127.0.0.1:{free_port()}:{free_port()}" for number in (1, 2, 3)]
    corrected = re.sub(r"(server\.\d|tickTime|maxClientCnxns)=.*\n", "", AS_WRITTEN) + "\n".join(lines)
    servers = []
    try:
        for number in (1, 2, 3):
            server = ZookeeperServer(tmp_path / f"srv{number}", extra=corrected)
            (server.directory / "data" / "myid").write_text(f"{number}\n")
            servers.append(server)
            started = tool("zookeeper-server-start", "-daemon", server.properties, cwd=server.directory)
            assert started.code == 0, started.stderr
        wait_until(lambda: sorted(str(one.mode()) for one in servers) == ["follower", "follower", "leader"])
        yield servers
    finally:
        for server in servers:
            tool("zookeeper-server-stop", server.properties)


def test_corrected_it_runs_and_a_broker_on_it_outlives_the_leader(ensemble: list[ZookeeperServer]) -> None:
    connect = ",".join(server.connect for server in ensemble)
    with Broker({"zookeeper.connect": connect, "zookeeper.session.timeout.ms": 30_000}) as broker:
        created = tool("kafka-topics", "--zookeeper", connect, "--create", "--topic", "before")
        assert created.stdout == "Created topic before.\n"
        (leader,) = (server for server in ensemble if server.mode() == "leader")
        assert tool("zookeeper-server-stop", leader.properties).code == 0
        wait_until(lambda: "leader" in {server.mode() for server in ensemble if server is not leader})
        where = ("--bootstrap-server", broker.bootstrap)
        create = ("--create", "--if-not-exists", "--topic", "after")
        wait_until(lambda: tool("kafka-topics", *where, *create).code == 0)
        assert tool("kafka-topics", *where, "--list").stdout == "after\nbefore\n"


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 90
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)
