"""DeleteGroups v0–v2: remove empty groups of any kind, with their offsets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.broker.group_requests import Gathering
from barnabas.protocol.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(node: Node, context: Context, request: DeleteGroupsRequest) -> DeleteGroupsResponse | None:
    names = dict.fromkeys(request.groups_names)  # what is named twice is deleted once
    if not names:
        return DeleteGroupsResponse()
    gathering = Gathering[DeletableGroupResult](
        len(names), lambda results: context.reply(DeleteGroupsResponse(results=results))
    )
    for part, group_id in enumerate(names):
        _delete(node, group_id, gathering, part)
    return None


def _delete(node: Node, group_id: str, gathering: Gathering[DeletableGroupResult], part: int) -> None:
    ticket = gathering.ticket(part, lambda code: DeletableGroupResult(group_id, code))
    node.groups.run(group_id, ticket, lambda shard: shard.delete_group(group_id, ticket))
