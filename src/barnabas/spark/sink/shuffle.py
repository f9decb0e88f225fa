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
_ROW_INDEX_BITS = 33  # of monotonically_increasing_id: below them the row within its task


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
        own["key"] = sql.col("key").cast("binary")
    own["value"] = sql.col("value").cast("binary")
    if columns.headers:
        own["headers"] = sql.col("headers")
    return own


def _partition(sink: Sink, columns: Columns, partition_count: int | None) -> Column:
    row_index = sql.monotonically_increasing_id().bitwiseAND(sql.lit((1 << _ROW_INDEX_BITS) - 1))
    without_key = sql.spark_partition_id() + sql.floor(row_index / sql.lit(STICKY_ROWS))
    choices = [sql.col("partition")] if columns.partition else []
    if partition_count is None:
        key = sql.col("key").cast("binary") if columns.key else sql.lit(None).cast("binary")
        choices.append(_placed_by_topic(sink)(sql.col("topic"), key, without_key.cast("long")))
    else:
        if columns.key:
            choices.append(_placed_by_key(partition_count)(sql.col("key").cast("binary")))
        choices.append(sql.pmod(without_key, sql.lit(partition_count)).cast("int"))
    return sql.coalesce(*choices)


def _task(columns: Columns, task_count: int) -> Column:
    """Neighbouring partitions of a topic go to different tasks, and each to one only."""
    target = sql.col(_PREFIX + "partition").cast("long")
    if columns.topic:
        target = target + sql.crc32(sql.col("topic").cast("binary"))
    return sql.pmod(target, sql.lit(task_count)).cast("int")


def _placed_by_key(partition_count: int) -> Any:
    def place(key: pa.Array) -> pa.Array:
        from barnabas.records.arrow.murmur import partitions_of

        return partitions_of(key, partition_count)

    return _arrow_udf(place, "key")


def _placed_by_topic(sink: Sink) -> Any:
    """Null where there is no such topic: the task that gets the row says so."""

    def place(topic: pa.Array, key: pa.Array, without_key: pa.Array) -> pa.Array:
        from barnabas.spark.sink.placing import place_by_topic
        from barnabas.spark.sink.targets import Targets
        from barnabas.spark.sink.task import connected

        numbers = without_key.to_numpy(zero_copy_only=False)
        return place_by_topic(topic, None, key, numbers, Targets(connected(sink)))

    return _arrow_udf(place, "topic", "key", "without_key")


def _arrow_udf(function: Any, *arguments: str) -> Any:
    """PySpark looks at annotations, which are text here and name what only workers import."""
    import pyarrow as pa
    from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined]  # left out of its stubs

    function.__annotations__ = {**dict.fromkeys(arguments, pa.Array), "return": pa.Array}
    return arrow_udf(function, "int")
