"""ListGroups v0–v5: the groups this broker coordinates. By state since v4 (KIP-518), by type since v5
(KIP-848), whatever the case of the letters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.groups.group import GroupType
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse

if TYPE_CHECKING:
    from barnabas.broker.node import Node

_TYPES = {kind.value.lower(): kind for kind in GroupType}


def handle(node: Node, context: Context, request: ListGroupsRequest) -> ListGroupsResponse:
    if node.groups.is_loading:
        return ListGroupsResponse(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    states = {state.lower() for state in request.states_filter}
    types = {_TYPES.get(kind.lower()) for kind in request.types_filter}  # of no such type there is none
    groups = [row for shard in node.groups.active() for row in shard.list_groups(states, types)]
    return ListGroupsResponse(groups=groups)
