"""DescribeTransactions v0 (KIP-664): the state of transactional ids that we coordinate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.broker.ticket import Later
from barnabas.coordination.outcome import Outcome
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)
from barnabas.transactions.listing import describe
from barnabas.transactions.shard import TransactionShard

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(
    node: Node, context: Context, request: DescribeTransactionsRequest
) -> DescribeTransactionsResponse | None:
    names = list(dict.fromkeys(request.transactional_ids))
    if not names:
        return DescribeTransactionsResponse()
    told: dict[str, TransactionState] = {}

    def tell(state: object) -> None:
        assert isinstance(state, TransactionState)
        told[state.transactional_id] = state
        if len(told) == len(names):
            context.reply(DescribeTransactionsResponse(transaction_states=[told[name] for name in names]))

    for name in names:
        _ask(node, name, Later(tell, lambda code, name=name: tell(TransactionState(code, name))))  # type: ignore[misc]
    return None


def _ask(node: Node, name: str, ticket: Later) -> None:
    def operation(shard: TransactionShard) -> Outcome:
        return Outcome(answers=[(ticket, describe(name, shard.transactions.get(name)))])

    if name:
        node.transactions.run(name, ticket, operation)
    else:
        ticket.refuse(ErrorCode.INVALID_REQUEST)
