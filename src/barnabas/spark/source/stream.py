"""`spark.readStream`: the hooks of a stream. All but `read` run in one long-lived process per query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    ReadMinRows,
    SupportsTriggerAvailableNow,
)

from barnabas.spark.options import Options
from barnabas.spark.planning_errors import plainly
from barnabas.spark.source.batch import NothingToRead, RangePartition
from barnabas.spark.source.offsets import from_json, to_json
from barnabas.spark.source.planner import Planner
from barnabas.spark.source.settings import SourceSettings

Json: TypeAlias = dict[str, dict[str, int]]


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Pickles as long as it has not planned anything: tasks get a copy."""

    def __init__(self, options: Options, settings: SourceSettings) -> None:
        self._options = options
        self._settings = settings
        self._planner: Planner | None = None

    def _planning(self) -> Planner:
        if self._planner is None:
            self._planner = Planner(self._options, self._settings)
        return self._planner

    @plainly
    def initialOffset(self) -> Json:
        return to_json(self._planning().initial())

    @plainly
    def prepareForTriggerAvailableNow(self) -> None:
        self._planning().stop_at_what_is_there()

    def getDefaultReadLimit(self) -> ReadLimit:
        """Spark's Python sources have one limit; where both are set, `latestOffset` knows of the other."""
        if self._settings.max_offsets_per_trigger is not None:
            return ReadMaxRows(self._settings.max_offsets_per_trigger)
        if self._settings.min_offsets_per_trigger is not None:
            return ReadMinRows(self._settings.min_offsets_per_trigger)
        return ReadAllAvailable()

    @plainly
    def latestOffset(self, start: Json, limit: ReadLimit) -> Json:
        everything = isinstance(limit, ReadAllAvailable)
        return to_json(self._planning().next_end(from_json(start), everything))

    def reportLatestOffset(self) -> Json | None:
        latest = self._planning().latest
        return None if latest is None else to_json(latest)

    @plainly
    def partitions(self, start: Json, end: Json) -> list[InputPartition]:
        pieces = self._planning().ranges(from_json(start), from_json(end))
        return [RangePartition(piece) for piece in pieces] or [NothingToRead()]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        from barnabas.spark.source.reading import read

        if isinstance(partition, RangePartition):
            yield from read(self._options, self._settings, partition.range)

    @plainly
    def commit(self, end: Json) -> None:
        self._planning().finished(from_json(end))

    def stop(self) -> None:
        if self._planner is not None:
            self._planner.close()
