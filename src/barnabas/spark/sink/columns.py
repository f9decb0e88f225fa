"""Which columns a frame to be written has: `topic, partition, key, value, headers`, typed as Spark's own
Kafka connector wants them. Others are left out, as there."""

from __future__ import annotations

from typing import NamedTuple

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    StringType,
    StructField,
    StructType,
)

from barnabas.spark.errors import PipelineError

COLUMNS = ("topic", "partition", "key", "value", "headers")
_HEADERS = ArrayType(StructType([StructField("key", StringType()), StructField("value", BinaryType())]))


class Columns(NamedTuple):
    """Which of the columns are there. A topic given as an option makes its column superfluous."""

    topic: bool
    partition: bool
    key: bool
    headers: bool
    names: tuple[str, ...] = COLUMNS  # those that the frame has
    others: bool = False  # it has more, which are left out


def columns_of(schema: StructType, topic: str | None) -> Columns:
    types = {field.name: field.dataType for field in schema.fields}
    if "value" not in types:
        raise PipelineError(
            "Required attribute 'value' not found: select the bytes or the text of each record as a column "
            "named value."
        )
    for name in ("key", "value"):
        _check(types, name, (StringType, BinaryType), "a string or binary")
    if topic is None and "topic" not in types:
        raise PipelineError(
            "topic option required when no 'topic' attribute is present: use the topic option for setting a "
            "topic."
        )
    if topic is None:
        _check(types, "topic", (StringType,), "a string")
    _check(types, "partition", (IntegerType,), "an int")
    if "headers" in types and not _same(types["headers"], _HEADERS):
        raise PipelineError(
            f"headers attribute type must be array<struct<key:string,value:binary>>, not "
            f"{types['headers'].simpleString()}."
        )
    names = tuple(name for name in COLUMNS if name in types)
    others = len(names) < len(types)
    return Columns(topic is None, "partition" in types, "key" in types, "headers" in types, names, others)


def _check(types: dict[str, DataType], name: str, wanted: tuple[type[DataType], ...], words: str) -> None:
    if name in types and not isinstance(types[name], wanted):
        raise PipelineError(
            f"{name} attribute type must be {words}, not {types[name].simpleString()}: cast it, for example "
            f"with CAST({name} AS {'INT' if name == 'partition' else 'STRING'})."
        )


def _same(one: DataType, other: DataType) -> bool:
    """Whether values may be null does not matter."""
    return one.simpleString() == other.simpleString()
