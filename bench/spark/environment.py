"""A Python with the newest Spark for which Spark's own Kafka connector can be had, and that connector.

Ours runs on newer ones, too, but two connectors can only be compared on one Spark. Both run from this
checkout's `.cache`, made once.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import venv
from pathlib import Path

from bench.apache_kafka import CHECKOUT, UnavailableError, fetched_libraries, require_java

SPARK_VERSION = "4.2.0"
HOME = CHECKOUT / ".cache" / f"spark-{SPARK_VERSION}"
LOCK = CHECKOUT / "requirements" / "spark-bench.lock"
INSTALL_TIMEOUT_S = 900
# Their own poms name a token provider of the same version, which was never published.
CONNECTOR = (
    ("org.apache.spark", "spark-sql-kafka-0-10_2.13", SPARK_VERSION),
    ("org.apache.spark", "spark-token-provider-kafka-0-10_2.13", "4.0.0"),
    ("org.apache.kafka", "kafka-clients", "3.9.2"),
    ("org.apache.commons", "commons-pool2", "2.13.1"),
)


def python() -> Path:
    """The interpreter of that environment."""
    require_java()
    made = HOME / "venv"
    lock = HOME / "installed.lock"
    if not lock.exists() or lock.read_text() != LOCK.read_text():
        shutil.rmtree(made, ignore_errors=True)
        venv.create(made, with_pip=True)
        _install(made)
        shutil.copyfile(LOCK, lock)
    return made / "bin" / "python"


def _install(made: Path) -> None:
    command = [str(made / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
    try:
        subprocess.run([*command, "--require-hashes", "-r", str(LOCK)], check=True, timeout=INSTALL_TIMEOUT_S)
    except (subprocess.SubprocessError, OSError) as problem:
        raise UnavailableError(f"PySpark {SPARK_VERSION} could not be installed: {problem}") from None


def connector_jars() -> list[Path]:
    return sorted(fetched_libraries(HOME / "jars", CONNECTOR, alone=True).glob("*.jar"))


def environment() -> dict[str, str]:
    """Where that interpreter finds this checkout, and Spark that interpreter."""
    interpreter = str(python())
    return {
        **os.environ,
        "PYTHONPATH": f"{CHECKOUT / 'src'}{os.pathsep}{CHECKOUT}",
        "PYSPARK_PYTHON": interpreter,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYTHONUNBUFFERED": "1",
    }
