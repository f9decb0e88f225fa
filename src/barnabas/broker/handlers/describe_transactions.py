"""DescribeTransactions v0 (KIP-664): the state of transactional ids that we coordinate."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from barnabas.broker.coordinators.group_requests import Gathering
from barnabas.broker.dispatch import Context
from barnabas.coordination.outcome import Outcome, Ticket
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
    names = request.transactional_ids
    if not names:
        return DescribeTransactionsResponse()

    def described(states: Sequence[TransactionState]) -> None:
        context.reply(DescribeTransactionsResponse(transaction_states=states))

    gathering = Gathering(len(names), described)
    for part, name in enumerate(names):
        _ask(node, name, gathering.ticket(part, partial(_refusal, name)))
    return None


def _refusal(name: str, code: ErrorCode) -> TransactionState:
    return TransactionState(code, name)


def _ask(node: Node, name: str, ticket: Ticket) -> None:
    def operation(shard: TransactionShard) -> Outcome:
        return Outcome(answers=[(ticket, describe(name, shard.transactions.get(name)))])

    if name:
        node.transactions.run(name, ticket, operation)
    else:
        ticket.refuse(ErrorCode.INVALID_REQUEST)
