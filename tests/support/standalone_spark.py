"""A Spark cluster on this machine: one master, two workers of one core each, loopback only."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
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
def standalone_spark(folder: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """The master's address, once every worker has registered."""
    variables = {**environment, "SPARK_DAEMON_MEMORY": "192m", "SPARK_DAEMON_JAVA_OPTS": SHORT_LIVED}
    url = f"spark://127.0.0.1:{free_port()}"
    master_log = folder / "master.log"
    with ExitStack() as daemons:
        port = url.rpartition(":")[2]
        master = ["org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", port]
        daemons.enter_context(_daemon([*master, "--webui-port", "0"], folder, master_log, variables))
        for number in range(WORKERS):
            worker = ["org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--webui-port", "0"]
            size = ["--cores", "1", "--memory", "512m", "--work-dir", str(folder / f"worker-{number}")]
            log = folder / f"worker-{number}.log"
            daemons.enter_context(_daemon([*worker, *size, url], folder, log, variables))
        registered = "Registering worker"
        eventually(lambda: master_log.read_text().count(registered) == WORKERS, _START_TIMEOUT_S)
        yield url


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
