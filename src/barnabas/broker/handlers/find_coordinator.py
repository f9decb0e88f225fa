"""FindCoordinator v0–v6: answered COORDINATOR_NOT_AVAILABLE until coordinators exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(node: Node, context: Context, request: FindCoordinatorRequest) -> FindCoordinatorResponse:
    code = ErrorCode.COORDINATOR_NOT_AVAILABLE
    if context.version >= 4:
        return FindCoordinatorResponse(
            coordinators=[
                Coordinator(key, -1, "", -1, code, code.sentence) for key in request.coordinator_keys
            ]
        )
    return FindCoordinatorResponse(error_code=code, error_message=code.sentence, node_id=-1, port=-1)
