"""The rows of each partition brought to one task, in the order in which they come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as sql

from barnabas.spark.sink.columns import Columns
from barnabas.spark.sink.placing import STICKY_ROWS
from barnabas.spark.sink.settings import Sink

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

_PREFIX = "__barnabas_"
# A task's rows without key, some to one partition, some to the next. The lower bits count a task's rows.
_WITHOUT_KEY = f"(spark_partition_id() + (monotonically_increasing_id() & {(1 << 33) - 1}) DIV {STICKY_ROWS})"


def shuffled(
    df: DataFrame,
    sink: Sink,
    columns: Columns,
    partition_count: int | None,
    task_count: int,
    order_by: Sequence[str | Column],
) -> DataFrame:
    """Columns [topic], partition, [key], value, [headers]; `partition_count` of the topic that the options
    name. The rows that one task of the plan has for one partition stay in their order; between tasks there
    is none without `order_by`."""
    own = _own_columns(sink, columns, partition_count)
    wide = df.withColumns({_PREFIX + name: column for name, column in own.items()})
    brought = wide.repartitionById(task_count, _task(columns, task_count))
    if order_by:
        brought = brought.sortWithinPartitions(*order_by)
    return brought.select(*(sql.col(_PREFIX + name).alias(name) for name in own))


def _own_columns(sink: Sink, columns: Columns, partition_count: int | None) -> dict[str, Column]:
    own = {"partition": _partition(sink, columns, partition_count)}
    if columns.topic:
        own["topic"] = sql.col("topic")
    if columns.key:
        own["key"] = sql.expr("CAST(key AS BINARY)")
    own["value"] = sql.expr("CAST(value AS BINARY)")
    if columns.headers:
        own["headers"] = sql.col("headers")
    return own


def _partition(sink: Sink, columns: Columns, partition_count: int | None) -> Column:
    choices = [sql.col("partition")] if columns.partition else []
    if partition_count is None:
        key = "CAST(key AS BINARY)" if columns.key else "CAST(NULL AS BINARY)"
        choices.append(_placed_by_topic(sink)(sql.col("topic"), sql.expr(key), sql.expr(_WITHOUT_KEY)))
    else:
        if columns.key:
            choices.append(_placed_by_key(partition_count)(sql.expr("CAST(key AS BINARY)")))
        choices.append(sql.expr(f"CAST(pmod({_WITHOUT_KEY}, {partition_count}) AS INT)"))
    return sql.coalesce(*choices)


def _task(columns: Columns, task_count: int) -> Column:
    """Neighbouring partitions of a topic go to different tasks, and each to one only."""
    target = f"CAST({_PREFIX}partition AS BIGINT)"
    if columns.topic:
        target += " + crc32(CAST(topic AS BINARY))"
    return sql.expr(f"CAST(pmod({target}, {task_count}) AS INT)")


def _placed_by_key(partition_count: int) -> Any:
    def place(key: pa.Array) -> pa.Array:
        from barnabas.records.arrow.murmur import partitions_of

        return partitions_of(key, partition_count)

    return _arrow_udf(place, "key")


def _placed_by_topic(sink: Sink) -> Any:
    """Null where there is no such topic: the task that gets the row says so."""

    def place(topic: pa.Array, key: pa.Array, without_key: pa.Array) -> pa.Array:
        from barnabas.spark.sink.connections import connected
        from barnabas.spark.sink.placing import place_by_topic
        from barnabas.spark.sink.targets import Targets

        numbers = without_key.to_numpy(zero_copy_only=False)
        return place_by_topic(topic, None, key, numbers, Targets(connected(sink)))

    return _arrow_udf(place, "topic", "key", "without_key")


def _arrow_udf(function: Any, *arguments: str) -> Any:
    """PySpark looks at annotations, which are text here and name what only workers import."""
    import pyarrow as pa
    from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined]  # left out of its stubs

    function.__annotations__ = {**dict.fromkeys(arguments, pa.Array), "return": pa.Array}
    return arrow_udf(function, "int")
