"""A member goes: it says so, or it is fenced because one of its clocks ran out."""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.coordination.outcome import NOTHING, Entry, Outcome
from barnabas.groups.consumer import records
from barnabas.groups.consumer.context import Context
from barnabas.groups.consumer.downgrade import downgrade, may_downgrade
from barnabas.groups.consumer.group import ConsumerGroup
from barnabas.groups.consumer.member import LEAVES_FOR_NOW, Member
from barnabas.groups.consumer.request_checks import check_instance_known, check_instance_not_fenced
from barnabas.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)


def leave(
    context: Context, request: ConsumerGroupHeartbeatRequest
) -> tuple[Outcome, ConsumerGroupHeartbeatResponse]:
    group = context.find(request.group_id)
    response = ConsumerGroupHeartbeatResponse(member_id=request.member_id, member_epoch=request.member_epoch)
    instance_id = request.instance_id
    if instance_id is None:
        return remove_members(context, group, [group.member(request.member_id)]), response
    member = check_instance_known(group.static_member(instance_id), instance_id)
    check_instance_not_fenced(member, request.member_id, instance_id)
    if request.member_epoch == LEAVES_FOR_NOW:
        return Outcome([records.current_entry(group.group_id, member.gone_for_now())]), response
    return remove_members(context, group, [member]), response


def fence(context: Context, group_id: str, member_id: str) -> Outcome:
    group = context.groups.get(group_id)
    member = group.members.get(member_id) if isinstance(group, ConsumerGroup) else None
    if member is None:
        return NOTHING
    assert isinstance(group, ConsumerGroup)
    return remove_members(context, group, [member])


def remove_members(context: Context, group: ConsumerGroup, members: Sequence[Member]) -> Outcome:
    """What they owned is free at once: nobody has to wait for them to give it up."""
    if may_downgrade(context, group, members):
        return downgrade(context, group, members, [])
    entries: list[Entry] = []
    for member in members:
        entries += records.member_tombstones(group.group_id, member.member_id)
        # Its session's clock goes on, and finds nobody: should this not be written, it ends the session.
        for what in ("revoke", "rejoin", "resync"):
            context.forget(what, group.group_id, member.member_id)
    entries += _unused_regexes(group, members)
    topics = group.subscriptions.topics(without=members)
    metadata_hash = context.topic_hashes.of_topics(topics, context.host.image)
    entries.append(records.epoch_entry(group.group_id, group.epoch + 1, metadata_hash))
    return Outcome(entries)


def _unused_regexes(group: ConsumerGroup, leaving: Sequence[Member]) -> list[Entry]:
    counts = group.subscriptions.by_regex.copy()
    counts.subtract(member.topic_regex for member in leaving if member.topic_regex)
    return [records.regex_tombstone(group.group_id, regex) for regex, count in counts.items() if count == 0]
