"""InitProducerId v0–v5 (KIP-98, KIP-360) without a transactional id: a fresh producer id from our block.

With a transactional id the answer is COORDINATOR_NOT_AVAILABLE until transaction coordinators exist.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(node: Node, context: Context, request: InitProducerIdRequest) -> InitProducerIdResponse | None:
    if request.transactional_id is not None:
        code = ErrorCode.COORDINATOR_NOT_AVAILABLE if request.transactional_id else ErrorCode.INVALID_REQUEST
        return InitProducerIdResponse(error_code=code, producer_epoch=-1)
    if (request.producer_id == -1) != (request.producer_epoch == -1):
        return InitProducerIdResponse(error_code=ErrorCode.INVALID_REQUEST, producer_epoch=-1)

    def allocated(producer_id: int | None) -> None:
        if producer_id is None:
            context.reply(InitProducerIdResponse(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS))
        else:
            context.reply(InitProducerIdResponse(producer_id=producer_id))

    node.producer_ids.next(allocated)
    return None
