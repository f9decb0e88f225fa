"""InitProducerId v0–v5 (KIP-98, KIP-360, KIP-588, KIP-890).

Without a transactional id: a fresh producer id from our block. With one: the caller becomes its only owner.
Of KIP-939 (v6, which Kafka 4.3 does not advertise) nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.coordinators.ticket import RequestTicket
from barnabas.broker.coordinators.transaction_requests import spoken
from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

if TYPE_CHECKING:
    from barnabas.broker.node import Node

_FENCED_SINCE = 4


def handle(node: Node, context: Context, request: InitProducerIdRequest) -> InitProducerIdResponse | None:
    if (request.producer_id == -1) != (request.producer_epoch == -1):
        return _refusal(ErrorCode.INVALID_REQUEST)
    if request.transactional_id is None:
        _idempotent(node, context)
        return None
    if not request.transactional_id:
        return _refusal(ErrorCode.INVALID_REQUEST)

    def refusal(code: ErrorCode) -> InitProducerIdResponse:
        return _refusal(spoken(code, context.version, _FENCED_SINCE))

    ticket = RequestTicket(context, refusal)
    node.transactions.run(
        request.transactional_id, ticket, lambda shard: shard.init_producer_id(request, ticket)
    )
    return None


def _refusal(code: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=code, producer_id=-1, producer_epoch=-1)


def _idempotent(node: Node, context: Context) -> None:
    def allocated(producer_id: int | None) -> None:
        if producer_id is None:
            context.reply(InitProducerIdResponse(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS))
        else:
            context.reply(InitProducerIdResponse(producer_id=producer_id))

    node.producer_ids.next(allocated)
