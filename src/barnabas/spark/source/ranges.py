"""From offsets to tasks: which ranges to read, how many per trigger, how to divide them. Pure.

The arithmetic is that of Spark's own connector, so that a query that moves here keeps its batches and tasks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from barnabas.model.ids import TopicPartition
from barnabas.spark.source.offsets import INT64_MAX, Offsets


class Range(NamedTuple):
    """Offsets from `start` up to but without `end`."""

    topic: str
    partition: int
    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.start


def between(start: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int]) -> list[Range]:
    """What is not empty, in the order of topics and partitions."""
    ranges = [Range(*partition, start[partition], end[partition]) for partition in sorted(end)]
    return [row for row in ranges if row.size > 0]


def divided(
    ranges: Iterable[Range], min_partitions: int | None = None, max_records: int | None = None
) -> list[Range]:
    """Ranges for at least `min_partitions` tasks, rounding aside, none of more than `max_records`."""
    pieces = [row for row in ranges if row.size > 0]
    if max_records is not None:
        pieces = [piece for row in pieces for piece in _cut(row, math.ceil(row.size / max_records))]
    if min_partitions is None or min_partitions <= len(pieces):
        return pieces
    return list(_spread(pieces, min_partitions))


def _spread(ranges: list[Range], wanted: int) -> Iterator[Range]:
    """Large ranges get the tasks that small ones, which stay whole, do not use up."""
    total = sum(row.size for row in ranges)
    small = {row for row in ranges if _share(row.size, total, wanted) == 1}
    large_total = total - sum(row.size for row in small)
    for row in ranges:
        yield from _cut(row, 1 if row in small else _share(row.size, large_total, wanted - len(small)))


def _share(size: int, total: int, count: int) -> int:
    return max(math.floor(size / total * count + 0.5), 1)


def _cut(row: Range, count: int) -> Iterator[Range]:
    start = row.start
    for left in range(count, 0, -1):
        end = start + (row.end - start) // left
        if end > start:
            yield row._replace(start=start, end=end)
        start = end


def limited(start: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int], limit: int) -> Offsets:
    """No more than about `limit` offsets behind `start`, shared in proportion to what each partition has
    waiting; a partition with anything waiting advances by at least one."""
    waiting = {
        partition: offset - start[partition]
        for partition, offset in end.items()
        if offset > start.get(partition, offset)
    }
    total = sum(waiting.values())
    return {
        partition: min(offset, start[partition] + _part(waiting[partition], total, limit))
        if partition in waiting
        else offset
        for partition, offset in end.items()
    }


def _part(waiting: int, total: int, limit: int) -> int:
    share = limit * (waiting / total)
    return min(math.ceil(share) if share < 1 else math.floor(share), INT64_MAX)


def count_between(start: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int]) -> int:
    return sum(offset - start.get(partition, 0) for partition, offset in end.items())
