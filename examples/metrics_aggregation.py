"""Metrics aggregation: statistics of many applications, a topic each, become one feed of operational data.

Every application sends what it measures to `metrics.<application>`: {"metric": "latency_ms", "value": 12.5}.
The feed has one record per application, metric and minute, written once, when the minute is over.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from barnabas.spark import local_session, write_stream


def statistics(records: DataFrame) -> DataFrame:
    measured = F.from_json(F.col("value").cast("string"), "metric string, value double")
    application = F.regexp_replace("topic", r"^metrics\.", "").alias("application")
    minutes = (
        records.select(application, F.col("timestamp"), measured.alias("measured"))
        .select("application", "timestamp", "measured.*")
        .withWatermark("timestamp", "30 seconds")  # how late a measurement may come
        .groupBy("application", "metric", F.window("timestamp", "1 minute"))
        .agg(
            F.count("*").alias("count"),
            F.min("value").alias("lowest"),
            F.avg("value").alias("mean"),
            F.max("value").alias("highest"),
        )
    )
    feed = minutes.withColumn("minute", F.col("window.start")).drop("window")
    return feed.select(
        F.concat_ws("/", "application", "metric").alias("key"), F.to_json(F.struct("*")).alias("value")
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bootstrap-server", default="localhost:9092")
    parser.add_argument("--input", default=r"metrics\..+", help="pattern of the topics to read")
    parser.add_argument("--output", default="operations", help="topic to write")
    parser.add_argument("--checkpoint", default="checkpoints/metrics", help="what was done so far")
    parser.add_argument("--available-now", action="store_true", help="stop when all that is there is done")
    asked = parser.parse_args(arguments)

    spark = SparkSession.getActiveSession() or local_session("metrics aggregation")
    servers = {"kafka.bootstrap.servers": asked.bootstrap_server}
    metrics = (
        spark.readStream.format("barnabas")
        .options(**servers)
        .option("subscribePattern", asked.input)
        .option("startingOffsets", "earliest")
        .load()
    )
    writer = write_stream(statistics(metrics), topic=asked.output, **servers)
    writer = writer.outputMode("append").option("checkpointLocation", asked.checkpoint)
    if asked.available_now:
        writer = writer.trigger(availableNow=True)
    writer.start().awaitTermination()


if __name__ == "__main__":
    main()
