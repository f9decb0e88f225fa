"""SyncGroup to a classic group: the leader brings the assignment, the others wait for it."""

from __future__ import annotations

from barnabas.coordination.outcome import NOTHING, Outcome, Ticket
from barnabas.groups.classic.group import ClassicGroup
from barnabas.groups.classic.rebalance import Rebalancer, sync_response
from barnabas.groups.classic.records import group_entry
from barnabas.groups.classic.states import CompletingRebalance, PreparingRebalance
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse


def sync_group(
    rebalancer: Rebalancer, group: ClassicGroup, request: SyncGroupRequest, ticket: Ticket
) -> Outcome:
    if group.is_empty:
        raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
    member = group.check_member(request.member_id, request.group_instance_id)
    group.check_generation(request.generation_id)
    _check_protocol(group, request)
    if isinstance(group.status, PreparingRebalance):
        raise ApiError(ErrorCode.REBALANCE_IN_PROGRESS)
    rebalancer.synced(group, member)
    if not isinstance(group.status, CompletingRebalance):
        return Outcome(answers=[(ticket, sync_response(group, member))])
    earlier, member.sync = member.sync, ticket
    if group.leader_id == member.member_id:
        outcome = _assign(rebalancer, group, request)
    else:
        outcome = Outcome() if earlier is not None else NOTHING
    if earlier is not None:  # a retry: nobody reads the answer to the first one any more
        outcome.answers.append((earlier, SyncGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS)))
    return outcome


def _check_protocol(group: ClassicGroup, request: SyncGroupRequest) -> None:
    for said, agreed in (
        (request.protocol_type, group.protocol_kind),
        (request.protocol_name, group.protocol_name),
    ):
        if said is not None and agreed is not None and said != agreed:
            raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)


def _assign(rebalancer: Rebalancer, group: ClassicGroup, request: SyncGroupRequest) -> Outcome:
    """The answers wait until the record is committed: an assignment that a crash could undo is none."""
    assignments = {row.member_id: row.assignment for row in request.assignments}
    for member in group.members.values():
        member.assignment = assignments.get(member.member_id, b"")
    waiting = [(member, member.sync) for member in group.members.values()]
    outcome = Outcome(entries=[group_entry(group, assignments)], replays=False)

    def take_back(code: ErrorCode) -> Outcome:
        refused = Outcome(replays=False)
        response = SyncGroupResponse(error_code=code)
        refused.answers = [(sync, response) for _, sync in waiting if sync is not None]
        rebalancer.prepare(group, refused)
        for member, _ in waiting:
            member.assignment = b""
        return refused

    rebalancer.settle(group, outcome)
    outcome.refused = take_back
    return outcome
