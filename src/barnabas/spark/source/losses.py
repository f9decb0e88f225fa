"""What is lost between the offsets a query knows and those the brokers have. Pure decisions, in sentences.

Data can be lost because it was deleted before it was read (retention, a deleted or recreated topic). With
`failOnDataLoss` the query ends with the sentence; without, it goes on with what is there, and warns.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from barnabas.model.ids import TopicPartition
from barnabas.spark.source.offsets import Offsets, names

ADVICE = "Set option failOnDataLoss to false to go on without what is lost."


class Checked(NamedTuple):
    start: Offsets
    end: Offsets
    losses: list[str]  # a sentence each


def new_partitions(
    start: Mapping[TopicPartition, int], wanted: Collection[TopicPartition]
) -> set[TopicPartition]:
    """Partitions that the query has not seen yet. They are read from their beginning."""
    return set(wanted) - set(start)


def checked(
    start: Mapping[TopicPartition, int],
    end: Mapping[TopicPartition, int],
    earliest: Mapping[TopicPartition, int],
) -> Checked:
    """What can be read of a batch from `start` to `end`, given where the partitions begin now. A partition
    that is not in `earliest` is gone."""
    losses = []
    if gone := {
        partition for partition in {*start, *end} if partition not in earliest or partition not in end
    }:
        losses.append(f"{names(gone)} are gone: some data may have been missed.")
    first: Offsets = {}
    last: Offsets = {}
    for partition, until in sorted(end.items()):
        if partition in gone:
            continue
        begin = earliest[partition]
        since = start.get(partition, begin)
        if until < since:
            losses.append(
                f"The end of {partition} was changed from {since} to {until}, as if its topic had been "
                "created anew: some data may have been missed."
            )
        elif partition not in start and begin > 0:
            losses.append(
                f"The new partition {partition} starts from {begin} instead of 0: some data may have been "
                "missed."
            )
        elif since < begin and since < until:
            losses.append(aged_out(partition, since, min(begin, until)))
        first[partition] = min(max(since, begin), until)
        last[partition] = until
    return Checked(first, last, losses)


def aged_out(partition: TopicPartition, since: int, until: int) -> str:
    return (
        f"Records {since} to {until - 1} of {partition} are not available any more: they were deleted "
        "before they were read."
    )
