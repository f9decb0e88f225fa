"""From the records of consumer groups to their state: the only place where that state changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from barnabas.groups.consumer import records
from barnabas.groups.consumer.group import FIRST_EPOCH, ConsumerGroup
from barnabas.groups.consumer.member import Member
from barnabas.groups.group import Group
from barnabas.protocol.internal import groups as stored
from barnabas.protocol.schema import Message

Groups = dict[str, Group]
Replay = Callable[[Groups, Any, Any], None]


def _made(groups: Groups, group_id: str) -> ConsumerGroup:
    """Offsets alone make a classic group; whatever else is known by now makes it a consumer group."""
    group = groups.get(group_id)
    if not isinstance(group, ConsumerGroup):
        group = groups[group_id] = ConsumerGroup(group_id)
    return group


def _known(groups: Groups, group_id: str) -> ConsumerGroup | None:
    """A tombstone of what compaction has already removed means nothing."""
    group = groups.get(group_id)
    return group if isinstance(group, ConsumerGroup) else None


def _replay_group(
    groups: Groups, key: stored.ConsumerGroupMetadataKey, value: stored.ConsumerGroupMetadataValue | None
) -> None:
    if value is not None:
        group = _made(groups, key.group_id)
        group.epoch, group.metadata_hash = value.epoch, value.metadata_hash
    elif _known(groups, key.group_id) is not None:
        del groups[key.group_id]


def _replay_partition_metadata(
    groups: Groups,
    key: stored.ConsumerGroupPartitionMetadataKey,
    value: stored.ConsumerGroupPartitionMetadataValue | None,
) -> None:
    if value is not None:
        _made(groups, key.group_id).has_partition_metadata = True
    elif (group := _known(groups, key.group_id)) is not None:
        group.has_partition_metadata = False


def _replay_member(
    groups: Groups,
    key: stored.ConsumerGroupMemberMetadataKey,
    value: stored.ConsumerGroupMemberMetadataValue | None,
) -> None:
    if value is not None:
        group = _made(groups, key.group_id)
        member = group.members.get(key.member_id, Member(key.member_id))
        group.put(records.with_metadata(member, value))
    elif (known := _known(groups, key.group_id)) is not None:
        known.drop(key.member_id)


def _replay_target_epoch(
    groups: Groups,
    key: stored.ConsumerGroupTargetAssignmentMetadataKey,
    value: stored.ConsumerGroupTargetAssignmentMetadataValue | None,
) -> None:
    if value is not None:
        group = _made(groups, key.group_id)
        group.assignment_epoch, group.assigned_wall_ms = value.assignment_epoch, value.assignment_timestamp
    elif (known := _known(groups, key.group_id)) is not None:
        known.assignment_epoch, known.assigned_wall_ms = FIRST_EPOCH, 0


def _replay_target(
    groups: Groups,
    key: stored.ConsumerGroupTargetAssignmentMemberKey,
    value: stored.ConsumerGroupTargetAssignmentMemberValue | None,
) -> None:
    if value is not None:
        _made(groups, key.group_id).targets[key.member_id] = records.target_of(value)
    elif (group := _known(groups, key.group_id)) is not None:
        group.targets.pop(key.member_id, None)


def _replay_current(
    groups: Groups,
    key: stored.ConsumerGroupCurrentMemberAssignmentKey,
    value: stored.ConsumerGroupCurrentMemberAssignmentValue | None,
) -> None:
    if value is not None:
        group = _made(groups, key.group_id)
        member = group.members.get(key.member_id, Member(key.member_id))
        group.put(records.with_current(member, value))
    elif (known := _known(groups, key.group_id)) is not None and key.member_id in known.members:
        known.put(records.without_current(known.members[key.member_id]))


def _replay_regex(
    groups: Groups,
    key: stored.ConsumerGroupRegularExpressionKey,
    value: stored.ConsumerGroupRegularExpressionValue | None,
) -> None:
    if value is not None:
        resolved = _made(groups, key.group_id).subscriptions.resolved
        resolved[key.regular_expression] = records.resolved_regex(value)
    elif (group := _known(groups, key.group_id)) is not None:
        group.subscriptions.resolved.pop(key.regular_expression, None)


REPLAYS: Mapping[type[Message], Replay] = {
    stored.ConsumerGroupMetadataKey: _replay_group,
    stored.ConsumerGroupPartitionMetadataKey: _replay_partition_metadata,
    stored.ConsumerGroupMemberMetadataKey: _replay_member,
    stored.ConsumerGroupTargetAssignmentMetadataKey: _replay_target_epoch,
    stored.ConsumerGroupTargetAssignmentMemberKey: _replay_target,
    stored.ConsumerGroupCurrentMemberAssignmentKey: _replay_current,
    stored.ConsumerGroupRegularExpressionKey: _replay_regex,
}
