"""Spark outside this process, on loopback: a cluster of one master and two workers, or a Connect server."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark
from tests.support.waiting import eventually

from barnabas.testing import free_port

WORKERS = 2
# A JVM that lives for half a minute on shared cores: no second compiler, no collector threads.
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_START_TIMEOUT_S = 90
_STOP_TIMEOUT_S = 20
_SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"


@contextmanager
def standalone_spark(
    folder: Path, environment: Mapping[str, str], hosts: Sequence[str] = ("127.0.0.1",) * WORKERS
) -> Iterator[str]:
    """The master's address, once every worker has registered: one on each of `hosts`, all of this machine."""
    variables = {**environment, "SPARK_DAEMON_MEMORY": "192m", "SPARK_DAEMON_JAVA_OPTS": SHORT_LIVED}
    url = f"spark://127.0.0.1:{free_port()}"
    master_log = folder / "master.log"
    with ExitStack() as daemons:
        port = url.rpartition(":")[2]
        master = ["org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", port]
        daemons.enter_context(_daemon([*master, "--webui-port", "0"], folder, master_log, variables))
        for number, host in enumerate(hosts):
            worker = ["org.apache.spark.deploy.worker.Worker", "--host", host, "--webui-port", "0"]
            size = ["--cores", "1", "--memory", "512m", "--work-dir", str(folder / f"worker-{number}")]
            log = folder / f"worker-{number}.log"
            daemons.enter_context(_daemon([*worker, *size, url], folder, log, variables))
        registered = "Registering worker"
        eventually(lambda: master_log.read_text().count(registered) == len(hosts), _START_TIMEOUT_S)
        yield url


@contextmanager
def connect_server(folder: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """The address for `SparkSession.builder.remote`, once the server answers there."""
    port = free_port()
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": port,
        "spark.driver.extraJavaOptions": SHORT_LIVED,
        "spark.driver.memory": "512m",
        "spark.sql.shuffle.partitions": 2,
        "spark.sql.warehouse.dir": folder / "warehouse",
        "spark.ui.enabled": "false",
    }
    words = ["org.apache.spark.deploy.SparkSubmit", "--master", "local[2]"]
    for name, value in settings.items():
        words += ["--conf", f"{name}={value}"]
    words += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    with _daemon(words, folder, folder / "connect.log", environment) as server:
        eventually(lambda: _answers(port) or server.poll() is not None, _START_TIMEOUT_S)
        assert server.poll() is None, (folder / "connect.log").read_text()[-4000:]
        yield f"sc://127.0.0.1:{port}"


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def _daemon(
    words: list[str], folder: Path, log: Path, environment: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        # The script ends in `exec java`: this is the JVM's process, and stopping it stops all there is.
        process = subprocess.Popen(
            [str(_SPARK_CLASS), *words], cwd=folder, env=environment, stdout=output, stderr=output
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
