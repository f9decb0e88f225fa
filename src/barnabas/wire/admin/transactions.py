"""Transactions: which there are, what they hold open, and ending those that nobody ends.

An answer's error code comes with Kafka's sentence for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages import describe_transactions, list_transactions, write_txn_markers
from barnabas.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from barnabas.wire.cluster import Cluster
from barnabas.wire.codes import known
from barnabas.wire.coordinators import Coordinator, KeyType, from_coordinator, from_coordinators
from barnabas.wire.routing import from_every_broker, from_leaders

EVERY_DURATION = -1


class Listed(NamedTuple):
    transactional_id: str
    coordinator_id: int
    producer_id: int
    state: str


class Transaction(NamedTuple):
    transactional_id: str
    coordinator_id: int
    producer_id: int
    producer_epoch: int
    state: str
    timeout_ms: int
    started_at_ms: int | None
    partitions: frozenset[TopicPartition]


def list_all(
    cluster: Cluster,
    producer_ids: Collection[int] = (),
    duration_ms: int = EVERY_DURATION,
    pattern: str | None = None,
) -> list[Listed]:
    """Of these producers, open for longer than this, with such an id: each coordinator knows its own."""
    request = list_transactions.ListTransactionsRequest((), sorted(producer_ids), duration_ms, pattern)
    return sorted(from_every_broker(cluster, lambda node_id: _listed(cluster, request, node_id)))


def _listed(
    cluster: Cluster, request: list_transactions.ListTransactionsRequest, node_id: int
) -> list[Listed]:
    answer = cluster.call_once(request, list_transactions.ListTransactionsResponse, node_id)
    code = known(answer.error_code)
    if code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        raise ApiError(code)
    if code:
        why = (
            "failed because the coordinator is shutting down"
            if code is ErrorCode.COORDINATOR_NOT_AVAILABLE
            else "failed with an unexpected exception"
        )
        raise ApiError(code, f"ListTransactions request sent to broker {node_id} {why}")
    return [
        Listed(row.transactional_id, node_id, row.producer_id, row.transaction_state)
        for row in answer.transaction_states
    ]


def describe(cluster: Cluster, transactional_ids: Iterable[str]) -> dict[str, Transaction | ApiError]:
    def ask(coordinator: Coordinator, keys: list[str]) -> Iterator[tuple[str, Transaction | ApiError]]:
        request = describe_transactions.DescribeTransactionsRequest(keys)
        answer = cluster.call_once(
            request, describe_transactions.DescribeTransactionsResponse, coordinator.node_id
        )
        for row in answer.transaction_states:
            yield row.transactional_id, _described(row, coordinator.node_id)

    return from_coordinators(cluster, transactional_ids, KeyType.TRANSACTION, ask)


def _described(row: describe_transactions.TransactionState, coordinator_id: int) -> Transaction | ApiError:
    if row.error_code:
        reasons = {
            ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "due to authorization failure",
            ErrorCode.TRANSACTIONAL_ID_NOT_FOUND: "because the ID could not be found",
        }
        code = known(row.error_code)
        why = reasons.get(code, "due to unexpected error")
        return ApiError(
            code, f"DescribeTransactions request for transactionalId `{row.transactional_id}` failed {why}"
        )
    return Transaction(
        row.transactional_id,
        coordinator_id,
        row.producer_id,
        row.producer_epoch,
        row.transaction_state,
        row.transaction_timeout_ms,
        None if row.transaction_start_time_ms < 0 else row.transaction_start_time_ms,
        frozenset(TopicPartition(topic.topic, index) for topic in row.topics for index in topic.partitions),
    )


class Abort(NamedTuple):
    """Which producer's transaction to abort on which partition."""

    partition: TopicPartition
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int

    def __str__(self) -> str:
        return (
            f"AbortTransactionSpec(topicPartition={self.partition}, producerId={self.producer_id}, "
            f"producerEpoch={self.producer_epoch}, coordinatorEpoch={self.coordinator_epoch})"
        )


def abort(cluster: Cluster, wanted: Abort) -> None:
    """Write the marker that ends a transaction its coordinator has forgotten, straight to the leader."""
    topic = write_txn_markers.WritableTxnMarkerTopic(wanted.partition.topic, [wanted.partition.partition])
    marker = write_txn_markers.WritableTxnMarker(
        wanted.producer_id, wanted.producer_epoch, False, [topic], wanted.coordinator_epoch
    )
    request = write_txn_markers.WriteTxnMarkersRequest([marker])

    def ask(
        node_id: int, partitions: list[TopicPartition]
    ) -> Iterator[tuple[TopicPartition, ApiError | None]]:
        answer = cluster.call_once(request, write_txn_markers.WriteTxnMarkersResponse, node_id)
        codes = [row.error_code for one in answer.markers for rows in one.topics for row in rows.partitions]
        yield partitions[0], _abort_error(known(codes[0]), wanted) if codes and codes[0] else None

    for error in from_leaders(cluster, [wanted.partition], ask).values():
        if error is not None:
            raise error


def _abort_error(code: ErrorCode, wanted: Abort) -> ApiError:
    reasons = {
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "failed due to cluster authorization error",
        ErrorCode.INVALID_PRODUCER_EPOCH: "failed due an invalid producer epoch",
        ErrorCode.TRANSACTION_COORDINATOR_FENCED: (
            f"failed since the provided coordinator epoch {wanted.coordinator_epoch} has been fenced by the "
            "active coordinator"
        ),
    }
    why = reasons.get(code, f"failed due to unexpected error: {code.sentence}")
    return ApiError(code, f"WriteTxnMarkers request with {wanted} {why}")


def force_terminate(cluster: Cluster, transactional_id: str) -> None:
    """Take the transactional id as a new producer would: what was open is aborted, its producer fenced."""

    def ask(coordinator: Coordinator) -> ApiError | None:
        request = InitProducerIdRequest(transactional_id, cluster.settings.request_timeout_ms)
        answer = cluster.call_once(request, InitProducerIdResponse, coordinator.node_id)
        code = known(answer.error_code)
        if code is ErrorCode.CONCURRENT_TRANSACTIONS:
            # The transaction is being aborted for us; it takes a moment.
            return ApiError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return ApiError(code) if code else None

    from_coordinator(cluster, transactional_id, KeyType.TRANSACTION, ask)
