"""The columns of a record, as Spark's own Kafka connector names and types them."""

from __future__ import annotations

from barnabas.spark.options import Options

COLUMNS = (
    "key binary, value binary, topic string, partition int, offset bigint, "
    "timestamp timestamp, timestampType int"
)
HEADERS = "headers array<struct<key:string,value:binary>>"


def with_headers(options: Options) -> bool:
    return options.flag("includeHeaders", False)


def schema_of(options: Options) -> str:
    return f"{COLUMNS}, {HEADERS}" if with_headers(options) else COLUMNS
