"""JoinGroup to a classic group: who may come in, under which member id, and what that starts."""

from __future__ import annotations

import uuid

from barnabas.coordination.outcome import Outcome, ShardHost, Ticket
from barnabas.groups.classic.group import ClassicGroup
from barnabas.groups.classic.member import ClassicMember, protocols_of
from barnabas.groups.classic.rebalance import NEW_MEMBER_TIMEOUT_MS, Rebalancer, join_refusal, join_response
from barnabas.groups.classic.records import group_entry, new_group_entry
from barnabas.groups.classic.states import CompletingRebalance, Empty, PreparingRebalance, Stable
from barnabas.groups.group import Caller, Group
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from barnabas.protocol.messages.sync_group import SyncGroupResponse

MEMBER_ID_REQUIRED_SINCE = 4  # KIP-394
SKIP_ASSIGNMENT_SINCE = 9  # KIP-814
MEMBER_ID_PREFIX_BYTES_MAX = 32767 - len("-00000000-0000-4000-8000-000000000000")
# Of a group: whoever asks for a member id and does not come back with it costs memory for a session's time.
PENDING_MAX = 10_000


class Joins:
    def __init__(self, host: ShardHost, groups: dict[str, Group], rebalancer: Rebalancer) -> None:
        self._host = host
        self._groups = groups
        self._rebalancer = rebalancer

    def join(
        self, group: ClassicGroup | None, request: JoinGroupRequest, caller: Caller, ticket: Ticket
    ) -> Outcome:
        if group is not None:
            return self._join(group, request, caller, ticket)
        if request.member_id:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
        return self._found(request, caller, ticket)

    def _found(self, request: JoinGroupRequest, caller: Caller, ticket: Ticket) -> Outcome:
        """The group comes into being with its first member, and is remembered from then on. As in Kafka, that
        is so even if what the member speaks is refused."""
        group = ClassicGroup(request.group_id)
        group.status_since_ms = self._host.wall_ms
        try:
            outcome = self._join(group, request, caller, ticket)
        except ApiError as error:
            if error.code is not ErrorCode.INCONSISTENT_GROUP_PROTOCOL:
                raise
            outcome = Outcome(answers=[(ticket, join_refusal(error.code))], replays=False)
        self._groups[group.group_id] = group
        outcome.entries.append(new_group_entry(group))
        outcome.refused = lambda code: self._unfound(group, ticket, code)
        return outcome

    def _unfound(self, group: ClassicGroup, ticket: Ticket, code: ErrorCode) -> Outcome:
        del self._groups[group.group_id]
        for member_id in (*group.members, *group.pending):
            self._rebalancer.forget_session(group, member_id)
        return Outcome(answers=[(ticket, join_refusal(code))])

    def _join(
        self, group: ClassicGroup, request: JoinGroupRequest, caller: Caller, ticket: Ticket
    ) -> Outcome:
        outcome = Outcome(replays=False)
        if not self._has_room(group, request.member_id):
            self._turn_away(group, request.member_id, outcome)
            outcome.answers.append((ticket, join_refusal(ErrorCode.GROUP_MAX_SIZE_REACHED)))
            return outcome
        protocols = protocols_of(request.protocols)
        if not group.supports(request.protocol_type, protocols):
            raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        if not request.member_id:
            self._join_new(group, request, caller, ticket, outcome)
        elif request.member_id in group.pending:
            self._add(group, request.member_id, request, caller, ticket, outcome)
        else:
            self._join_again(group, request, protocols, caller, ticket, outcome)
        return outcome

    def _has_room(self, group: ClassicGroup, member_id: str) -> bool:
        most = self._host.settings.integer("group.max.size")
        match group.status:
            case Empty():
                return True
            case PreparingRebalance():
                member = group.members.get(member_id)
                return (member is not None and member.join is not None) or group.joining < most
            case CompletingRebalance() | Stable():
                return member_id in group.members or len(group.members) < most

    def _turn_away(self, group: ClassicGroup, member_id: str, outcome: Outcome) -> None:
        """There were more members than fit, and the others were faster."""
        member = group.members.get(member_id)
        if member is not None:
            self._rebalancer.expel(group, member, outcome)
        elif member_id in group.pending:
            self._rebalancer.drop_pending(group, member_id)
        self._rebalancer.go_on(group, outcome)

    # --- newcomers -----------------------------------------------------------------------------------------

    def _join_new(
        self, group: ClassicGroup, request: JoinGroupRequest, caller: Caller, ticket: Ticket, outcome: Outcome
    ) -> None:
        instance_id = request.group_instance_id
        member_id = self._new_member_id(caller.client_id if instance_id is None else instance_id)
        if instance_id is not None and instance_id in group.static_members:
            self._replace(group, member_id, request, caller, ticket, outcome)
        elif instance_id is not None or caller.version < MEMBER_ID_REQUIRED_SINCE:
            self._add(group, member_id, request, caller, ticket, outcome)
        elif len(group.pending) >= PENDING_MAX:
            raise ApiError(ErrorCode.GROUP_MAX_SIZE_REACHED)
        else:
            self._rebalancer.watch_pending(group, member_id, request.session_timeout_ms)
            response = join_refusal(ErrorCode.MEMBER_ID_REQUIRED, member_id)
            outcome.answers.append((ticket, response))

    def _new_member_id(self, prefix: str) -> str:
        if len(prefix.encode()) > MEMBER_ID_PREFIX_BYTES_MAX:
            raise ApiError(
                ErrorCode.UNKNOWN_SERVER_ERROR, "The client id is too long to make a member id of."
            )
        return f"{prefix}-{uuid.UUID(bytes=self._host.random_bytes(16), version=4)}"

    def _add(
        self,
        group: ClassicGroup,
        member_id: str,
        request: JoinGroupRequest,
        caller: Caller,
        ticket: Ticket,
        outcome: Outcome,
    ) -> None:
        self._rebalancer.drop_pending(group, member_id)
        member = ClassicMember(
            member_id,
            request.group_instance_id,
            caller.client_id,
            caller.client_host,
            request.rebalance_timeout_ms,
            request.session_timeout_ms,
            protocols_of(request.protocols),
            is_new=True,
            join=ticket,
        )
        match group.status:
            case PreparingRebalance(initial=True) as status:
                status.has_new_member = True
        group.add(member, request.protocol_type)
        self._rebalancer.extend_session(group, member, NEW_MEMBER_TIMEOUT_MS)
        self._rebalancer.change(group, outcome)

    # --- who is in already ---------------------------------------------------------------------------------

    def _join_again(
        self,
        group: ClassicGroup,
        request: JoinGroupRequest,
        protocols: dict[str, bytes],
        caller: Caller,
        ticket: Ticket,
        outcome: Outcome,
    ) -> None:
        try:
            member = group.check_member(request.member_id, request.group_instance_id)
        except ApiError as error:
            outcome.answers.append((ticket, join_refusal(error.code, request.member_id)))
            return
        if self._goes_on_as_it_is(group, member, protocols):
            outcome.answers.append((ticket, join_response(group, member)))
            return
        # A retry on a new connection: nobody reads the answer to the first one any more.
        retried = join_refusal(ErrorCode.REBALANCE_IN_PROGRESS, member.member_id)
        group.answer_join(member, retried, outcome.answers)
        group.update(member, protocols)
        member.rebalance_timeout_ms = request.rebalance_timeout_ms
        member.session_timeout_ms = request.session_timeout_ms
        group.wait_join(member, ticket)
        self._rebalancer.change(group, outcome)

    @staticmethod
    def _goes_on_as_it_is(group: ClassicGroup, member: ClassicMember, protocols: dict[str, bytes]) -> bool:
        """It missed our answer and asks again. A leader that asks while all is well wants a rebalance."""
        match group.status:
            case CompletingRebalance():
                return member.prefers(protocols)
            case Stable():
                return member.prefers(protocols) and group.leader_id != member.member_id
        return False

    # --- static members (KIP-345) --------------------------------------------------------------------------

    def _replace(
        self,
        group: ClassicGroup,
        member_id: str,
        request: JoinGroupRequest,
        caller: Caller,
        ticket: Ticket,
        outcome: Outcome,
    ) -> None:
        """The same instance came back: whoever speaks under its old member id is fenced from now on."""
        assert request.group_instance_id is not None
        member = group.members[group.static_members[request.group_instance_id]]
        before = _Before(group, member)
        self._fence(group, member, outcome)
        self._rename(group, member, member_id)
        group.update(member, protocols_of(request.protocols))
        member.rebalance_timeout_ms = request.rebalance_timeout_ms
        member.session_timeout_ms = request.session_timeout_ms
        if not (isinstance(group.status, Stable) and group.select_protocol() == group.protocol_name):
            group.wait_join(member, ticket)
            self._rebalancer.change(group, outcome)
            return
        outcome.entries.append(group_entry(group, group.assignments()))
        outcome.answers.append((ticket, _welcome_back(group, member, before, caller.version)))
        outcome.refused = lambda code: self._take_back(group, member, before, ticket, code)

    def _fence(self, group: ClassicGroup, member: ClassicMember, outcome: Outcome) -> None:
        fenced = join_refusal(ErrorCode.FENCED_INSTANCE_ID, member.member_id)
        group.answer_join(member, fenced, outcome.answers)
        group.answer_sync(member, SyncGroupResponse(error_code=ErrorCode.FENCED_INSTANCE_ID), outcome.answers)

    def _rename(self, group: ClassicGroup, member: ClassicMember, member_id: str) -> None:
        self._rebalancer.forget_session(group, member.member_id)
        group.rename(member, member_id)
        member.timer_due_ms = 0
        self._rebalancer.extend_session(group, member)

    def _take_back(
        self, group: ClassicGroup, member: ClassicMember, before: _Before, ticket: Ticket, code: ErrorCode
    ) -> Outcome:
        self._rename(group, member, before.member_id)
        group.update(member, before.protocols)
        member.rebalance_timeout_ms = before.rebalance_timeout_ms
        member.session_timeout_ms = before.session_timeout_ms
        response = JoinGroupResponse(
            error_code=code,
            generation_id=group.generation,
            protocol_type=group.protocol_kind,
            protocol_name=group.protocol_name,
            leader=before.leader_id,
        )
        return Outcome(answers=[(ticket, response)])


class _Before:
    """A static member before it was replaced."""

    __slots__ = ("leader_id", "member_id", "protocols", "rebalance_timeout_ms", "session_timeout_ms")

    def __init__(self, group: ClassicGroup, member: ClassicMember) -> None:
        self.leader_id = group.leader_id or ""
        self.member_id = member.member_id
        self.protocols = member.protocols
        self.rebalance_timeout_ms = member.rebalance_timeout_ms
        self.session_timeout_ms = member.session_timeout_ms


def _welcome_back(
    group: ClassicGroup, member: ClassicMember, before: _Before, version: int
) -> JoinGroupResponse:
    """The assignment stands. A leader that can be told so is told so; an older one must not think it leads,
    or it would assign anew: it hears its own old name as the leader's."""
    if version >= SKIP_ASSIGNMENT_SINCE:
        return join_response(group, member, skip_assignment=group.leader_id == member.member_id)
    response = join_response(group, member)
    response.leader = before.leader_id
    response.members = ()
    return response
