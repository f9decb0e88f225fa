"""AllocateProducerIds v0: a block of producer ids for one broker. Private to brokers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.cluster.controller_host import code_of
from barnabas.broker.dispatch import Context
from barnabas.controller.decision import Decision
from barnabas.controller.producer_ids import allocate_producer_ids
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.image import ClusterImage, ProducerIdBlock
from barnabas.ports import StoreError
from barnabas.protocol.private import AllocateProducerIdsRequest, AllocateProducerIdsResponse

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(
    node: Node, context: Context, request: AllocateProducerIdsRequest
) -> AllocateProducerIdsResponse | None:
    if not node.controller.is_active:
        return AllocateProducerIdsResponse(ErrorCode.NOT_CONTROLLER)
    refusal = ErrorCode.NONE

    def decide(image: ClusterImage) -> Decision[ProducerIdBlock]:
        """It may have stood in line for longer than its broker was registered."""
        nonlocal refusal
        try:
            return allocate_producer_ids(image, request.broker_id, request.broker_epoch)
        except ApiError as error:
            refusal = error.code
            return Decision(())

    def done(results: tuple[ProducerIdBlock, ...], error: StoreError | None) -> None:
        if error is not None or refusal:
            context.reply(AllocateProducerIdsResponse(refusal if error is None else code_of(error)))
        else:
            context.reply(AllocateProducerIdsResponse(0, results[0].first, results[0].last))

    node.controller.decide(decide, done)
    return None
