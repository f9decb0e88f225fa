"""Markers on their way to the partitions of a decided transaction, each to the partition's leader.

What cannot be written now is tried again until it can, with whoever leads by then: the decision stands. Only
another coordinator, which finishes what we began, ends our trying.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Final, TypeAlias

from barnabas.broker.cluster.errands import Errands
from barnabas.broker.coordinators.transaction_markers import write_marker
from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from barnabas.protocol.schema import Message
from barnabas.records.control import EndTransactionMarker
from barnabas.transactions.host import Markers

if TYPE_CHECKING:
    from barnabas.broker.node import Node

log = logging.getLogger("kafka.coordinator.transaction")

_FIRST_PAUSE_MS: Final = 50
_LONGEST_PAUSE_MS: Final = 500
_VERSION: Final = 2
# The partition has moved on: a newer epoch of this producer has written there, so nothing of ours is open.
_TOO_LATE: Final = frozenset({ErrorCode.INVALID_PRODUCER_EPOCH})
# A newer coordinator has taken over, and finishes what we began.
_NOT_OURS: Final = ErrorCode.TRANSACTION_COORDINATOR_FENCED


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
        self.markers = markers
        self._marker = EndTransactionMarker(markers.committed, markers.coordinator_epoch)
        self._written = written
        self._is_ours = is_ours
        self._again: list[TopicPartition] = []
        self._pause_ms = _FIRST_PAUSE_MS

    def send(self) -> None:
        self._send(sorted(self.markers.partitions))

    def _send(self, places: Iterable[TopicPartition]) -> None:
        elsewhere: dict[int, list[TopicPartition]] = {}
        for place in places:
            if not self._is_ours():
                return
            partition = self._node.image.partition(*place)
            if partition is None:
                self._written(place)  # deleted meanwhile: nobody is left to tell
            elif partition.leader == self._node.broker_id:
                self._try(place)
            elif partition.leader in self._node.image.brokers:
                elsewhere.setdefault(partition.leader, []).append(place)
            else:
                self._later(place)
        for leader, together in elsewhere.items():
            self._node.marker_errands.add(leader, _Parcel(self, together))

    def _try(self, place: TopicPartition) -> None:
        markers = self.markers
        write_marker(
            self._node,
            place,
            markers.producer,
            self._marker,
            markers.transaction_version,
            lambda code: self.tried(place, code),
        )

    def tried(self, place: TopicPartition, code: ErrorCode) -> None:
        if code is ErrorCode.NONE or code in _TOO_LATE:
            self._written(place)
        elif code is _NOT_OURS:
            log.warning("Another coordinator finishes the transaction of %s", self.markers.transactional_id)
        else:
            self._later(place)

    def _later(self, place: TopicPartition) -> None:
        if not self._again:
            self._node.timers.at(self._node.now_ms + self._pause_ms, self._send_again)
            self._pause_ms = min(2 * self._pause_ms, _LONGEST_PAUSE_MS)
        self._again.append(place)

    def _send_again(self) -> None:
        places, self._again = self._again, []
        self._send(places)


class _Parcel:
    """What one broker is to write of one transaction."""

    def __init__(self, carrier: MarkerCarrier, places: list[TopicPartition]) -> None:
        self.markers = carrier.markers
        self.places = places
        self._carrier = carrier

    @property
    def key(self) -> Hashable:
        return self.markers.producer.id

    @property
    def partition_count(self) -> int:
        return len(self.places)

    def row(self) -> WritableTxnMarker:
        topics: dict[str, list[int]] = {}
        for place in self.places:
            topics.setdefault(place.topic, []).append(place.partition)
        markers = self.markers
        return WritableTxnMarker(
            markers.producer.id,
            markers.producer.epoch,
            markers.committed,
            [WritableTxnMarkerTopic(topic, indexes) for topic, indexes in topics.items()],
            markers.coordinator_epoch,
            markers.transaction_version,
        )

    def answered(self, codes: dict[TopicPartition, ErrorCode]) -> None:
        for place in self.places:
            self._carrier.tried(place, codes.get(place, ErrorCode.UNKNOWN_SERVER_ERROR))

    def failed(self) -> None:
        for place in self.places:
            self._carrier.tried(place, ErrorCode.NETWORK_EXCEPTION)


MarkerErrands: TypeAlias = Errands[_Parcel]


def marker_errands(node: Node) -> MarkerErrands:
    return Errands(node, _VERSION, _write, _read)


def _write(parcels: list[_Parcel]) -> Message:
    return WriteTxnMarkersRequest(markers=[parcel.row() for parcel in parcels])


def _read(parcels: list[_Parcel], answer: Message) -> None:
    assert isinstance(answer, WriteTxnMarkersResponse)
    results = {
        row.producer_id: {
            TopicPartition(topic.name, result.partition_index): ErrorCode(result.error_code)
            for topic in row.topics
            for result in topic.partitions
        }
        for row in answer.markers
    }
    for parcel in parcels:
        parcel.answered(results.get(parcel.markers.producer.id, {}))
