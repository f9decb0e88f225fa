"""Where a task's rows go when no shuffle has placed them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from barnabas.spark.sink.connections import connected
from barnabas.spark.sink.placing import STICKY_ROWS, Ints, place, place_by_topic
from barnabas.spark.sink.rows import column_of
from barnabas.spark.sink.settings import Sink
from barnabas.spark.sink.targets import Targets


class Spread:
    """Where the rows of one task go that neither name a partition nor have a key: to one partition, which is
    another one for each task; or on to the next one from time to time."""

    def __init__(self, sink: Sink, task: int, *, is_moving: bool) -> None:
        self._sink = sink
        self._task = task
        self._is_moving = is_moving
        self._row_count = 0
        self._targets = Targets(connected(sink))

    def __call__(self, batch: pa.RecordBatch) -> pa.Array:
        names = batch.schema.names
        keys = column_of(batch, "key", pa.binary()) if "key" in names else None
        named = column_of(batch, "partition", pa.int32()) if "partition" in names else None
        without_key = self._numbers(batch.num_rows)
        if self._sink.topic is not None:
            return place(named, keys, without_key, self._targets.partition_count(self._sink.topic))
        topics = column_of(batch, "topic", pa.string())
        return place_by_topic(topics, named, keys, without_key, self._targets)

    def _numbers(self, row_count: int) -> Ints:
        if not self._is_moving:
            return np.full(row_count, self._task, np.int64)
        numbers = np.arange(self._row_count, self._row_count + row_count)
        self._row_count += row_count
        return numbers // STICKY_ROWS + self._task
