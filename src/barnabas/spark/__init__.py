"""PySpark reads and writes topics: `format("barnabas")`, no jar. docs/pipelines.md is the guide.

    spark.readStream.format("barnabas").option("kafka.bootstrap.servers", …).option("subscribe", …).load()
    barnabas.spark.write_stream(df, topic="alerts", …).option("checkpointLocation", …).start()

Importing this package loads neither PySpark nor a client: executors import it in every new worker.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

__all__ = ["local_session", "register", "write", "write_stream"]


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


def write_stream(
    df: DataFrame,
    topic: str | None = None,
    order_by: str | Column | Sequence[str | Column] | None = None,
    **options: Any,
) -> DataStreamWriter:
    """Write a stream exactly once: one Kafka transaction per micro-batch.

    Columns `value` and, if wanted, `key, topic, partition, headers`; options as for `format("barnabas")`.
    What comes back is to be started: `.option("checkpointLocation", …).start()`. Records of one key keep the
    order in which one source partition has them; `order_by` sorts the rows of each partition within a batch.
    """
    from barnabas.spark.sink.stream import write_stream as build

    return build(df, topic, order_by, options)


def write(
    df: DataFrame,
    topic: str | None = None,
    order_by: str | Column | Sequence[str | Column] | None = None,
    **options: Any,
) -> None:
    """Write a frame that is no stream, all or nothing: the same in one transaction."""
    from barnabas.spark.sink.stream import write as write_now

    write_now(df, topic, order_by, options)
