"""Heartbeat v0–v4: a member of a classic group is alive, and hears whether a rebalance is under way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.coordinators.ticket import RequestTicket
from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(node: Node, context: Context, request: HeartbeatRequest) -> HeartbeatResponse | None:
    if not request.group_id:
        return HeartbeatResponse(error_code=ErrorCode.INVALID_GROUP_ID)
    ticket = RequestTicket(context, _refusal)
    node.groups.run(request.group_id, ticket, lambda shard: shard.heartbeat(request, ticket))
    return None


def _refusal(code: ErrorCode) -> HeartbeatResponse:
    """While the coordinator loads, nobody is told to go and find another."""
    loading = code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    return HeartbeatResponse(error_code=ErrorCode.NONE if loading else code)
