"""`spark.read`: the whole range is planned once, before the first task starts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition

from barnabas.model.ids import TopicPartition
from barnabas.spark.errors import PipelineError
from barnabas.spark.options import Options
from barnabas.spark.planning_errors import plainly, warn
from barnabas.spark.source.contact import connected
from barnabas.spark.source.lookup import Lookup
from barnabas.spark.source.losses import ADVICE, aged_out
from barnabas.spark.source.offsets import Offsets
from barnabas.spark.source.ranges import Range, between, divided
from barnabas.spark.source.settings import SourceSettings

_ONLY_IN_STREAMS = ("maxOffsetsPerTrigger", "minOffsetsPerTrigger", "maxTriggerDelay")


class RangePartition(InputPartition):
    """One task's range."""

    def __init__(self, wanted: Range) -> None:
        super().__init__(wanted)
        self.range = wanted


class NothingToRead(InputPartition):
    """Spark wants one partition at least."""

    def __init__(self) -> None:
        super().__init__(None)


class BatchReader(DataSourceReader):
    """Pickles: every task gets a copy."""

    def __init__(self, options: Options, settings: SourceSettings) -> None:
        self._options = options
        self._settings = settings

    @plainly
    def partitions(self) -> list[InputPartition]:
        for option in _ONLY_IN_STREAMS:
            if self._options.text(option) is not None:
                warn(f"Option {option} means nothing in a batch query.")
        with connected(self._options) as cluster:
            ranges = _planned(Lookup(cluster, self._settings), self._settings)
        pieces = divided(ranges, self._settings.min_partitions, self._settings.max_records_per_partition)
        return [RangePartition(piece) for piece in pieces] or [NothingToRead()]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        from barnabas.spark.source.reading import read

        if isinstance(partition, RangePartition):
            yield from read(self._options, self._settings, partition.range)


def _planned(lookup: Lookup, settings: SourceSettings) -> list[Range]:
    partitions = lookup.partitions()
    start = lookup.resolve(settings.start, partitions)
    end = lookup.resolve(settings.end, partitions)
    bounds = _Bounds(lookup, partitions, settings.fail_on_data_loss)
    start, end = bounds.start(start), bounds.end(end)
    for partition in sorted(partitions):
        if start[partition] > end[partition]:
            raise PipelineError(
                f"The start offset {start[partition]} of {partition} is greater than its end offset "
                f"{end[partition]}: correct the options that say where to start and to end."
            )
    return between(start, end)


class _Bounds:
    """What the user wants, within what the brokers have."""

    def __init__(self, lookup: Lookup, partitions: Collection[TopicPartition], strict: bool) -> None:
        self._earliest = lookup.earliest(partitions)
        self._latest = lookup.latest(partitions)
        self._strict = strict

    def start(self, wanted: Mapping[TopicPartition, int]) -> Offsets:
        for partition, offset in wanted.items():
            if offset < self._earliest[partition]:
                self._lost(aged_out(partition, offset, self._earliest[partition]))
        return {partition: max(offset, self._earliest[partition]) for partition, offset in wanted.items()}

    def end(self, wanted: Mapping[TopicPartition, int]) -> Offsets:
        for partition, offset in wanted.items():
            if offset > self._latest[partition]:
                self._lost(
                    f"{partition} ends at offset {self._latest[partition]}, before {offset}, "
                    "where the options say that reading ends."
                )
        return {partition: min(offset, self._latest[partition]) for partition, offset in wanted.items()}

    def _lost(self, sentence: str) -> None:
        if self._strict:
            raise PipelineError(f"{sentence} {ADVICE}")
        warn(sentence)
