"""Word count: read sentences from one topic, write how often each word came so far to another.

A word that comes again is written again, with its new count as the value: the last record of a key counts.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from barnabas.spark import local_session, write_stream


def word_counts(records: DataFrame) -> DataFrame:
    words = F.explode(F.split(F.lower(F.col("value").cast("string")), r"\W+"))
    counts = records.select(words.alias("word")).where("word != ''").groupBy("word").count()
    return counts.select(F.col("word").alias("key"), F.col("count").cast("string").alias("value"))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bootstrap-server", default="localhost:9092")
    parser.add_argument("--input", default="sentences", help="topic to read")
    parser.add_argument("--output", default="word-counts", help="topic to write")
    parser.add_argument("--checkpoint", default="checkpoints/word-count", help="what was done so far")
    parser.add_argument("--available-now", action="store_true", help="stop when all that is there is done")
    asked = parser.parse_args(arguments)

    spark = SparkSession.getActiveSession() or local_session("word count")
    servers = {"kafka.bootstrap.servers": asked.bootstrap_server}
    sentences = (
        spark.readStream.format("barnabas")
        .options(**servers)
        .option("subscribe", asked.input)
        .option("startingOffsets", "earliest")
        .load()
    )
    writer = write_stream(word_counts(sentences), topic=asked.output, **servers)
    writer = writer.outputMode("update").option("checkpointLocation", asked.checkpoint)
    if asked.available_now:
        writer = writer.trigger(availableNow=True)
    writer.start().awaitTermination()


if __name__ == "__main__":
    main()
