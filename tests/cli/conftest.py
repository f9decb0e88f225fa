"""A broker for the command lines, the tools as people start them, and Kafka's own to compare with."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple, Protocol

import pytest
from tests.support.zookeeper import ZookeeperServer

from barnabas.cli.barnabas import main
from barnabas.testing import Broker as TestBroker
from barnabas.wire import Cluster
from barnabas.wire.admin import topics

SCRIPTS = Path(sys.executable).parent
TIMEOUT_S = 120


class Outcome(NamedTuple):
    code: int
    stdout: str
    stderr: str


class RunTool(Protocol):
    def __call__(self, *words: str, stdin: str = "") -> Outcome: ...


RunJava = Callable[..., Outcome]


class Broker(NamedTuple):
    bootstrap: str


@pytest.fixture(scope="session")
def broker(request: pytest.FixtureRequest) -> Broker:
    """A broker of the chosen kind, or the one that BARNABAS_TEST_BOOTSTRAP names."""
    bootstrap = os.environ.get("BARNABAS_TEST_BOOTSTRAP")
    return Broker(bootstrap or request.getfixturevalue("target").bootstrap)


@pytest.fixture(scope="session")
def broker_on_zookeeper(zookeeper: ZookeeperServer) -> Iterator[str]:
    """What `--zookeeper` takes: a place where one broker of ours is registered."""
    connect = f"{zookeeper.connect}/tools-{uuid.uuid4().hex[:10]}"
    single: dict[str, object] = {"offsets.topic.replication.factor": 1, "offsets.topic.num.partitions": 1}
    with TestBroker(single | {"zookeeper.connect": connect}):
        yield connect


@pytest.fixture
def prefix(broker: Broker) -> Iterator[str]:
    """Of every topic a test makes; they are deleted afterwards, so tests may share a broker."""
    name = f"t{uuid.uuid4().hex[:10]}-"
    yield name
    with Cluster.connect(broker.bootstrap) as cluster:
        mine = [topic for topic in topics.names(cluster) if topic.startswith(name)]
        if mine:
            topics.delete(cluster, mine)


def execute(words: Sequence[str], stdin: str = "") -> Outcome:
    finished = subprocess.run(
        words, input=stdin, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    return Outcome(finished.returncode, finished.stdout, finished.stderr)


@pytest.fixture(scope="session")
def run_tool() -> RunTool:
    """One of our console scripts, by name."""

    def run(*words: str, stdin: str = "") -> Outcome:
        return execute([str(SCRIPTS / words[0]), *words[1:]], stdin)

    return run


@pytest.fixture
def run_barnabas(monkeypatch: pytest.MonkeyPatch) -> RunTool:
    """`barnabas`, in this process: most of a short tool's time is Python's start."""

    def run(*words: str, stdin: str = "") -> Outcome:
        out, err = io.StringIO(), io.StringIO()
        with monkeypatch.context() as patched, redirect_stdout(out), redirect_stderr(err):
            patched.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
            code = main(words)
        return Outcome(code, out.getvalue(), err.getvalue())

    return run


@pytest.fixture(scope="session")
def run_java(apache_kafka_libraries: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunJava]:
    """One of Kafka's classes, by name, all in one JVM. Its log is off: a matter of configuration there."""
    java = shutil.which("java")
    if java is None or shutil.which("javac") is None:
        pytest.skip(
            "A JDK is missing: apt-get install default-jdk-headless to compare with Kafka's own tools"
        )
    quiet = tmp_path_factory.mktemp("log4j") / "log4j2.properties"
    quiet.write_text("status=off\nrootLogger.level=off\n")
    options = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", f"-Dlog4j2.configurationFile={quiet}"]
    source = Path(__file__).parent / "java" / "Tools.java"
    command = [java, *options, "-cp", f"{apache_kafka_libraries}/*", str(source)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as jvm:
        assert jvm.stdin is not None
        assert jvm.stdout is not None
        stdin, stdout = jvm.stdin, jvm.stdout

        def run(*words: str) -> Outcome:
            stdin.write(json.dumps(words) + "\n")
            stdin.flush()
            line = stdout.readline()
            assert line, "the JVM that runs Kafka's tools has ended"
            return Outcome(**json.loads(line))

        yield run
        stdin.close()


def without_stack_traces(text: str) -> str:
    """Java's exceptions below the line that says what happened, and our own log lines."""
    lines: list[str] = []
    for line in text.splitlines():
        if re.match(r"\s+at |\s+\.\.\. \d+ more|Caused by: |\s+Suppressed: ", line):
            continue
        thrown = re.match(r"[a-z]+(?:\.[a-zA-Z_$]+)+(?:Exception|Error): (.*)", line)
        if thrown and lines and thrown[1] in lines[-1]:
            continue
        if re.match(r"\[\d{4}-.*\] (WARN|ERROR) ", line) or re.match(r" \(org\.apache", line):
            continue
        lines.append(line)
    return "\n".join(lines).strip()
