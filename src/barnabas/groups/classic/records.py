"""A classic group as the one record that remembers it, and back."""

from __future__ import annotations

from collections.abc import Mapping

from barnabas.coordination.outcome import Entry
from barnabas.groups.classic.group import ClassicGroup
from barnabas.groups.classic.member import ClassicMember
from barnabas.groups.classic.states import Stable
from barnabas.protocol.internal.groups import GroupMetadataKey, GroupMetadataValue, MemberMetadata

_UNKNOWN_TIME = -1
_AS_THE_SESSION = -1  # version 0 of the record had no rebalance timeout


def group_entry(group: ClassicGroup, assignments: Mapping[str, bytes]) -> Entry:
    members = [
        MemberMetadata(
            member.member_id,
            member.instance_id,
            member.client_id,
            member.client_host,
            member.rebalance_timeout_ms,
            member.session_timeout_ms,
            group.metadata_of(member),
            assignments.get(member.member_id, b""),
        )
        for member in group.members.values()
    ]
    value = GroupMetadataValue(
        group.protocol_type, group.generation, group.protocol_name, group.leader_id, _since_ms(group), members
    )
    return Entry(GroupMetadataKey(group.group_id), value)


def new_group_entry(group: ClassicGroup) -> Entry:
    """Before its first generation: nothing is agreed on, and a crash makes it forget whoever is joining."""
    return Entry(
        GroupMetadataKey(group.group_id), GroupMetadataValue(current_state_timestamp=_since_ms(group))
    )


def _since_ms(group: ClassicGroup) -> int:
    return _UNKNOWN_TIME if group.status_since_ms is None else group.status_since_ms


def restore(group_id: str, value: GroupMetadataValue) -> ClassicGroup:
    group = ClassicGroup(group_id)
    group.generation = value.generation
    group.protocol_kind = value.protocol_type or None
    if value.current_state_timestamp != _UNKNOWN_TIME:
        group.status_since_ms = value.current_state_timestamp
    for row in value.members:
        group.add(_restore_member(row, value.protocol or ""), value.protocol_type)
    group.leader_id = value.leader
    if group.members:
        group.status = Stable()
    group.agree(value.protocol)
    return group


def _restore_member(row: MemberMetadata, protocol: str) -> ClassicMember:
    rebalance_timeout_ms = row.rebalance_timeout
    if rebalance_timeout_ms == _AS_THE_SESSION:
        rebalance_timeout_ms = row.session_timeout
    return ClassicMember(
        row.member_id,
        row.group_instance_id,
        row.client_id,
        row.client_host,
        rebalance_timeout_ms,
        row.session_timeout,
        {protocol: row.subscription},
        row.assignment,
    )
