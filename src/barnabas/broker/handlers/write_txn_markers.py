"""WriteTxnMarkers v1–v2 (KIP-98, KIP-664, KIP-890): end transactions in partitions that we lead. Coordinators
send it to other brokers, and administrators to end a transaction that hangs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from barnabas.broker.coordinators.transaction_markers import write_marker
from barnabas.broker.dispatch import Context
from barnabas.coordination.outcome import Producer
from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.write_txn_markers import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from barnabas.records.control import EndTransactionMarker

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(node: Node, context: Context, request: WriteTxnMarkersRequest) -> WriteTxnMarkersResponse | None:
    results: dict[int, dict[TopicPartition, ErrorCode]] = {row.producer_id: {} for row in request.markers}
    wanted = [
        (row, TopicPartition(topic.name, index))
        for row in request.markers
        for topic in row.topics
        for index in topic.partition_indexes
    ]
    missing = len(wanted)
    if not wanted:
        return _response(results)

    def written(producer_id: int, place: TopicPartition, code: ErrorCode) -> None:
        nonlocal missing
        results[producer_id][place] = code
        missing -= 1
        if not missing:
            context.reply(_response(results))

    for row, place in wanted:
        write_marker(
            node,
            place,
            Producer(row.producer_id, row.producer_epoch),
            EndTransactionMarker(row.transaction_result, row.coordinator_epoch),
            row.transaction_version,
            partial(written, row.producer_id, place),
        )
    return None


def _response(results: dict[int, dict[TopicPartition, ErrorCode]]) -> WriteTxnMarkersResponse:
    return WriteTxnMarkersResponse(
        markers=[
            WritableTxnMarkerResult(producer_id, _topics(codes)) for producer_id, codes in results.items()
        ]
    )


def _topics(codes: dict[TopicPartition, ErrorCode]) -> list[WritableTxnMarkerTopicResult]:
    topics: dict[str, list[WritableTxnMarkerPartitionResult]] = {}
    for place, code in codes.items():
        topics.setdefault(place.topic, []).append(WritableTxnMarkerPartitionResult(place.partition, code))
    return [WritableTxnMarkerTopicResult(topic, rows) for topic, rows in topics.items()]
