"""Members of a consumer group that speak the classic protocol: JoinGroup, SyncGroup, Heartbeat, LeaveGroup.

To them the member's epoch is the generation. Nobody leads: the broker assigns. REBALANCE_IN_PROGRESS makes
them come again whenever there is something to give up or to get.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace

from barnabas.coordination.outcome import Entry, Outcome, Ticket
from barnabas.groups.consumer import request_checks as checks
from barnabas.groups.consumer.context import Context
from barnabas.groups.consumer.downgrade import downgrade, may_downgrade
from barnabas.groups.consumer.embedded import owned_partitions, read_subscription, write_assignment
from barnabas.groups.consumer.group import CONSUMER_PROTOCOL, ConsumerGroup
from barnabas.groups.consumer.heartbeat import replace_static
from barnabas.groups.consumer.leaving import remove_members
from barnabas.groups.consumer.member import Member, MemberState
from barnabas.groups.consumer.progress import Progress
from barnabas.groups.consumer.regexes import RegexChange
from barnabas.groups.group import Caller
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.protocol.codec import MalformedError
from barnabas.protocol.internal.groups import ClassicMemberMetadata, ClassicProtocol
from barnabas.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from barnabas.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from barnabas.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from barnabas.protocol.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)
from barnabas.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse

MEMBER_ID_REQUIRED_SINCE = 4  # KIP-394

# --- JoinGroup ---------------------------------------------------------------------------------------------


def join(
    context: Context, group: ConsumerGroup, request: JoinGroupRequest, caller: Caller, ticket: Ticket
) -> Outcome:
    subscription = _check_join(context, group, request)
    member_id = request.member_id or context.new_member_id()
    is_nobody = not request.member_id and request.group_instance_id is None
    if is_nobody and caller.version >= MEMBER_ID_REQUIRED_SINCE:
        response = JoinGroupResponse(error_code=ErrorCode.MEMBER_ID_REQUIRED, member_id=member_id)
        return Outcome(answers=[(ticket, response)])
    entries: list[Entry] = []
    replaced = group.static_member(request.group_instance_id)
    old = _joining(group, request, member_id, replaced, entries)
    progress = Progress(context, group, old, _wishes(old, request, subscription, caller), entries)
    owned = owned_partitions(subscription, context.host.image)
    if replaced is not None and may_downgrade(context, group, [replaced], joining=1):
        outcome, member = _join_and_downgrade(progress, replaced, owned)
    else:
        outcome, member = _join(progress, owned)
    outcome.answers.append((ticket, _joined(member)))
    return outcome


def _check_join(
    context: Context, group: ConsumerGroup, request: JoinGroupRequest
) -> ConsumerProtocolSubscription:
    settings = context.host.settings
    if settings.text("group.consumer.migration.policy").lower() == "disabled":
        raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    checks.check_room(group, request.member_id, settings.integer("group.consumer.max.size"))
    if not group.supports_classic(request.protocol_type, [each.name for each in request.protocols]):
        raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    try:
        return read_subscription(request.protocols[0].metadata)
    except MalformedError:
        raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL) from None


def _joining(
    group: ConsumerGroup,
    request: JoinGroupRequest,
    member_id: str,
    existing: Member | None,
    entries: list[Entry],
) -> Member:
    instance_id = request.group_instance_id
    if instance_id is None:
        return group.members.get(member_id, Member(member_id))
    if request.member_id:
        existing = checks.check_instance_known(existing, instance_id)
        checks.check_instance_not_fenced(existing, member_id, instance_id)
        return existing
    return Member(member_id) if existing is None else replace_static(group, existing, member_id, entries)


def _wishes(
    old: Member, request: JoinGroupRequest, subscription: ConsumerProtocolSubscription, caller: Caller
) -> Member:
    protocols = [ClassicProtocol(each.name, each.metadata) for each in request.protocols]
    return replace(
        old,
        instance_id=old.instance_id if request.group_instance_id is None else request.group_instance_id,
        rack_id=subscription.rack_id or old.rack_id,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        topics=frozenset(subscription.topics),
        topic_regex="",
        client_id=caller.client_id,
        client_host=caller.client_host,
        classic=ClassicMemberMetadata(request.session_timeout_ms, protocols),
    )


def _start(progress: Progress) -> bool:
    """True when it subscribes to something else than before."""
    other_names = progress.note_member()
    changed = progress.note_regex() is not RegexChange.NONE or other_names
    progress.look_at_topics(bump=changed)
    return changed


def _join(progress: Progress, owned: Mapping[bytes, Set[int]]) -> tuple[Outcome, Member]:
    changed = _start(progress)
    member = progress.reconcile(*progress.find_target(), owned, changed)
    context, group_id = progress.context, progress.group.group_id
    context.forget("rejoin", group_id, member.member_id)
    context.watch_session(group_id, member)
    context.watch_sync(group_id, member)
    return Outcome(progress.entries), member


def _join_and_downgrade(
    progress: Progress, replaced: Member, owned: Mapping[bytes, Set[int]]
) -> tuple[Outcome, Member]:
    """A classic member took the place of the last one that was not: its group is classic again.

    Where somebody still waits for a partition that another was to let go, there is nobody left who would hand
    it over: the group rebalances (Kafka's does not, and the partition stays nobody's until the next one).
    """
    rebalance, group, member = _start(progress), progress.group, progress.new
    if not rebalance:
        target = group.target_of(member.member_id, member.instance_id)
        member = progress.reconcile(group.assignment_epoch, target, owned, False)
        others = [each for each in group.members.values() if each is not replaced]
        rebalance = group.assignment_epoch < group.epoch or not all(
            _is_settled(group, each) for each in others
        )
    return (
        downgrade(progress.context, group, [replaced], progress.entries, joining=member, rebalance=rebalance),
        member,
    )


def _is_settled(group: ConsumerGroup, member: Member) -> bool:
    """It has what it is to have, no more and no less."""
    owned = {topic_id: set(epochs) for topic_id, epochs in member.assigned.items() if epochs}
    target = group.target_of(member.member_id)
    return owned == {topic_id: set(partitions) for topic_id, partitions in target.items() if partitions}


def _joined(member: Member) -> JoinGroupResponse:
    return JoinGroupResponse(
        member_id=member.member_id,
        generation_id=member.epoch,
        protocol_type=CONSUMER_PROTOCOL,
        protocol_name=member.classic_protocols[0].name,
    )


# --- SyncGroup and Heartbeat -------------------------------------------------------------------------------


def sync(context: Context, group: ConsumerGroup, request: SyncGroupRequest, ticket: Ticket) -> Outcome:
    member = _check_member(group, request.member_id, request.group_instance_id, request.generation_id)
    _check_protocol(member, request)
    if group.epoch > member.epoch and member.state is not MemberState.UNREVOKED_PARTITIONS:
        context.watch_join(group.group_id, member)
        raise ApiError(ErrorCode.REBALANCE_IN_PROGRESS)
    context.forget("resync", group.group_id, member.member_id)
    context.watch_session(group.group_id, member)
    like = member.classic_protocols[0].metadata
    response = SyncGroupResponse(
        protocol_type=request.protocol_type,
        protocol_name=request.protocol_name,
        assignment=write_assignment(member.assigned, context.host.image, like),
    )
    return Outcome(answers=[(ticket, response)])


def _check_protocol(member: Member, request: SyncGroupRequest) -> None:
    for said, agreed in (
        (request.protocol_type, CONSUMER_PROTOCOL),
        (request.protocol_name, member.classic_protocols[0].name),
    ):
        if said is not None and said != agreed:
            raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)


def beat(context: Context, group: ConsumerGroup, request: HeartbeatRequest, ticket: Ticket) -> Outcome:
    member = _check_member(group, request.member_id, request.group_instance_id, request.generation_id)
    context.watch_session(group.group_id, member)
    must_come = (
        member.epoch < group.epoch
        or member.state is MemberState.UNREVOKED_PARTITIONS
        or (member.state is MemberState.UNRELEASED_PARTITIONS and not group.waits_for_others(member))
    )
    if must_come:
        context.watch_join(group.group_id, member)
    code = ErrorCode.REBALANCE_IN_PROGRESS if must_come else ErrorCode.NONE
    return Outcome(answers=[(ticket, HeartbeatResponse(error_code=code))])


def _check_member(group: ConsumerGroup, member_id: str, instance_id: str | None, generation: int) -> Member:
    if instance_id is None:
        member = group.member(member_id)
    else:
        member = checks.check_instance_known(group.static_member(instance_id), instance_id)
        checks.check_instance_not_fenced(member, member_id, instance_id)
    if not member.speaks_classic:
        raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
    if generation != member.epoch:
        raise ApiError(ErrorCode.ILLEGAL_GENERATION)
    return member


# --- LeaveGroup --------------------------------------------------------------------------------------------


def leave(context: Context, group: ConsumerGroup, request: LeaveGroupRequest, ticket: Ticket) -> Outcome:
    leaving: list[Member] = []
    rows: list[MemberResponse] = []
    for who in request.members:
        row = MemberResponse(who.member_id, who.group_instance_id)
        try:
            member = _leaving(group, who)
        except ApiError as error:
            row.error_code = error.code
        else:
            row.member_id = member.member_id
            if member not in leaving:
                leaving.append(member)
        rows.append(row)
    outcome = remove_members(context, group, leaving) if leaving else Outcome()
    outcome.answers.append((ticket, LeaveGroupResponse(members=rows)))
    return outcome


def _leaving(group: ConsumerGroup, who: MemberIdentity) -> Member:
    """An administrator may send any member away, whatever it speaks."""
    if who.group_instance_id is None:
        return group.member(who.member_id)
    member = checks.check_instance_known(group.static_member(who.group_instance_id), who.group_instance_id)
    if who.member_id:
        checks.check_instance_not_fenced(member, who.member_id, who.group_instance_id)
    return member
