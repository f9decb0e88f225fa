"""ControlledShutdown v0: a broker that stops in good order hands over what it leads. Private to brokers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.cluster.controller_host import code_of
from barnabas.broker.dispatch import Context
from barnabas.broker.topic_config import election_rules
from barnabas.controller.decision import Decision
from barnabas.controller.isr import is_stale
from barnabas.controller.liveness import leave
from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.model.image import ClusterImage
from barnabas.ports import StoreError
from barnabas.protocol.private import ControlledShutdownRequest, ControlledShutdownResponse

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(
    node: Node, context: Context, request: ControlledShutdownRequest
) -> ControlledShutdownResponse | None:
    if not node.controller.is_active:
        return ControlledShutdownResponse(ErrorCode.NOT_CONTROLLER)
    if is_stale(node.image, request.broker_id, request.broker_epoch):
        return ControlledShutdownResponse(ErrorCode.STALE_BROKER_EPOCH)

    def decide(image: ClusterImage) -> Decision[TopicPartition]:
        if is_stale(image, request.broker_id, request.broker_epoch):
            return Decision(())  # it is gone while its wish stood in line: nothing is left to hand over
        return leave(image, request.broker_id, election_rules(node.settings, image))

    def done(remaining: tuple[TopicPartition, ...], error: StoreError | None) -> None:
        code = ErrorCode.NONE if error is None else code_of(error)
        context.reply(ControlledShutdownResponse(code, len(remaining)))

    node.controller.decide(decide, done)
    return None
