"""Log aggregation: the logs of many services, a topic and a format each, become one clean stream.

Services write lines to `logs.<service>`: JSON with a time, a level and a message, or plain lines that begin
with a time and a level. Every line becomes {"time": …, "service": …, "level": …, "message": …}, with levels
spelled alike; a line that is neither keeps its text, and the time at which it was sent.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from barnabas.spark import local_session, write_stream

PLAIN = r"^(\d{4}-\d\d-\d\d[T ][\d:.]+Z?) +\[?([A-Za-z]+)\]?:? +(.*)$"
LEVELS = {"WARN": "WARNING", "ERR": "ERROR", "FATAL": "CRITICAL"}


def clean(records: DataFrame) -> DataFrame:
    line = F.col("value").cast("string")
    structured = F.from_json(line, "time timestamp, level string, message string")
    found = records.select("topic", "timestamp", line.alias("line"), structured.alias("json"))
    level = F.upper(F.coalesce("json.level", _part(2), F.lit("UNKNOWN")))
    entry = F.struct(
        F.coalesce("json.time", F.try_to_timestamp(_part(1)), "timestamp").alias("time"),
        F.regexp_replace("topic", r"^logs\.", "").alias("service"),
        F.coalesce(
            F.create_map(*(F.lit(word) for pair in LEVELS.items() for word in pair))[level], level
        ).alias("level"),
        F.coalesce("json.message", _part(3), "line").alias("message"),
    )
    return found.select(entry.alias("entry")).select(
        F.col("entry.service").alias("key"), F.to_json("entry").alias("value")
    )


def _part(number: int) -> Column:
    """Of a plain line; null where the line is none."""
    return F.nullif(F.regexp_extract("line", PLAIN, number), F.lit(""))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bootstrap-server", default="localhost:9092")
    parser.add_argument("--input", default=r"logs\..+", help="pattern of the topics to read")
    parser.add_argument("--output", default="clean-logs", help="topic to write")
    parser.add_argument("--checkpoint", default="checkpoints/logs", help="what was done so far")
    parser.add_argument("--available-now", action="store_true", help="stop when all that is there is done")
    asked = parser.parse_args(arguments)

    spark = SparkSession.getActiveSession() or local_session("log aggregation")
    servers = {"kafka.bootstrap.servers": asked.bootstrap_server}
    logs = (
        spark.readStream.format("barnabas")
        .options(**servers)
        .option("subscribePattern", asked.input)
        .option("startingOffsets", "earliest")
        .load()
    )
    writer = write_stream(clean(logs), topic=asked.output, **servers)
    writer = writer.option("checkpointLocation", asked.checkpoint)
    if asked.available_now:
        writer = writer.trigger(availableNow=True)
    writer.start().awaitTermination()


if __name__ == "__main__":
    main()
