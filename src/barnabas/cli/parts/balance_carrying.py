"""Carrying out what `barnabas cluster balance` proposes: a few partitions at a time, throttled, watched.

Whoever interrupts it gets back what is under way; what has arrived stays where it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import islice

from barnabas.cli.parts import reassign_throttles
from barnabas.cli.parts.balance_reading import sizes
from barnabas.cli.parts.reassign_throttles import PartitionMove
from barnabas.cli.support.failures import ToolError
from barnabas.controller.balancing import Balanced, Placed
from barnabas.model.ids import TopicPartition
from barnabas.wire import Cluster
from barnabas.wire.admin import reassignments

_LOOK_S = 0.25

# Called with the bytes that have arrived so far, and with the partitions that have.
Told = Callable[[int, int], None]


class Carrying:
    """`patience_s` is how long nothing may arrive before it is given up."""

    def __init__(
        self, cluster: Cluster, plan: Balanced, throttle: int, patience_s: float, told: Told
    ) -> None:
        self._cluster = cluster
        self._plan = plan
        self._throttle = throttle
        self._patience_s = patience_s
        self._told = told
        self._arrived_bytes = 0
        self._arrived_count = 0

    def run(self, at_once: int) -> None:
        rest = iter(self._plan.changed.values())
        while batch := {partition.place: partition for partition in islice(rest, at_once)}:
            self._move(batch)

    def _move(self, batch: Mapping[TopicPartition, Placed]) -> None:
        moves = {place: self._move_of(partition) for place, partition in batch.items()}
        is_throttled = self._throttle > 0 and any(move.destinations for move in moves.values())
        try:
            if is_throttled:
                reassign_throttles.set_replication_throttle(self._cluster, moves, self._throttle)
            self._begin(batch)
            self._watch(batch, moves)
        except BaseException:
            self._cluster.close()  # an answer that was interrupted must not be taken for the next one
            under_way = reassignments.ongoing(self._cluster, batch)
            if under_way:
                reassignments.alter(self._cluster, dict.fromkeys(under_way))
            raise
        finally:
            if is_throttled:
                reassign_throttles.lift_from_brokers(self._cluster, reassign_throttles.brokers_of(moves))
                reassign_throttles.lift_from_topics(self._cluster, {place.topic for place in batch})

    def _move_of(self, partition: Placed) -> PartitionMove:
        before = frozenset(self._plan.before.partitions[partition.place].replicas)
        return PartitionMove(before, frozenset(partition.replicas) - before)

    def _begin(self, batch: Mapping[TopicPartition, Placed]) -> None:
        targets = {place: partition.replicas for place, partition in batch.items()}
        refused = reassignments.alter(self._cluster, targets, allow_replication_factor_change=False)
        for place, error in refused.items():
            raise ToolError(f"{place} cannot be moved to {list(targets[place])}: {error}")

    def _watch(
        self, batch: Mapping[TopicPartition, Placed], moves: Mapping[TopicPartition, PartitionMove]
    ) -> None:
        seen = -1
        seen_s = time.monotonic()
        while under_way := sorted(reassignments.ongoing(self._cluster, batch)):
            arrived = self._tell(batch, moves, under_way)
            if arrived > seen:
                seen, seen_s = arrived, time.monotonic()
            elif time.monotonic() - seen_s > self._patience_s:
                raise ToolError(
                    f"Nothing has arrived for {self._patience_s:g} s ({under_way[0]} is one that should): "
                    "is a broker away? What was under way is taken back."
                )
            time.sleep(_LOOK_S)
        self._tell(batch, moves, ())
        self._arrived_bytes += sum(_bytes_of(batch[place], moves[place]) for place in batch)
        self._arrived_count += len(batch)

    def _tell(
        self,
        batch: Mapping[TopicPartition, Placed],
        moves: Mapping[TopicPartition, PartitionMove],
        under_way: Sequence[TopicPartition],
    ) -> int:
        """Bytes and partitions that have arrived, in one number that grows."""
        there = sum(_bytes_of(batch[place], moves[place]) for place in batch if place not in under_way)
        takers = {broker for place in under_way for broker in moves[place].destinations}
        found = sizes(self._cluster, takers, under_way) if takers else {}
        for place in under_way:
            size = batch[place].size_bytes
            there += sum(min(size, found.get((place, broker), 0)) for broker in moves[place].destinations)
        count = self._arrived_count + len(batch) - len(under_way)
        self._told(self._arrived_bytes + there, count)
        return self._arrived_bytes + there + count


def _bytes_of(partition: Placed, move: PartitionMove) -> int:
    return partition.size_bytes * len(move.destinations)
