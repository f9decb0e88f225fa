"""OffsetDelete v0: answered COORDINATOR_NOT_AVAILABLE until group coordinators exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(node: Node, context: Context, request: OffsetDeleteRequest) -> OffsetDeleteResponse:
    return OffsetDeleteResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE)
