"""Apache Kafka itself, from its jars: provisioned through Maven, started as one KRaft node, its tools run
by class.

The bench measures against it, and the tests use it as the oracle. Everything that may be missing (Java,
Maven, the registry) is an `UnavailableError` with one sentence that says what to do.
"""

from __future__ import annotations

import fcntl
import functools
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from barnabas import java
from barnabas.java import Java, JavaError
from barnabas.testing import BrokerProcess, free_port

VERSION = "4.3.1"
CHECKOUT = Path(__file__).resolve().parent.parent
CACHE = CHECKOUT / ".cache" / f"apache-kafka-{VERSION}"
CLUSTER_ID = "QmFybmFiYXNCZW5jaE9uZQ"
HEAP_OPTIONS = (
    "-Xmx1g",
    "-Xms1g",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
)
MAVEN_TIMEOUT_S = 240
_INSTALL_JAVA = "apt-get install default-jdk-headless"  # a JDK: some of what is measured is compiled here

Artifacts = Sequence[tuple[str, str, str]]  # group, name, version

_ARTIFACTS = (
    ("org.apache.kafka", "kafka_2.13", VERSION),
    ("org.apache.kafka", "kafka-tools", VERSION),
    ("org.apache.kafka", "kafka-clients", VERSION),
    ("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.4"),
)
_STREAMS_ARTIFACTS = (("org.apache.kafka", "kafka-streams-examples", VERSION),)
_LOGGING = """\
status=error
appender.console.type=Console
appender.console.name=STDOUT
appender.console.target=SYSTEM_ERR
appender.console.layout.type=PatternLayout
appender.console.layout.pattern=[%d] %p %m (%c)%n
rootLogger.level=${sys:level:-INFO}
rootLogger.appenderRef.stdout.ref=STDOUT
"""


class UnavailableError(Exception):
    """Apache Kafka cannot be had on this machine; the message is one sentence that says what is missing."""


def provision() -> Path:
    """The directory that holds Apache Kafka's jars, fetched through Maven the first time."""
    given = os.environ.get("BARNABAS_KAFKA_LIBS")
    if given is not None:
        if not any(Path(given).glob("kafka-clients-*.jar")):
            raise UnavailableError(f"BARNABAS_KAFKA_LIBS names {given}, which holds no kafka-clients jar.")
        return Path(given)
    require_java()
    return fetched_libraries(CACHE / "libs", _ARTIFACTS)


def provision_streams() -> Path:
    """The directory that holds Kafka Streams and its own examples."""
    require_java()
    return fetched_libraries(CACHE / "streams-libs", _STREAMS_ARTIFACTS)


def fetched_libraries(libraries: Path, artifacts: Artifacts, *, alone: bool = False) -> Path:
    """A directory of these jars and of what they depend on, or of them alone."""
    if not libraries.exists():
        if _failures:
            raise _failures[0]  # a registry that does not answer is asked once, not once per test
        with _exclusively(CACHE):
            if not libraries.exists():
                _copy_dependencies_remembering_failure(libraries, artifacts, alone)
    return libraries


def _copy_dependencies_remembering_failure(libraries: Path, artifacts: Artifacts, alone: bool) -> None:
    try:
        _copy_dependencies(libraries, artifacts, alone)
    except UnavailableError as failure:
        _failures.append(failure)
        raise


_failures: list[UnavailableError] = []


@contextmanager
def _exclusively(directory: Path) -> Iterator[None]:
    """One process at a time: parallel test workers must not fetch the same jars over each other."""
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _copy_dependencies(libraries: Path, artifacts: Artifacts, alone: bool) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise UnavailableError(
            "Maven is missing: install it (apt-get install maven), or set BARNABAS_KAFKA_LIBS to a directory "
            f"of Apache Kafka {VERSION}'s jars."
        )
    (CACHE / "pom.xml").write_text(_project_object_model(artifacts, alone))
    partial = libraries.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    goal = "org.apache.maven.plugins:maven-dependency-plugin:copy-dependencies"
    command = [maven, "-q", "-B", goal, "-DincludeScope=runtime", f"-DoutputDirectory={partial}"]
    try:
        done = subprocess.run(
            command, cwd=CACHE, capture_output=True, text=True, timeout=MAVEN_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise UnavailableError(
            f"Maven did not fetch Apache Kafka {VERSION} within {MAVEN_TIMEOUT_S} s."
        ) from None
    if done.returncode != 0:
        reason = next((line for line in done.stdout.splitlines() if "ERROR" in line), "no reason given")
        raise UnavailableError(
            f"Maven could not fetch Apache Kafka {VERSION}: {reason.removeprefix('[ERROR] ')}"
        )
    partial.rename(libraries)


def _project_object_model(artifacts: Artifacts, alone: bool) -> str:
    everything = "<groupId>*</groupId><artifactId>*</artifactId>"
    excluded = f"<exclusions><exclusion>{everything}</exclusion></exclusions>" if alone else ""
    dependencies = "".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version>"
        f"{excluded}</dependency>"
        for group, name, version in artifacts
    )
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>barnabas</groupId><artifactId>apache-kafka</artifactId><version>1</version>"
        f"<packaging>pom</packaging><dependencies>{dependencies}</dependencies></project>\n"
    )


@functools.cache
def require_java() -> Java:
    try:
        return java.require(needed_by="Apache Kafka", install=_INSTALL_JAVA)
    except JavaError as missing:
        raise UnavailableError(str(missing)) from None


def java_command(*, level: str = "ERROR", options: Sequence[str] = (), extra_path: str = "") -> list[str]:
    """`java` with Kafka's class path and logging; append a class name and its arguments."""
    command = require_java().command
    libraries = provision()
    CACHE.mkdir(parents=True, exist_ok=True)
    logging = CACHE / "log4j2.properties"
    if not logging.exists() or logging.read_text() != _LOGGING:
        logging.write_text(_LOGGING)
    class_path = f"{libraries}/*" + (f":{extra_path}" if extra_path else "")
    return [command, *options, f"-Dlog4j2.configurationFile={logging}", f"-Dlevel={level}", "-cp", class_path]


def run_tool(
    class_name: str, *arguments: object, stdin: str | None = None, timeout_s: float = 120.0
) -> subprocess.CompletedProcess[str]:
    """Run one of Kafka's Java tools to its end, output captured."""
    command = [*java_command(options=("-Xmx512m",)), class_name, *map(str, arguments)]
    return subprocess.run(
        command, input=stdin, capture_output=True, text=True, timeout=timeout_s, check=False
    )


class ApacheKafka(BrokerProcess):
    """One Apache Kafka node, broker and controller in one process; the same face as
    `barnabas.testing.Broker`.
    """

    name = "Apache Kafka broker"

    def __init__(
        self,
        settings: Mapping[str, object] | None = None,
        *,
        directory: Path | None = None,
        port: int | None = None,
        heap_options: Sequence[str] = HEAP_OPTIONS,
        startup_timeout_s: float = 120.0,
    ) -> None:
        port = port or free_port()
        super().__init__(
            [*java_command(level="INFO", options=heap_options), "kafka.Kafka"],
            {**_single_node(port), **(settings or {})},
            port=port,
            directory=directory,
            startup_timeout_s=startup_timeout_s,
        )

    def prepare(self) -> None:
        if (self.log_dir / "meta.properties").exists():
            return
        done = run_tool("kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", self.properties_file)
        if done.returncode != 0:
            reason = done.stderr or done.stdout
            raise UnavailableError(f"Apache Kafka could not format {self.log_dir}: {reason}")


def _single_node(port: int) -> dict[str, object]:
    controller_port = free_port()
    return {
        "process.roles": "broker,controller",
        "node.id": 1,
        "controller.quorum.voters": f"1@127.0.0.1:{controller_port}",
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "offsets.topic.replication.factor": 1,
        "transaction.state.log.replication.factor": 1,
        "transaction.state.log.min.isr": 1,
        "share.coordinator.state.topic.replication.factor": 1,
        "share.coordinator.state.topic.min.isr": 1,
        "group.initial.rebalance.delay.ms": 0,
    }
