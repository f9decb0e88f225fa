"""PullImage v0: what the controller has decided since, for a broker that follows it. Private to brokers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.protocol.private import PullImageRequest, PullImageResponse

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(node: Node, context: Context, request: PullImageRequest) -> PullImageResponse | None:
    if not node.controller.is_active:
        return PullImageResponse(ErrorCode.NOT_CONTROLLER)
    node.searching.heard(context.session, request.broker_id)
    node.image_log.pull(request.controller_epoch, request.version, request.max_wait_ms, context.reply)
    return None
