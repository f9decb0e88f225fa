"""Heartbeat v0–v4: answered COORDINATOR_NOT_AVAILABLE until group coordinators exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(node: Node, context: Context, request: HeartbeatRequest) -> HeartbeatResponse:
    return HeartbeatResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE)
