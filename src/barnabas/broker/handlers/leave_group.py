"""LeaveGroup v0–v5: one member of a classic group leaves, since v3 many at once (KIP-345)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from barnabas.broker.coordinators.ticket import RequestTicket
from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)
from barnabas.protocol.schema import Message

if TYPE_CHECKING:
    from barnabas.broker.node import Node

MANY_SINCE = 3


def handle(node: Node, context: Context, request: LeaveGroupRequest) -> LeaveGroupResponse | None:
    if not request.group_id:
        return LeaveGroupResponse(error_code=ErrorCode.INVALID_GROUP_ID)
    if context.version < MANY_SINCE:
        request.members = [MemberIdentity(request.member_id)]
    ticket = _LeaveTicket(context, lambda code: _refusal(code, request.members))
    node.groups.run(request.group_id, ticket, lambda shard: shard.leave_group(request, ticket))
    return None


def _refusal(code: ErrorCode, members: Sequence[MemberIdentity]) -> LeaveGroupResponse:
    """Where there is no group, each of them is unknown."""
    if code is not ErrorCode.UNKNOWN_MEMBER_ID:
        return LeaveGroupResponse(error_code=code)
    rows = [MemberResponse(who.member_id, who.group_instance_id, code) for who in members]
    return LeaveGroupResponse(members=rows)


class _LeaveTicket(RequestTicket):
    """Old versions have one error, that of their one member."""

    __slots__ = ()

    def answer(self, response: Message) -> None:
        assert isinstance(response, LeaveGroupResponse)
        if self._context.version < MANY_SINCE and response.members:
            response = LeaveGroupResponse(error_code=response.members[0].error_code)
        super().answer(response)

    def refuse(self, code: ErrorCode) -> None:
        self.answer(self._refusal(code))
