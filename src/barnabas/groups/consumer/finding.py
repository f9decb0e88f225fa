"""The consumer group that a heartbeat names: there already, made now, or made from a classic group."""

from __future__ import annotations

from dataclasses import dataclass

from barnabas.coordination.outcome import Entry
from barnabas.groups.classic.group import ClassicGroup
from barnabas.groups.consumer.context import Context
from barnabas.groups.consumer.group import ConsumerGroup
from barnabas.groups.consumer.upgrade import Upgrade, upgrade
from barnabas.model.errors import ApiError, ErrorCode


@dataclass(frozen=True, slots=True)
class Found:
    group: ConsumerGroup
    upgrade: Upgrade | None = None  # to be finished once the request cannot be refused any more


def find_or_make(context: Context, group_id: str, make: bool, entries: list[Entry]) -> Found:
    """A group that is made here exists once its records are replayed."""
    group = context.groups.get(group_id)
    if isinstance(group, ConsumerGroup):
        return Found(group)
    if group is None:
        if not make:
            raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Consumer group {group_id} not found.")
        return Found(ConsumerGroup(group_id))
    if make and isinstance(group, ClassicGroup):
        if group.is_empty:
            entries += group.tombstones()
            return Found(ConsumerGroup(group_id))
        upgraded = upgrade(context, group)
        entries += upgraded.entries()
        return Found(upgraded.group, upgraded)
    raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")
