"""AllocateProducerIds v0: a block of producer ids for one broker. Private to brokers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.cluster.controller_host import code_of
from barnabas.broker.dispatch import Context
from barnabas.controller.producer_ids import allocate_producer_ids
from barnabas.model.errors import ErrorCode
from barnabas.model.image import ProducerIdBlock
from barnabas.ports import StoreError
from barnabas.protocol.private import AllocateProducerIdsRequest, AllocateProducerIdsResponse

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(
    node: Node, context: Context, request: AllocateProducerIdsRequest
) -> AllocateProducerIdsResponse | None:
    broker = node.image.brokers.get(request.broker_id)
    if not node.controller.is_active:
        return AllocateProducerIdsResponse(ErrorCode.NOT_CONTROLLER)
    if broker is None or broker.epoch != request.broker_epoch:
        return AllocateProducerIdsResponse(ErrorCode.STALE_BROKER_EPOCH)

    def done(results: tuple[ProducerIdBlock, ...], error: StoreError | None) -> None:
        if error is not None:
            context.reply(AllocateProducerIdsResponse(code_of(error)))
        else:
            context.reply(AllocateProducerIdsResponse(0, results[0].first, results[0].last))

    node.controller.decide(
        lambda image: allocate_producer_ids(image, request.broker_id, request.broker_epoch), done
    )
    return None
