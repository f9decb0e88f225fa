"""DeleteGroups v0–v2: remove empty groups of any kind, with their offsets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from barnabas.broker.coordinators.group_requests import Gathering
from barnabas.broker.dispatch import Context
from barnabas.coordination.hashing import partition_of
from barnabas.protocol.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node


# Of one batch in the log: many groups cost few appends, and no batch grows beyond what a log takes.
GROUPS_AT_ONCE = 100


def handle(node: Node, context: Context, request: DeleteGroupsRequest) -> DeleteGroupsResponse | None:
    names = dict.fromkeys(request.groups_names)  # what is named twice is deleted once
    if not names:
        return DeleteGroupsResponse()
    batches = list(_batches(names, _partitions(node)))
    gathering = Gathering[list[DeletableGroupResult]](
        len(batches),
        lambda results: context.reply(DeleteGroupsResponse(results=list(chain.from_iterable(results)))),
    )
    for part, batch in enumerate(batches):
        _delete(node, batch, gathering, part)
    return None


def _partitions(node: Node) -> int:
    topic = node.image.topics.get(node.groups.topic)
    return 1 if topic is None else len(topic.partitions)


def _batches(names: Iterable[str], partitions: int) -> Iterator[list[str]]:
    """By the shard that has them."""
    by_partition: dict[int, list[str]] = {}
    for name in names:
        by_partition.setdefault(partition_of(name, partitions), []).append(name)
    for together in by_partition.values():
        for start in range(0, len(together), GROUPS_AT_ONCE):
            yield together[start : start + GROUPS_AT_ONCE]


def _delete(
    node: Node, names: list[str], gathering: Gathering[list[DeletableGroupResult]], part: int
) -> None:
    ticket = gathering.ticket(part, lambda code: [DeletableGroupResult(name, code) for name in names])
    node.groups.run(names[0], ticket, lambda shard: shard.delete_groups(names, ticket))
