"""Transactions seen and ended from outside, with what each refusal means."""

from __future__ import annotations

import pytest
from tests.unit.wire.fake_brokers import Brokers

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages import describe_transactions, list_transactions
from barnabas.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from barnabas.protocol.messages.write_txn_markers import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from barnabas.protocol.schema import Message
from barnabas.wire.admin import transactions
from barnabas.wire.admin.transactions import Abort, Listed

WANTED = Abort(TopicPartition("t", 0), 7, 1, 3)


def _listing(codes: dict[int, list[ErrorCode]]) -> Brokers:
    def answer(node: int, request: Message) -> Message:
        assert isinstance(request, list_transactions.ListTransactionsRequest)
        code = codes[node].pop(0) if codes.get(node) else ErrorCode.NONE
        rows = [list_transactions.TransactionState(f"id-{node}", node, "Ongoing")]
        return list_transactions.ListTransactionsResponse(0, code, transaction_states=() if code else rows)

    return Brokers({}, answer)


def test_every_broker_is_asked_for_its_transactions_with_the_filters() -> None:
    brokers = _listing({1: [ErrorCode.COORDINATOR_LOAD_IN_PROGRESS]})
    found = transactions.list_all(brokers.cluster, {9, 8}, 1000, "id.*")
    assert found == [Listed("id-1", 1, 1, "Ongoing"), Listed("id-2", 2, 2, "Ongoing")]
    assert brokers.asked(list_transactions.ListTransactionsRequest) == [1, 1, 2]
    request = brokers.heard[-1][1]
    assert isinstance(request, list_transactions.ListTransactionsRequest)
    assert list(request.producer_id_filters) == [8, 9]
    assert (request.duration_filter, request.transactional_id_pattern) == (1000, "id.*")


def test_a_broker_that_cannot_list_is_named() -> None:
    with pytest.raises(ApiError) as caught:
        transactions.list_all(_listing({2: [ErrorCode.INVALID_REGULAR_EXPRESSION]}).cluster)
    assert (
        str(caught.value) == "ListTransactions request sent to broker 2 failed with an unexpected exception"
    )


def test_a_transaction_is_described_by_its_coordinator_or_is_not_there() -> None:
    def answer(_: int, request: Message) -> Message:
        assert isinstance(request, describe_transactions.DescribeTransactionsRequest)
        row = describe_transactions.TransactionState
        topics = [describe_transactions.TopicData("t", [0, 2])]
        known = {"a": row(0, "a", "Ongoing", 60_000, -1, 9, 2, topics)}
        gone = ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
        return describe_transactions.DescribeTransactionsResponse(
            transaction_states=[known.get(name, row(gone, name)) for name in request.transactional_ids]
        )

    found = transactions.describe(Brokers({"a": 2, "b": 1}, answer).cluster, ["a", "b"])
    a, b = found["a"], found["b"]
    assert isinstance(a, transactions.Transaction)
    assert (a.coordinator_id, a.producer_id, a.started_at_ms) == (2, 9, None)
    assert a.partitions == {TopicPartition("t", 0), TopicPartition("t", 2)}
    assert isinstance(b, ApiError)
    assert str(b).endswith("`b` failed because the ID could not be found")


def _marking(*codes: ErrorCode) -> Brokers:
    left = list(codes)

    def answer(_: int, request: Message) -> Message:
        assert isinstance(request, WriteTxnMarkersRequest)
        (marker,) = request.markers
        assert (marker.producer_id, marker.producer_epoch, marker.coordinator_epoch) == (7, 1, 3)
        assert marker.transaction_result is False
        row = WritableTxnMarkerPartitionResult(0, left.pop(0))
        topic = WritableTxnMarkerTopicResult("t", [row])
        return WriteTxnMarkersResponse([WritableTxnMarkerResult(7, [topic])])

    return Brokers({}, answer)


def test_the_leader_writes_the_marker_that_aborts() -> None:
    brokers = _marking(ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NONE)
    transactions.abort(brokers.cluster, WANTED)
    assert brokers.asked(WriteTxnMarkersRequest) == [2, 2]


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (ErrorCode.INVALID_PRODUCER_EPOCH, "failed due an invalid producer epoch"),
        (
            ErrorCode.TRANSACTION_COORDINATOR_FENCED,
            "failed since the provided coordinator epoch 3 has been fenced by the active coordinator",
        ),
        (ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "failed due to cluster authorization error"),
        (
            ErrorCode.INVALID_TXN_STATE,
            f"failed due to unexpected error: {ErrorCode.INVALID_TXN_STATE.sentence}",
        ),
    ],
)
def test_a_marker_that_is_refused_says_why(code: ErrorCode, why: str) -> None:
    with pytest.raises(ApiError) as caught:
        transactions.abort(_marking(code).cluster, WANTED)
    assert str(caught.value) == f"WriteTxnMarkers request with {WANTED} {why}"


def test_terminating_waits_for_the_abort_it_causes() -> None:
    codes = [ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.NONE]
    brokers = Brokers({"a": 1}, lambda *_: InitProducerIdResponse(error_code=codes.pop(0)))
    transactions.force_terminate(brokers.cluster, "a")
    assert brokers.asked(InitProducerIdRequest) == [1, 1]
