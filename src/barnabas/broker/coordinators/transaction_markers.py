"""A transaction's marker enters a partition that we lead.

Producer state, last stable offset and aborted index follow it, readers of committed records wake, and where
offsets were committed the group coordinator learns that they count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from barnabas.broker.coordinators.internal_topics import OFFSETS_TOPIC
from barnabas.broker.replication.leadership import leads_since
from barnabas.broker.replication.partition import ACKS_ALL, Partition
from barnabas.coordination.outcome import Producer
from barnabas.log.producer_entry import Origin
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.records.control import EndTransactionMarker, build_marker

if TYPE_CHECKING:
    from barnabas.broker.node import Node


class MarkerCommit:
    """A marker that was appended and waits for the replicas or the disk."""

    __slots__ = ("_done", "_last_offset", "_leader_epoch", "_node", "_timer")

    def __init__(
        self, node: Node, partition: Partition, last_offset: int, done: Callable[[ErrorCode], None]
    ) -> None:
        self._node = node
        self._last_offset = last_offset
        self._leader_epoch = partition.image.leader_epoch
        self._done = done
        partition.waiting[self] = None
        deadline_ms = node.now_ms + node.settings.integer("request.timeout.ms")
        self._timer = node.timers.at(deadline_ms, lambda: self._end(partition, ErrorCode.REQUEST_TIMED_OUT))

    def moved(self, partition: Partition) -> None:
        if partition.log is None:
            self._end(partition, ErrorCode.KAFKA_STORAGE_ERROR)
        elif not leads_since(partition, self._leader_epoch):
            # The next leader may not have it, and what it has at this offset may be something else.
            self._end(partition, ErrorCode.NOT_LEADER_OR_FOLLOWER)
        elif partition.is_committed(self._last_offset, ACKS_ALL):
            self._end(partition, ErrorCode.NONE)

    def _end(self, partition: Partition, code: ErrorCode) -> None:
        # Whoever moved the partition may be in the middle of telling everybody, and tell twice.
        if self in partition.waiting:
            del partition.waiting[self]
            self._node.timers.cancel(self._timer)
            self._done(code)


def write_marker(
    node: Node,
    place: TopicPartition,
    producer: Producer,
    marker: EndTransactionMarker,
    transaction_version: int,
    done: Callable[[ErrorCode], None],
) -> None:
    """Append a marker to a partition that we lead; `done` when it is committed, or cannot be written."""
    batch = build_marker(
        marker, producer_id=producer.id, producer_epoch=producer.epoch, timestamp=node.wall_ms
    )
    try:
        partition = node.replicas.get(*place)
        appended = partition.append(
            memoryview(batch),
            ACKS_ALL,
            node.wall_ms,
            origin=Origin.COORDINATOR,
            transaction_version=transaction_version,
        )
    except ApiError as error:
        done(error.code)
        return
    if place.topic == OFFSETS_TOPIC:
        node.groups.marker_appended(place.partition, producer, marker.committed)
    if partition.is_committed(appended.last_offset, ACKS_ALL):
        done(ErrorCode.NONE)
    else:
        MarkerCommit(node, partition, appended.last_offset, done)
