"""JoinGroup v0–v9: become a member of a classic group, or stay one; answered when the next generation begins.

Member id required since v4 (KIP-394), static members since v5 (KIP-345), a leader that came back is told to
skip the assignment since v9 (KIP-814). The reasons of v8 (KIP-800) are read and not logged. Other than in
Kafka, a first join that is refused leaves no empty group behind, and whoever joins again while an earlier
request of theirs waits gets that one answered, with REBALANCE_IN_PROGRESS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.coordinators.group_requests import caller_of
from barnabas.broker.coordinators.ticket import RequestTicket
from barnabas.broker.dispatch import Context
from barnabas.groups.classic.rebalance import join_refusal
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from barnabas.protocol.schema import Message

if TYPE_CHECKING:
    from barnabas.broker.node import Node

NULL_PROTOCOL_NAME_SINCE = 7


def handle(node: Node, context: Context, request: JoinGroupRequest) -> None:
    ticket = _JoinTicket(context, lambda code: join_refusal(code, request.member_id))
    refused = _refused(node, request)
    if refused is not None:
        ticket.refuse(refused)
        return
    if context.version == 0:  # it had one timeout for both
        request.rebalance_timeout_ms = request.session_timeout_ms
    caller = caller_of(context)
    node.groups.run(request.group_id, ticket, lambda shard: shard.join_group(request, caller, ticket))


def _refused(node: Node, request: JoinGroupRequest) -> ErrorCode | None:
    if not request.group_id:
        return ErrorCode.INVALID_GROUP_ID
    least = node.settings.integer("group.min.session.timeout.ms")
    most = node.settings.integer("group.max.session.timeout.ms")
    if not least <= request.session_timeout_ms <= most:
        return ErrorCode.INVALID_SESSION_TIMEOUT
    return None


class _JoinTicket(RequestTicket):
    """Old versions cannot say that there is no protocol."""

    __slots__ = ()

    def answer(self, response: Message) -> None:
        assert isinstance(response, JoinGroupResponse)
        if response.protocol_name is None and self._context.version < NULL_PROTOCOL_NAME_SINCE:
            response.protocol_name = ""
        super().answer(response)

    def refuse(self, code: ErrorCode) -> None:
        self.answer(self._refusal(code))
