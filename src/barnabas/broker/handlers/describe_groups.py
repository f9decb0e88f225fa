"""DescribeGroups v0–v6: classic groups and their members. Other groups are none to it: "Dead" up to v5, an
error since v6 (KIP-1043)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from barnabas.broker import operations
from barnabas.broker.coordinators.group_requests import Gathering, caller_of
from barnabas.broker.dispatch import Context
from barnabas.groups.group import Caller
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.describe_groups import (
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(node: Node, context: Context, request: DescribeGroupsRequest) -> DescribeGroupsResponse | None:
    if not request.groups:
        return DescribeGroupsResponse()

    def described(groups: Sequence[DescribedGroup]) -> None:
        for group in groups:
            if request.include_authorized_operations and group.error_code == ErrorCode.NONE:
                group.authorized_operations = operations.GROUP
        context.reply(DescribeGroupsResponse(groups=groups))

    gathering = Gathering(len(request.groups), described)
    for part, group_id in enumerate(request.groups):
        _describe(node, caller_of(context), group_id, gathering, part)
    return None


def _describe(
    node: Node, caller: Caller, group_id: str, gathering: Gathering[DescribedGroup], part: int
) -> None:
    ticket = gathering.ticket(part, lambda code: DescribedGroup(code, group_id=group_id))
    node.groups.run(group_id, ticket, lambda shard: shard.describe_group(group_id, caller, ticket))
