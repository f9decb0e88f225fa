"""ListTransactions v0–v2 (KIP-664, KIP-994, KIP-1152): filters by state, producer id, duration and id
pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.protocol.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from barnabas.transactions.listing import Filter, unknown_states

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(node: Node, context: Context, request: ListTransactionsRequest) -> ListTransactionsResponse:
    if node.transactions.is_loading:
        return ListTransactionsResponse(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    try:
        wanted = Filter(request, node.wall_ms)
    except ApiError as error:
        return ListTransactionsResponse(error_code=error.code)
    return ListTransactionsResponse(
        unknown_state_filters=unknown_states(request.state_filters),
        transaction_states=[
            listed
            for shard in node.transactions.active()
            for listed in wanted.listed(shard.transactions.values())
        ],
    )
