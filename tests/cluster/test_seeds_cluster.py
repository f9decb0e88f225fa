"""The final task of the notes: three ZooKeepers with their myid files, three brokers with their
server.properties; and every line of the notes that names ZooKeeper, on that cluster.

Three corrections: servers are numbered 1–3 as the myid files are, `dataDir` and `clientPort` are there, and
kafka1–3.local are 127.0.0.1–3 (with ports that no other test uses)."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.cli.conftest import RunTool, execute
from tests.cli.processes import SCRIPTS, tool
from tests.cli.test_seeds import LINES, check_line
from tests.cli.test_seeds_ensemble import AS_WRITTEN as ZOOKEEPER_AS_WRITTEN
from tests.support.agreement import settle_at
from tests.support.waiting import eventually
from tests.support.zookeeper import need_java

from barnabas.testing import free_port
from barnabas.wire import Cluster, WireError
from barnabas.wire.admin import brokers

BROKER_AS_WRITTEN = """\
broker.id=0          >> change by other server
advertised.listeners=PLAINTEXT://kafka1.local:9092
log.dirs=/data/kafka
offsets.topic.replication.factor=3
transaction.state.log.replication.factor=3
transaction.state.log.min.isr=2
zookeeper.connect=kafka1.local:2181,kafka2.local:2181,kafka3.local:2181
"""
PATIENCE_S = 90
# Those that name ZooKeeper are about the cluster; the others are run on it, too, in the long form.
RUNNABLE = [
    pytest.param(line, id=line["seed"], marks=[] if "--zookeeper" in line["text"] else [pytest.mark.slow])
    for line in LINES
    if "run" in line
]


class Ports(NamedTuple):
    clients: int
    zookeeper: int
    among: int
    elections: int


class Machines(NamedTuple):
    bootstrap: str
    zookeeper: str


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    need_java()
    ports = Ports(*(free_port() for _ in range(4)))
    with ExitStack() as stack:
        for number in (1, 2, 3):
            _start_zookeeper(stack, tmp_path_factory.mktemp(f"srv{number}-zookeeper"), number, ports)
        for number in (1, 2, 3):
            _start_broker(stack, tmp_path_factory.mktemp(f"srv{number}-kafka"), number, ports)
        addresses = Machines(
            ",".join(f"127.0.0.{number}:{ports.clients}" for number in (1, 2, 3)),
            ",".join(f"127.0.0.{number}:{ports.zookeeper}" for number in (1, 2, 3)),
        )
        eventually(lambda: _is_whole(addresses.bootstrap), PATIENCE_S)
        yield addresses


def _start_zookeeper(stack: ExitStack, directory: Path, number: int, ports: Ports) -> None:
    corrected = re.sub(r"server\.\d=.*\n", "", ZOOKEEPER_AS_WRITTEN)
    for one in (1, 2, 3):
        corrected += f"server.{one}=127.0.0.{one}:{ports.among}:{ports.elections}\n"
    corrected += f"dataDir={directory}\nclientPort={ports.zookeeper}\nclientPortAddress=127.0.0.{number}\n"
    (directory / "myid").write_text(f"{number}\n")
    file = directory / "zookeeper.properties"
    file.write_text(corrected)
    started = tool("zookeeper-server-start", "-daemon", file, cwd=directory)
    assert started.code == 0, started
    stack.callback(tool, "zookeeper-server-stop", file)


def _start_broker(stack: ExitStack, directory: Path, number: int, ports: Ports) -> None:
    text = BROKER_AS_WRITTEN.replace(
        "broker.id=0          >> change by other server", f"broker.id={number - 1}"
    )
    text = text.replace("=/data/kafka", f"={directory}/data")
    text = text.replace("kafka1.local:9092", f"127.0.0.{number}:{ports.clients}")
    text = re.sub(r"kafka(\d)\.local:2181", rf"127.0.0.\1:{ports.zookeeper}", text)
    file = directory / "server.properties"
    # On three machines each has its own port 9092; on one they differ by their address.
    file.write_text(f"{text}listeners=PLAINTEXT://127.0.0.{number}:{ports.clients}\n")
    with open(directory / "out.log", "wb") as output:
        process = subprocess.Popen([SCRIPTS / "kafka-server-start", file], stdout=output, stderr=output)
    stack.callback(process.wait, 60)
    stack.callback(process.terminate)


def _is_whole(bootstrap: str) -> bool:
    try:
        with Cluster.connect(bootstrap, {"default.api.timeout.ms": "5000"}) as cluster:
            return len(brokers.describe_cluster(cluster).brokers) == 3
    except WireError:
        return False


def run_tool(*words: str, stdin: str = "") -> Any:
    return execute([str(Path(sys.executable).parent / words[0]), *words[1:]], stdin)


@pytest.mark.parametrize("line", RUNNABLE)
def test_a_line_of_the_notes_does_what_they_say(line: dict[str, Any], machines: Machines, topic: str) -> None:
    run: RunTool = run_tool
    check_line(
        line, machines.bootstrap, machines.zookeeper, f"{topic}-", run, lambda: settle_at(machines.bootstrap)
    )


def test_a_topic_has_its_copies_on_all_three(machines: Machines, topic: str) -> None:
    where = ("--zookeeper", machines.zookeeper, "--topic", topic)
    created = tool("kafka-topics", *where, "--create", "--partitions", "3", "--replication-factor", "3")
    assert created.stdout == f"Created topic {topic}.\n", created
    settle_at(machines.bootstrap)
    described = tool("kafka-topics", *where, "--describe").stdout.splitlines()
    assert "PartitionCount: 3\tReplicationFactor: 3\t" in described[0]
    leaders = set()
    for line in described[1:]:
        found = re.search(r"\tLeader: (\d)\tReplicas: ([\d,]+)\tIsr: ([\d,]+)", line)
        assert found is not None, line
        leaders.add(found[1])
        assert found[2].startswith(found[1])
        assert sorted(found[2].split(",")) == sorted(found[3].split(",")) == ["0", "1", "2"]
    assert leaders == {"0", "1", "2"}
    for words in (["--under-replicated-partitions"], ["--unavailable-partitions"]):
        listed = tool("kafka-topics", "--bootstrap-server", machines.bootstrap, "--describe", *words)
        assert topic not in listed.stdout


def test_what_is_written_to_one_is_read_from_another(machines: Machines, topic: str) -> None:
    first, _, last = machines.bootstrap.split(",")
    produced = tool(
        "kafka-console-producer", "--bootstrap-server", first, "--topic", topic, stdin="one\ntwo\n"
    )
    assert produced.code == 0, produced
    read = tool(
        "kafka-console-consumer", "--bootstrap-server", last, "--topic", topic, "--from-beginning",
        "--max-messages", "2", "--group", topic,
    )  # fmt: skip
    assert (read.code, read.stdout) == (0, "one\ntwo\n")
    groups = tool("kafka-consumer-groups", "--zookeeper", machines.zookeeper, "--list")
    assert topic in groups.stdout.splitlines()
