"""AddPartitionsToTxn v0–v5 (KIP-98, KIP-588, KIP-890). Up to v3 from a client, for its one transaction; from
v4 on from brokers, for many at once, to add or only to verify."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from barnabas.broker.coordinators.group_requests import Gathering
from barnabas.broker.coordinators.ticket import Later
from barnabas.broker.coordinators.transaction_requests import spoken
from barnabas.broker.dispatch import Context
from barnabas.coordination.outcome import Outcome, Producer
from barnabas.model.errors import ErrorCode
from barnabas.model.ids import INTERNAL_TOPICS, TopicPartition
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
    wanted = list({one.transactional_id: one for one in transactions}.values())
    if not wanted:
        return AddPartitionsToTxnResponse()

    def answered(results: Sequence[AddPartitionsToTxnResult]) -> None:
        context.reply(_response(context.version, results))

    gathering = Gathering(len(wanted), answered)
    for part, transaction in enumerate(wanted):
        _One(node, context.version, transaction, partial(gathering.put, part)).ask()
    return None


def _response(version: int, results: Sequence[AddPartitionsToTxnResult]) -> AddPartitionsToTxnResponse:
    if version < _MANY_SINCE:
        return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results[0].topic_results)
    return AddPartitionsToTxnResponse(results_by_transaction=results)


class _One:
    """One transaction of the request."""

    def __init__(
        self,
        node: Node,
        version: int,
        transaction: AddPartitionsToTxnTransaction,
        done: Callable[[AddPartitionsToTxnResult], None],
    ) -> None:
        self._node = node
        self._version = version
        self._transaction = transaction
        self._done = done
        self._ticket = Later(self._answered, self._refused)
        self._partitions = [
            TopicPartition(topic.name, index) for topic in transaction.topics for index in topic.partitions
        ]

    def ask(self) -> None:
        """One partition that does not exist, or that no client may write to, spoils the rest."""
        image, name = self._node.image, self._transaction.transactional_id
        refused = {
            place: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            for place in self._partitions
            if image.partition(*place) is None
        }
        if self._version < _MANY_SINCE:
            forbidden = [place for place in self._partitions if place.topic in INTERNAL_TOPICS]
            refused |= dict.fromkeys(forbidden, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        if refused:
            self._tell(dict.fromkeys(self._partitions, ErrorCode.OPERATION_NOT_ATTEMPTED) | refused)
        elif not name:
            self._refused(ErrorCode.INVALID_REQUEST)
        else:
            self._node.transactions.run(name, self._ticket, self._operation)

    def _operation(self, shard: TransactionShard) -> Outcome:
        asked, partitions, ticket = self._transaction, self._partitions, self._ticket
        producer = Producer(asked.producer_id, asked.producer_epoch)
        if asked.verify_only:
            return shard.verify_partitions(asked.transactional_id, producer, partitions, ticket)
        client_version = EPOCH_PER_TRANSACTION if self._version >= _MANY_SINCE else 0
        return shard.add_partitions(asked.transactional_id, producer, partitions, client_version, ticket)

    def _answered(self, answer: object) -> None:
        if isinstance(answer, dict):
            self._tell(answer)
        else:  # to add is answered once for all
            self._echo(ErrorCode.NONE)

    def _refused(self, code: ErrorCode) -> None:
        code = spoken(code, self._version, _FENCED_SINCE)
        if self._transaction.verify_only:
            self._tell(dict.fromkeys(self._partitions, code))
        else:
            self._echo(code)

    def _echo(self, code: ErrorCode) -> None:
        """Row by row what was asked for, twice where it was asked for twice."""
        results = [
            AddPartitionsToTxnTopicResult(
                topic.name, [AddPartitionsToTxnPartitionResult(index, code) for index in topic.partitions]
            )
            for topic in self._transaction.topics
        ]
        self._done(AddPartitionsToTxnResult(self._transaction.transactional_id, results))

    def _tell(self, codes: Mapping[TopicPartition, ErrorCode]) -> None:
        topics: dict[str, list[AddPartitionsToTxnPartitionResult]] = {}
        for place, code in codes.items():
            row = AddPartitionsToTxnPartitionResult(place.partition, code)
            topics.setdefault(place.topic, []).append(row)
        results = [AddPartitionsToTxnTopicResult(topic, rows) for topic, rows in topics.items()]
        self._done(AddPartitionsToTxnResult(self._transaction.transactional_id, results))
