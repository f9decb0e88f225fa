"""A user's program on a cluster: a topic in, capitals out, exactly once. It is copied away from the checkout
and run with the Python of an environment that has the wheel; it prints what it saw as JSON."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from pyspark.sql import DataFrame, SparkSession

import barnabas.spark

SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # as JVMs on shared cores like it for half a minute


def read(spark: SparkSession, bootstrap: str, topic: str) -> DataFrame:
    options = {"kafka.bootstrap.servers": bootstrap, "subscribe": topic, "startingOffsets": "earliest"}
    return spark.read.format("barnabas").options(**options).load()


def shout(spark: SparkSession, bootstrap: str, source: str, target: str, checkpoint: str) -> None:
    rows = (
        spark.readStream.format("barnabas")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("subscribe", source)
        .option("startingOffsets", "earliest")
        .load()
    )
    shouted = rows.selectExpr("key", "upper(cast(value as string)) AS value")
    query = (
        barnabas.spark.write_stream(shouted, topic=target, **{"kafka.bootstrap.servers": bootstrap})
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def executors(spark: SparkSession) -> list[tuple[str, str]]:
    """Where each executor works, and where it found Barnabas."""

    def look(_: int) -> tuple[str, str]:
        import barnabas

        return os.getcwd(), str(barnabas.__file__)

    found: list[Any] = spark.sparkContext.parallelize(range(8), 8).map(look).collect()
    return sorted(set(found))


def main(master: str, bootstrap: str, source: str, target: str, checkpoint: str) -> None:
    spark = (
        SparkSession.builder.master(master)
        .appName("shout")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "512m")
        .config("spark.executor.memory", "512m")
        .config("spark.driver.extraJavaOptions", SHORT_LIVED)
        .config("spark.executor.extraJavaOptions", SHORT_LIVED)
        .config("spark.executor.cores", "1")
        .config("spark.cores.max", "2")
        # Both workers are there before the first task, or one could do all the work.
        .config("spark.scheduler.minRegisteredResourcesRatio", "1.0")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    shout(spark, bootstrap, source, target, checkpoint)
    words = read(spark, bootstrap, target).selectExpr("cast(value as string) AS word").collect()
    print(json.dumps({"words": sorted(row.word for row in words), "executors": executors(spark)}))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
