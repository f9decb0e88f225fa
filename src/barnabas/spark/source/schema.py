"""The columns of a record, as Spark's own Kafka connector names and types them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.spark.errors import PipelineError
from barnabas.spark.options import Options

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

COLUMNS = (
    "key binary, value binary, topic string, partition int, offset bigint, "
    "timestamp timestamp, timestampType int"
)
HEADERS = "headers array<struct<key:string,value:binary>>"


def with_headers(options: Options) -> bool:
    return options.flag("includeHeaders", False)


def schema_of(options: Options) -> str:
    return f"{COLUMNS}, {HEADERS}" if with_headers(options) else COLUMNS


def refuse_other_schema(options: Options, asked: StructType) -> None:
    """A user may repeat our columns with `.schema(…)`, and nothing else."""
    if ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in asked) != schema_of(options):
        raise PipelineError(
            'format("barnabas") has columns of its own: leave out .schema(…), or set includeHeaders to true '
            "if it is the headers that are missing."
        )
