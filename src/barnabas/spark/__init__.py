"""PySpark reads and writes topics: `format("barnabas")`, no jar. docs/pipelines.md is the guide.

    spark.readStream.format("barnabas").option("kafka.bootstrap.servers", …).option("subscribe", …).load()
    barnabas.spark.write_stream(df, topic="alerts", …).option("checkpointLocation", …).start()

Importing this package loads neither PySpark nor a client: executors import it in every new worker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["local_session", "register"]


def register(spark: SparkSession) -> None:
    """Make `format("barnabas")` known to this session. PySpark finds it without this in most places; a
    session over Spark Connect, and one that was started before the installation, may not."""
    from barnabas.spark.datasource import BarnabasDataSource

    spark.dataSource.register(BarnabasDataSource)


def local_session(app_name: str = "barnabas", **config: object) -> SparkSession:
    """Start Spark in this process, or raise one sentence that says what is missing. `config` are Spark's own
    settings: `local_session("counts", **{"spark.master": "local[2]"})`."""
    from barnabas.spark.session import start

    return start(app_name, config)
