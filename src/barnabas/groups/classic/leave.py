"""LeaveGroup to a classic group, for one member or many."""

from __future__ import annotations

from barnabas.coordination.outcome import Outcome, Ticket
from barnabas.groups.classic.group import ClassicGroup
from barnabas.groups.classic.rebalance import Rebalancer
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.protocol.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)


def leave_group(
    rebalancer: Rebalancer, group: ClassicGroup, request: LeaveGroupRequest, ticket: Ticket
) -> Outcome:
    outcome = Outcome(replays=False)
    rows = [
        MemberResponse(who.member_id, who.group_instance_id, _leave(rebalancer, group, who, outcome))
        for who in request.members
    ]
    outcome.answers.append((ticket, LeaveGroupResponse(members=rows)))
    if not group.is_empty and any(row.error_code == ErrorCode.NONE for row in rows):
        rebalancer.change(group, outcome)
    return outcome


def _leave(rebalancer: Rebalancer, group: ClassicGroup, who: MemberIdentity, outcome: Outcome) -> ErrorCode:
    member_id = who.member_id
    if member_id in group.pending:
        rebalancer.drop_pending(group, member_id)
        return ErrorCode.NONE
    if not member_id and who.group_instance_id is not None:
        # An administrator removes an instance without knowing its member id.
        member_id = group.static_members.get(who.group_instance_id, "")
    try:
        member = group.check_member(member_id, who.group_instance_id)
    except ApiError as error:
        return error.code
    rebalancer.expel(group, member, outcome)
    return ErrorCode.NONE
