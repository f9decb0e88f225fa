"""Small streaming queries for tests: they run until nothing is left to read, and say what they read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession


class Stream:
    """One query with its checkpoint. What every batch read is kept, also over restarts."""

    def __init__(self, spark: SparkSession, bootstrap: str, home: Path, **options: str) -> None:
        self._spark = spark
        self._home = home
        self.batches: list[list[int]] = []
        self.options = {
            "kafka.bootstrap.servers": bootstrap,
            **{name.replace("__", "."): value for name, value in options.items()},
        }

    @property
    def numbers(self) -> list[int]:
        return sorted(number for batch in self.batches for number in batch)

    def available_now(self) -> Any:
        """Everything that is there when the query starts, then the end."""
        query = self.writer().trigger(availableNow=True).start()
        query.awaitTermination(240)
        return query

    @contextmanager
    def running(self, **trigger: Any) -> Iterator[Any]:
        query = self.writer().trigger(**(trigger or {"processingTime": "0 seconds"})).start()
        try:
            yield query
        finally:
            query.stop()

    def writer(self) -> Any:
        frame = self._spark.readStream.format("barnabas").options(**self.options).load()
        return frame.writeStream.foreachBatch(self._take).option("checkpointLocation", str(self._home))

    def _take(self, frame: DataFrame, _: int) -> None:
        self.batches.append([int(row.value) for row in frame.select("value").collect()])
