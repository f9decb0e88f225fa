"""SyncGroup v0–v5: the leader of a classic group brings the assignment, everybody gets theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.coordinators.ticket import RequestTicket
from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse

if TYPE_CHECKING:
    from barnabas.broker.node import Node

PROTOCOL_SINCE = 5


def handle(node: Node, context: Context, request: SyncGroupRequest) -> SyncGroupResponse | None:
    unsaid = request.protocol_type is None or request.protocol_name is None
    if unsaid and context.version >= PROTOCOL_SINCE:
        return _refusal(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    if not request.group_id:
        return _refusal(ErrorCode.INVALID_GROUP_ID)
    ticket = RequestTicket(context, _refusal)
    node.groups.run(request.group_id, ticket, lambda shard: shard.sync_group(request, ticket))
    return None


def _refusal(code: ErrorCode) -> SyncGroupResponse:
    return SyncGroupResponse(error_code=code)
