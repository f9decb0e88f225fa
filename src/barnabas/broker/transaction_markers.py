"""Markers on their way to the partitions of a decided transaction.

Each partition's leader appends one: producer state, last stable offset and aborted index follow it, readers
of committed records wake, and where offsets were committed the group coordinator learns that they count. What
cannot be written now is tried again until it can: the decision stands.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from barnabas.broker.internal_topics import OFFSETS_TOPIC
from barnabas.broker.partition import ACKS_ALL, Partition
from barnabas.coordination.outcome import Producer
from barnabas.log.producer_entry import Origin
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.records.control import EndTransactionMarker, build_marker
from barnabas.transactions.host import Markers

if TYPE_CHECKING:
    from barnabas.broker.node import Node

log = logging.getLogger("kafka.coordinator.transaction")

_RETRY_MS: Final = 100
# The partition has moved on: a newer epoch of this producer has written there, so nothing of ours is open.
_TOO_LATE: Final = frozenset({ErrorCode.INVALID_PRODUCER_EPOCH})
# A newer coordinator has taken over, and finishes what we began.
_NOT_OURS: Final = ErrorCode.TRANSACTION_COORDINATOR_FENCED


class MarkerCommit:
    """A marker that was appended and waits for the replicas or the disk."""

    __slots__ = ("_done", "_last_offset", "_reign")

    def __init__(self, partition: Partition, last_offset: int, done: Callable[[ErrorCode], None]) -> None:
        self._last_offset = last_offset
        self._reign = partition.reign
        self._done = done
        partition.waiting[self] = None

    def moved(self, partition: Partition) -> None:
        code = partition.fate(self._last_offset, ACKS_ALL, self._reign)
        if code is None:
            return
        # Whoever moved the partition may be in the middle of telling everybody, and tell twice.
        if self in partition.waiting:
            del partition.waiting[self]
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
    partition = node.replicas.find(*place)
    if partition is None:
        done(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        return
    batch = build_marker(
        marker, producer_id=producer.id, producer_epoch=producer.epoch, timestamp=node.wall_ms
    )
    try:
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
        MarkerCommit(partition, appended.last_offset, done)


class MarkerCarrier:
    """Carries one transaction's markers. `written` hears of each partition that has its marker, while its
    coordinator `is_ours`."""

    def __init__(
        self,
        node: Node,
        markers: Markers,
        written: Callable[[TopicPartition], None],
        is_ours: Callable[[], bool],
    ) -> None:
        self._node = node
        self._markers = markers
        self._marker = EndTransactionMarker(markers.committed, markers.coordinator_epoch)
        self._written = written
        self._is_ours = is_ours

    def send(self) -> None:
        for place in sorted(self._markers.partitions):
            self._try(place)

    def _try(self, place: TopicPartition) -> None:
        if not self._is_ours():
            return
        if self._node.image.partition(*place) is None:
            self._written(place)  # deleted meanwhile: nobody is left to tell
            return
        markers = self._markers
        write_marker(
            self._node,
            place,
            markers.producer,
            self._marker,
            markers.transaction_version,
            lambda code: self._tried(place, code),
        )

    def _tried(self, place: TopicPartition, code: ErrorCode) -> None:
        if code is ErrorCode.NONE or code in _TOO_LATE:
            self._written(place)
        elif code is _NOT_OURS:
            log.warning("Another coordinator finishes the transaction of %s", self._markers.transactional_id)
        else:
            node = self._node
            node.timers.at(node.now_ms + _RETRY_MS, lambda: self._try(place))
