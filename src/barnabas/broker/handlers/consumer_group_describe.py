"""ConsumerGroupDescribe v0–v1 (KIP-848): consumer groups, with what their members own and shall own. Since v1
it tells which protocol a member speaks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from barnabas.broker import operations
from barnabas.broker.coordinators.group_requests import Gathering
from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(
    node: Node, context: Context, request: ConsumerGroupDescribeRequest
) -> ConsumerGroupDescribeResponse | None:
    if not request.group_ids:
        return ConsumerGroupDescribeResponse()

    def described(groups: Sequence[DescribedGroup]) -> None:
        for group in groups:
            if request.include_authorized_operations and group.error_code == ErrorCode.NONE:
                group.authorized_operations = operations.GROUP
        context.reply(ConsumerGroupDescribeResponse(groups=groups))

    gathering = Gathering(len(request.group_ids), described)
    for part, group_id in enumerate(request.group_ids):
        _describe(node, group_id, gathering, part)
    return None


def _describe(node: Node, group_id: str, gathering: Gathering[DescribedGroup], part: int) -> None:
    ticket = gathering.ticket(part, lambda code: DescribedGroup(code, group_id=group_id))
    if not group_id:
        ticket.refuse(ErrorCode.INVALID_GROUP_ID)
        return
    node.groups.run(group_id, ticket, lambda shard: shard.describe_consumer_group(group_id, ticket))
