"""DescribeGroups of one group. Whatever is not a classic group is described as dead, as Kafka does."""

from __future__ import annotations

from barnabas.groups.classic.group import ClassicGroup
from barnabas.groups.classic.states import DEAD, Stable
from barnabas.groups.group import Group
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.describe_groups import DescribedGroup

ERROR_SINCE = 6  # KIP-1043


def describe(group: Group | None, group_id: str, version: int) -> DescribedGroup:
    if not isinstance(group, ClassicGroup):
        return _dead(group, group_id, version)
    protocol = group.protocol_name if isinstance(group.status, Stable) else None
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state,
        protocol_type=group.protocol_type,
        protocol_data=protocol or "",
        members=[member.describe(protocol) for member in group.members.values()],
    )


def _dead(group: Group | None, group_id: str, version: int) -> DescribedGroup:
    if version < ERROR_SINCE:
        return DescribedGroup(group_id=group_id, group_state=DEAD)
    what = "not found" if group is None else "is not a classic group"
    return DescribedGroup(
        ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} {what}.", group_id=group_id, group_state=DEAD
    )
