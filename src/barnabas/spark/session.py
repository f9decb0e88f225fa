"""A Spark in this process, for examples, tests and first steps: what a laptop needs, and quiet."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from barnabas import java
from barnabas.spark.errors import PipelineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_QUIET = Path(__file__).with_name("quiet.properties")
_DEFAULTS = {
    "spark.master": "local[*]",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_QUIET.as_uri()}",
    # Over TCP every Python task waits 40 ms for an acknowledgement that is delayed.
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.sql.shuffle.partitions": "4",  # 200 tasks per shuffle are for clusters
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def start(app_name: str, config: Mapping[str, object]) -> SparkSession:
    prepare()
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName(app_name)
    for name, value in {**_DEFAULTS, **config}.items():
        builder = builder.config(name, str(value))
    return builder.getOrCreate()


def prepare() -> None:
    """What has to be in the environment before the JVM starts; what the user has set there stays."""
    try:
        found = java.require(java.SPARK_MODULES, needed_by="Spark")
    except java.JavaError as missing:
        raise PipelineError(str(missing)) from None
    try:
        import pyspark  # noqa: F401
    except ImportError:
        raise PipelineError("PySpark is not installed: pip install 'barnabas[spark]'") from None
    # Spark obeys JAVA_HOME before PATH: the Java that was found fit must be the one that is started.
    os.environ["JAVA_HOME"] = str(found.home)
    # Without these, Spark looks the machine's name up, and starts workers with whatever python3 is first.
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
