"""ConsumerGroupHeartbeat: how a member joins, reports what it owns, changes its mind, and learns its part."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace

from barnabas.coordination.outcome import Entry, Outcome, Ticket
from barnabas.groups.consumer import records
from barnabas.groups.consumer import request_checks as checks
from barnabas.groups.consumer.context import Context
from barnabas.groups.consumer.finding import find_or_make
from barnabas.groups.consumer.group import ConsumerGroup
from barnabas.groups.consumer.leaving import leave
from barnabas.groups.consumer.member import Member
from barnabas.groups.consumer.progress import Progress
from barnabas.groups.consumer.regexes import RegexChange
from barnabas.groups.group import Caller
from barnabas.model.errors import ApiError
from barnabas.protocol.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ResponseTopicPartitions,
)


def heartbeat(
    context: Context, request: ConsumerGroupHeartbeatRequest, caller: Caller, ticket: Ticket
) -> Outcome:
    """A refusal comes with its sentence, so it is an answer like any other."""
    try:
        outcome, response = _heartbeat(context, request, caller)
    except ApiError as error:
        refusal = ConsumerGroupHeartbeatResponse(error_code=error.code, error_message=error.message)
        return Outcome(answers=[(ticket, refusal)])
    outcome.answers.append((ticket, response))
    return outcome


def _heartbeat(
    context: Context, request: ConsumerGroupHeartbeatRequest, caller: Caller
) -> tuple[Outcome, ConsumerGroupHeartbeatResponse]:
    checks.check_request(request, caller.version, context.host.settings.names("group.consumer.assignors"))
    if request.member_epoch < 0:
        return leave(context, request)
    entries: list[Entry] = []
    found = find_or_make(context, request.group_id, request.member_epoch == 0, entries)
    group = found.group
    checks.check_room(group, request.member_id, context.host.settings.integer("group.consumer.max.size"))
    owned = checks.owned_partitions(request.topic_partitions)
    old = _member(context, group, request, owned, entries)
    progress = Progress(context, group, old, _wishes(old, request, caller), entries)
    member = _advance(progress, owned)
    outcome = Outcome(entries)
    if found.upgrade is not None:
        found.upgrade.finish(outcome)
    context.watch_session(group.group_id, member)
    return outcome, _response(context, request, group, old, member)


def _member(
    context: Context,
    group: ConsumerGroup,
    request: ConsumerGroupHeartbeatRequest,
    owned: Mapping[bytes, Set[int]] | None,
    entries: list[Entry],
) -> Member:
    member_id, joins = request.member_id or context.new_member_id(), request.member_epoch == 0
    if request.instance_id is not None:
        return _static_member(group, request, member_id, owned, entries)
    member = group.members.get(member_id, Member(member_id)) if joins else group.member(member_id)
    checks.check_epoch(member, request.member_epoch, owned)
    return member


def _static_member(
    group: ConsumerGroup,
    request: ConsumerGroupHeartbeatRequest,
    member_id: str,
    owned: Mapping[bytes, Set[int]] | None,
    entries: list[Entry],
) -> Member:
    instance_id = request.instance_id
    assert instance_id is not None
    existing = group.static_member(instance_id)
    if request.member_epoch != 0:
        existing = checks.check_instance_known(existing, instance_id)
        checks.check_instance_not_fenced(existing, member_id, instance_id)
        checks.check_epoch(existing, request.member_epoch, owned)
        return existing
    if existing is None:
        return group.members.get(member_id, Member(member_id))
    if not existing.speaks_classic:
        checks.check_instance_released(existing, member_id, instance_id)
    return replace_static(group, existing, member_id, entries)


def replace_static(group: ConsumerGroup, existing: Member, member_id: str, entries: list[Entry]) -> Member:
    """It is back under another id, and has what it had."""
    member = existing.replaced_by(member_id)
    entries += records.member_tombstones(group.group_id, existing.member_id)
    entries += [
        records.member_entry(group.group_id, member),
        records.target_entry(group.group_id, member_id, group.target_of(existing.member_id)),
        records.current_entry(group.group_id, member),
    ]
    return member


def _wishes(old: Member, request: ConsumerGroupHeartbeatRequest, caller: Caller) -> Member:
    """What it does not mention stays as it was."""
    names, regex = request.subscribed_topic_names, request.subscribed_topic_regex
    timeout_ms = request.rebalance_timeout_ms
    return replace(
        old,
        instance_id=old.instance_id if request.instance_id is None else request.instance_id,
        rack_id=old.rack_id if request.rack_id is None else request.rack_id,
        rebalance_timeout_ms=old.rebalance_timeout_ms if timeout_ms == -1 else timeout_ms,
        assignor=old.assignor if request.server_assignor is None else request.server_assignor,
        topics=old.topics if names is None else frozenset(names),
        topic_regex=old.topic_regex if regex is None else regex,
        client_id=caller.client_id,
        client_host=caller.client_host,
        classic=None,
    )


def _advance(progress: Progress, owned: Mapping[bytes, Set[int]] | None) -> Member:
    other_names = progress.note_member()
    other_regex = progress.note_regex()
    progress.look_at_topics(bump=other_names or other_regex is RegexChange.RESOLVED)
    target_epoch, target = progress.find_target()
    subscription_changed = other_names or other_regex is not RegexChange.NONE
    return progress.reconcile(target_epoch, target, owned, subscription_changed)


def _response(
    context: Context,
    request: ConsumerGroupHeartbeatRequest,
    group: ConsumerGroup,
    old: Member,
    member: Member,
) -> ConsumerGroupHeartbeatResponse:
    """The assignment is told when it is new, and to whoever says everything: it may have missed it."""
    says_everything = (
        request.rebalance_timeout_ms != -1
        and (request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None)
        and request.topic_partitions is not None
    )
    response = ConsumerGroupHeartbeatResponse(
        member_id=member.member_id,
        member_epoch=member.epoch,
        heartbeat_interval_ms=context.setting(group.group_id, "heartbeat.interval.ms"),
    )
    if request.member_epoch == 0 or says_everything or member.assigned != old.assigned:
        rows = [
            ResponseTopicPartitions(topic_id, sorted(partitions))
            for topic_id, partitions in member.assigned.items()
        ]
        response.assignment = Assignment(rows)
    return response
