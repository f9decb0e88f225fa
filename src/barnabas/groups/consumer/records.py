"""What a consumer group writes into `__consumer_offsets`, record by record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from barnabas.coordination.outcome import Entry
from barnabas.groups.assignors import Partitions
from barnabas.groups.consumer.member import Member, MemberState, Owned
from barnabas.groups.consumer.subscriptions import ResolvedRegex
from barnabas.protocol.internal import groups as stored

if TYPE_CHECKING:
    from barnabas.groups.consumer.group import ConsumerGroup


def member_entry(group_id: str, member: Member) -> Entry:
    """What the member asked for."""
    return Entry(
        stored.ConsumerGroupMemberMetadataKey(group_id, member.member_id),
        stored.ConsumerGroupMemberMetadataValue(
            member.instance_id,
            member.rack_id,
            member.client_id,
            member.client_host,
            sorted(member.topics),
            member.topic_regex,
            member.rebalance_timeout_ms,
            member.assignor,
            member.classic,
        ),
    )


def epoch_entry(group_id: str, epoch: int, metadata_hash: int) -> Entry:
    return Entry(
        stored.ConsumerGroupMetadataKey(group_id), stored.ConsumerGroupMetadataValue(epoch, metadata_hash)
    )


def target_entry(group_id: str, member_id: str, target: Partitions) -> Entry:
    rows = [stored.TargetPartitions(topic_id, sorted(target[topic_id])) for topic_id in target]
    return Entry(
        stored.ConsumerGroupTargetAssignmentMemberKey(group_id, member_id),
        stored.ConsumerGroupTargetAssignmentMemberValue(rows),
    )


def target_epoch_entry(group_id: str, epoch: int, wall_ms: int) -> Entry:
    return Entry(
        stored.ConsumerGroupTargetAssignmentMetadataKey(group_id),
        stored.ConsumerGroupTargetAssignmentMetadataValue(epoch, wall_ms),
    )


def current_entry(group_id: str, member: Member) -> Entry:
    """Which epoch the member has reached, and what it owns in it."""
    return Entry(
        stored.ConsumerGroupCurrentMemberAssignmentKey(group_id, member.member_id),
        stored.ConsumerGroupCurrentMemberAssignmentValue(
            member.epoch,
            member.previous_epoch,
            member.state,
            _current_rows(member.assigned),
            _current_rows(member.pending_revocation),
        ),
    )


def _current_rows(owned: Owned) -> Sequence[stored.CurrentPartitions]:
    rows = []
    for topic_id, epochs in owned.items():
        partitions = sorted(epochs)
        rows.append(stored.CurrentPartitions(topic_id, partitions, [epochs[each] for each in partitions]))
    return rows


def regex_entry(group_id: str, regex: str, resolved: ResolvedRegex) -> Entry:
    return Entry(
        stored.ConsumerGroupRegularExpressionKey(group_id, regex),
        stored.ConsumerGroupRegularExpressionValue(
            sorted(resolved.topics), resolved.image_version, resolved.resolved_wall_ms
        ),
    )


# --- what removes it again ---------------------------------------------------------------------------------


def regex_tombstone(group_id: str, regex: str) -> Entry:
    return Entry(stored.ConsumerGroupRegularExpressionKey(group_id, regex), None)


def partition_metadata_tombstone(group_id: str) -> Entry:
    return Entry(stored.ConsumerGroupPartitionMetadataKey(group_id), None)


def member_tombstones(group_id: str, member_id: str) -> list[Entry]:
    """From the last that was written to the first: a half-read removal never leaves a member that owns."""
    return [
        Entry(stored.ConsumerGroupCurrentMemberAssignmentKey(group_id, member_id), None),
        Entry(stored.ConsumerGroupTargetAssignmentMemberKey(group_id, member_id), None),
        Entry(stored.ConsumerGroupMemberMetadataKey(group_id, member_id), None),
    ]


def group_tombstones(group: ConsumerGroup, member_ids: Iterable[str] | None = None) -> list[Entry]:
    """Of these members, or of the group's."""
    group_id = group.group_id
    removed = [member_tombstones(group_id, each) for each in member_ids or list(group.members)]
    entries = [current for current, _, _ in removed]
    entries += [target for _, target, _ in removed]
    entries.append(Entry(stored.ConsumerGroupTargetAssignmentMetadataKey(group_id), None))
    entries += [member for _, _, member in removed]
    entries += [regex_tombstone(group_id, regex) for regex in group.subscriptions.resolved]
    entries.append(partition_metadata_tombstone(group_id))
    entries.append(Entry(stored.ConsumerGroupMetadataKey(group_id), None))
    return entries


# --- and back ----------------------------------------------------------------------------------------------


def with_metadata(member: Member, value: stored.ConsumerGroupMemberMetadataValue) -> Member:
    return Member(
        member.member_id,
        member.epoch,
        member.previous_epoch,
        member.state,
        value.instance_id,
        value.rack_id,
        value.client_id,
        value.client_host,
        value.rebalance_timeout_ms,
        frozenset(value.subscribed_topic_names),
        value.subscribed_topic_regex or "",
        value.server_assignor,
        member.assigned,
        member.pending_revocation,
        value.classic_member_metadata,
    )


def with_current(member: Member, value: stored.ConsumerGroupCurrentMemberAssignmentValue) -> Member:
    """Older brokers did not write since when a partition is owned: since the member's epoch."""
    return Member(
        member.member_id,
        value.member_epoch,
        value.previous_member_epoch,
        MemberState.read(value.state),
        member.instance_id,
        member.rack_id,
        member.client_id,
        member.client_host,
        member.rebalance_timeout_ms,
        member.topics,
        member.topic_regex,
        member.assignor,
        _owned(value.assigned_partitions, value.member_epoch),
        _owned(value.partitions_pending_revocation, value.member_epoch),
        member.classic,
    )


def without_current(member: Member) -> Member:
    return with_current(member, stored.ConsumerGroupCurrentMemberAssignmentValue(-1, -1))


def _owned(rows: Iterable[stored.CurrentPartitions], epoch: int) -> Owned:
    return {
        row.topic_id: dict(
            zip(row.partitions, row.assignment_epochs or [epoch] * len(row.partitions), strict=False)
        )
        for row in rows
    }


def target_of(value: stored.ConsumerGroupTargetAssignmentMemberValue) -> Partitions:
    return {row.topic_id: frozenset(row.partitions) for row in value.topic_partitions}


def resolved_regex(value: stored.ConsumerGroupRegularExpressionValue) -> ResolvedRegex:
    return ResolvedRegex(frozenset(value.topics), value.version, value.timestamp)
