"""A user's program that talks to Spark over Connect. It is copied away from the checkout and run with the
Python of an environment that has the wheel, as is the server; it prints what it saw as JSON."""

from __future__ import annotations

import json
import sys

from pyspark.sql import DataFrame, SparkSession

import barnabas.spark


def words_of(rows: DataFrame) -> list[str]:
    return sorted(row.word for row in rows.selectExpr("cast(value as string) AS word").collect())


def main(server: str, bootstrap: str, topic: str, folder: str) -> None:
    spark = SparkSession.builder.remote(server).getOrCreate()
    address = {"kafka.bootstrap.servers": bootstrap}
    reading = address | {"startingOffsets": "earliest"}

    def read(name: str) -> DataFrame:
        return spark.read.format("barnabas").options(**reading, subscribe=name).load()

    rows = read(topic).selectExpr("key", "value")
    # As many partitions there as here, and the same keys: each task has one to itself, and needs no shuffle.
    rows.write.format("barnabas").options(**address, topic=f"{topic}-saved").mode("append").save()
    barnabas.spark.write(rows, topic=f"{topic}-written", **address)
    barnabas.spark.register(spark)
    stream = spark.readStream.format("barnabas").options(**reading, subscribe=f"{topic}-saved").load()
    loud = stream.selectExpr("key", "upper(cast(value as string)) AS value")
    into = address | {"checkpointLocation": f"{folder}/checkpoint"}
    writer = barnabas.spark.write_stream(loud, topic=f"{topic}-streamed", **into)
    writer.trigger(availableNow=True).start().awaitTermination()
    print(json.dumps({way: words_of(read(f"{topic}-{way}")) for way in ("saved", "written", "streamed")}))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
