"""AddPartitionsToTxn v0–v5 (KIP-98, KIP-588, KIP-890). Up to v3 from a client, for its one transaction; from
v4 on from brokers, for many at once, to add or only to verify."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.broker.ticket import Later
from barnabas.coordination.outcome import Outcome, Producer
from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)
from barnabas.transactions.shard import TransactionShard
from barnabas.transactions.transaction import EPOCH_PER_TRANSACTION

if TYPE_CHECKING:
    from barnabas.broker.node import Node

_FENCED_SINCE = 2
_MANY_SINCE = 4


def handle(
    node: Node, context: Context, request: AddPartitionsToTxnRequest
) -> AddPartitionsToTxnResponse | None:
    transactions = request.transactions
    if context.version < _MANY_SINCE:
        transactions = [
            AddPartitionsToTxnTransaction(
                request.v3_and_below_transactional_id,
                request.v3_and_below_producer_id,
                request.v3_and_below_producer_epoch,
                False,
                request.v3_and_below_topics,
            )
        ]
    if not transactions:
        return AddPartitionsToTxnResponse()
    _Answers(node, context, list({one.transactional_id: one for one in transactions}.values())).ask()
    return None


class _Answers:
    """One answer when every transaction has its own."""

    def __init__(
        self, node: Node, context: Context, transactions: Sequence[AddPartitionsToTxnTransaction]
    ) -> None:
        self._node = node
        self._context = context
        self._transactions = transactions
        self._results: dict[str, Sequence[AddPartitionsToTxnTopicResult]] = {}

    def ask(self) -> None:
        for transaction in self._transactions:
            self._ask(transaction)

    def _ask(self, transaction: AddPartitionsToTxnTransaction) -> None:
        name = transaction.transactional_id
        partitions = [
            TopicPartition(topic.name, index) for topic in transaction.topics for index in topic.partitions
        ]
        image = self._node.image
        unknown = [place for place in partitions if image.partition(*place) is None]
        if unknown:
            codes = dict.fromkeys(partitions, ErrorCode.OPERATION_NOT_ATTEMPTED)
            codes.update(dict.fromkeys(unknown, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
            self._answered(name, codes)
            return
        if not name:
            self._answered(name, dict.fromkeys(partitions, ErrorCode.INVALID_REQUEST))
            return

        def answered(answer: object) -> None:
            codes = answer if isinstance(answer, dict) else dict.fromkeys(partitions, ErrorCode.NONE)
            self._answered(name, codes)

        def refused(code: ErrorCode) -> None:
            is_new = code is ErrorCode.PRODUCER_FENCED and self._context.version < _FENCED_SINCE
            code = ErrorCode.INVALID_PRODUCER_EPOCH if is_new else code
            self._answered(name, dict.fromkeys(partitions, code))

        ticket = Later(answered, refused)
        producer = Producer(transaction.producer_id, transaction.producer_epoch)
        client_version = EPOCH_PER_TRANSACTION if self._context.version >= _MANY_SINCE else 0

        def operation(shard: TransactionShard) -> Outcome:
            if transaction.verify_only:
                return shard.verify_partitions(name, producer, partitions, ticket)
            return shard.add_partitions(name, producer, partitions, client_version, ticket)

        self._node.transactions.run(name, ticket, operation)

    def _answered(self, name: str, codes: Mapping[TopicPartition, ErrorCode]) -> None:
        topics: dict[str, list[AddPartitionsToTxnPartitionResult]] = {}
        for place, code in codes.items():
            topics.setdefault(place.topic, []).append(
                AddPartitionsToTxnPartitionResult(place.partition, code)
            )
        self._results[name] = [AddPartitionsToTxnTopicResult(topic, rows) for topic, rows in topics.items()]
        if len(self._results) == len(self._transactions):
            self._context.reply(self._response())

    def _response(self) -> AddPartitionsToTxnResponse:
        if self._context.version < _MANY_SINCE:
            (results,) = self._results.values()
            return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results)
        return AddPartitionsToTxnResponse(
            results_by_transaction=[
                AddPartitionsToTxnResult(name, results) for name, results in self._results.items()
            ]
        )
