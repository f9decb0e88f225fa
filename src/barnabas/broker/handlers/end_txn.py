"""EndTxn v0–v5 (KIP-98, KIP-588, KIP-890): commit or abort. From v5 on, transactions version 2: the answer
brings the producer id and epoch of the next transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.coordinators.ticket import RequestTicket
from barnabas.broker.coordinators.transaction_requests import spoken
from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from barnabas.transactions.transaction import EPOCH_PER_TRANSACTION

if TYPE_CHECKING:
    from barnabas.broker.node import Node

_FENCED_SINCE = 2
_VERSION_2_SINCE = 5


def handle(node: Node, context: Context, request: EndTxnRequest) -> EndTxnResponse | None:
    if not request.transactional_id:
        return EndTxnResponse(error_code=ErrorCode.INVALID_REQUEST)

    def refusal(code: ErrorCode) -> EndTxnResponse:
        return EndTxnResponse(error_code=spoken(code, context.version, _FENCED_SINCE))

    client_version = EPOCH_PER_TRANSACTION if context.version >= _VERSION_2_SINCE else 0
    ticket = RequestTicket(context, refusal)
    node.transactions.run(
        request.transactional_id, ticket, lambda shard: shard.end(request, client_version, ticket)
    )
    return None
