"""Plans the micro-batches of one stream: where it starts, how far each batch goes, what its tasks read."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping

from barnabas.model.ids import TopicPartition
from barnabas.spark.errors import PipelineError
from barnabas.spark.options import Options
from barnabas.spark.planning_errors import warn
from barnabas.spark.source.contact import connected
from barnabas.spark.source.lookup import Lookup
from barnabas.spark.source.losses import ADVICE, checked
from barnabas.spark.source.offsets import Offsets
from barnabas.spark.source.places import AtOffsets
from barnabas.spark.source.progress import Progress
from barnabas.spark.source.ranges import Range, between, count_between, divided, limited
from barnabas.spark.source.settings import SourceSettings


class Planner:
    def __init__(self, options: Options, settings: SourceSettings) -> None:
        self._settings = settings
        self._cluster = connected(options)
        self._lookup = Lookup(self._cluster, settings)
        self._progress = Progress(options, settings.group_id)
        self._initial: Offsets | None = None
        self._target: Offsets | None = None  # of AvailableNow
        self._last_batch_s = -math.inf  # the first batch waits for nothing
        self.latest: Offsets | None = None  # as seen last

    def initial(self) -> Offsets:
        """Where a new query starts. Spark asks twice, and "latest" must not move in between."""
        if self._initial is None:
            partitions = self._lookup.partitions()
            self._initial = self._lookup.resolve(self._settings.start, partitions)
            if isinstance(self._settings.start, AtOffsets):
                self._initial = self._within(self._initial)
            if self._target is not None:
                # What came between the two questions must not look like an end that went backwards.
                behind = {row: max(offset, self._target.get(row, 0)) for row, offset in self._initial.items()}
                self._target |= behind
        return self._initial

    def _within(self, wanted: Offsets) -> Offsets:
        earliest, latest = self._lookup.earliest(wanted), self._lookup.latest(wanted)
        for partition, offset in sorted(wanted.items()):
            if not earliest[partition] <= offset <= latest[partition]:
                self._lost(
                    f"Offset {offset} of {partition}, where startingOffsets says to start, is out of range: "
                    f"the partition has {earliest[partition]} to {latest[partition]}."
                )
        return {row: min(max(offset, earliest[row]), latest[row]) for row, offset in wanted.items()}

    def stop_at_what_is_there(self) -> None:
        """Trigger.AvailableNow: the query ends where the partitions end now, new partitions included."""
        self._target = self._lookup.latest(self._lookup.present(()))

    def next_end(self, start: Offsets, everything: bool) -> Offsets:
        """How far the batch that begins at `start` goes; `start` itself: there is no batch now."""
        self.finished(start)
        latest = self._end_of_all(start)
        self.latest = latest
        if everything:
            return latest
        if self._target is None and self._too_little(start, latest):
            return start
        if self._settings.max_offsets_per_trigger is None:
            return latest
        return limited(self._with_new(start, latest), latest, self._settings.max_offsets_per_trigger)

    def _end_of_all(self, start: Offsets) -> Offsets:
        if self._target is not None:
            return self._target
        return self._lookup.latest(self._lookup.present(start), known=start)

    def _with_new(self, start: Offsets, latest: Offsets) -> Offsets:
        """Partitions that the query has not seen yet are read from their beginning."""
        return self._lookup.earliest([row for row in latest if row not in start]) | start

    def _too_little(self, start: Offsets, latest: Offsets) -> bool:
        wanted = self._settings.min_offsets_per_trigger
        if wanted is None:
            return False
        now_s = time.monotonic()
        waited_ms = (now_s - self._last_batch_s) * 1000
        if waited_ms < self._settings.max_trigger_delay_ms and count_between(start, latest) < wanted:
            return True
        self._last_batch_s = now_s
        return False

    def ranges(self, start: Offsets, end: Offsets) -> list[Range]:
        """The tasks of one batch, after a look at what is still there."""
        present = self._lookup.present({*start, *end}) & {*start, *end}
        found = checked(start, end, self._lookup.earliest(present))
        for sentence in found.losses:
            self._lost(sentence)
        return divided(
            between(found.start, found.end),
            self._settings.min_partitions,
            self._settings.max_records_per_partition,
        )

    def finished(self, offsets: Mapping[TopicPartition, int]) -> None:
        self._progress.finished(offsets)

    def close(self) -> None:
        self._progress.close()
        self._cluster.close()

    def _lost(self, sentence: str) -> None:
        if self._settings.fail_on_data_loss:
            raise PipelineError(f"{sentence} {ADVICE}")
        warn(sentence)
