"""ConsumerGroupHeartbeat v0–v1 (KIP-848): join, report, leave. Since v1 the client chooses its member id, and
may subscribe by pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.coordinators.group_requests import caller_of
from barnabas.broker.coordinators.ticket import RequestTicket
from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(
    node: Node, context: Context, request: ConsumerGroupHeartbeatRequest
) -> ConsumerGroupHeartbeatResponse | None:
    if "consumer" not in node.settings.names("group.coordinator.rebalance.protocols"):
        return _refusal(ErrorCode.UNSUPPORTED_VERSION)
    caller = caller_of(context)
    ticket = RequestTicket(context, _refusal)
    node.groups.run(
        request.group_id, ticket, lambda shard: shard.consumer_group_heartbeat(request, caller, ticket)
    )
    return None


def _refusal(code: ErrorCode) -> ConsumerGroupHeartbeatResponse:
    return ConsumerGroupHeartbeatResponse(error_code=code, error_message=code.sentence)
