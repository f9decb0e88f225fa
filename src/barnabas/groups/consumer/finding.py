"""The consumer group that a heartbeat names: there already, made now, or made from a classic group."""

from __future__ import annotations

from barnabas.coordination.outcome import Outcome
from barnabas.groups.consumer.context import Context
from barnabas.groups.consumer.group import ConsumerGroup
from barnabas.groups.group import GroupType
from barnabas.model.errors import ApiError, ErrorCode


def find_or_make(context: Context, group_id: str, make: bool, outcome: Outcome) -> ConsumerGroup:
    """A group that is made here exists once its records are replayed."""
    group = context.groups.get(group_id)
    if isinstance(group, ConsumerGroup):
        return group
    if group is None:
        if not make:
            raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Consumer group {group_id} not found.")
        return ConsumerGroup(group_id)
    if make and group.type is GroupType.CLASSIC and group.is_empty:
        outcome.entries += group.tombstones()
        return ConsumerGroup(group_id)
    raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")
