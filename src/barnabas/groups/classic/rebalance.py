"""From one generation of a classic group to the next, and the clocks that keep it going.

A change (somebody joins, leaves, goes silent, wants other topics) makes the group prepare: everybody has to
send JoinGroup. When all have, or their time is up, the new generation begins and waits for the leader's
assignment. What a rebalance does before the assignment is soft: a crash forgets it, and the members, who are
told so at their next request, start again.
"""

from __future__ import annotations

from collections.abc import Callable

from barnabas.coordination.outcome import NOTHING, Outcome, ShardHost
from barnabas.groups.classic.group import ClassicGroup
from barnabas.groups.classic.member import ClassicMember
from barnabas.groups.classic.records import group_entry
from barnabas.groups.classic.states import CompletingRebalance, Empty, PreparingRebalance, Stable
from barnabas.groups.group import Group
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.join_group import JoinGroupResponse, JoinGroupResponseMember
from barnabas.protocol.messages.sync_group import SyncGroupResponse

# A member in its first JoinGroup sends no heartbeats yet, and rebalances may take long.
NEW_MEMBER_TIMEOUT_MS = 5 * 60_000


class Rebalancer:
    def __init__(self, host: ShardHost, groups: dict[str, Group]) -> None:
        self._host = host
        self._groups = groups

    # --- from a change to the next generation --------------------------------------------------------------

    def change(self, group: ClassicGroup, outcome: Outcome) -> None:
        """The group is not what it was: start a rebalance, or see whether the one under way can go on."""
        if isinstance(group.status, PreparingRebalance):
            self.go_on(group, outcome)
        else:
            self.prepare(group, outcome)

    def go_on(self, group: ClassicGroup, outcome: Outcome) -> None:
        """The first rebalance of a group waits for its delay in any case."""
        match group.status:
            case PreparingRebalance(initial=False) if group.all_joined:
                self.complete_join(group, outcome)

    def prepare(self, group: ClassicGroup, outcome: Outcome) -> None:
        if isinstance(group.status, CompletingRebalance):
            for member in group.members.values():
                member.assignment = b""
            self._answer_syncs(group, outcome, ErrorCode.REBALANCE_IN_PROGRESS)
        self._host.timers.cancel(("sync", group.group_id))
        initial = group.is_empty
        group.move_to(PreparingRebalance(initial), self._host.wall_ms)
        if initial:
            delay_ms = self._initial_delay_ms
            remaining_ms = max(group.rebalance_timeout_ms - delay_ms, 0)
            self._after("join", delay_ms, group, lambda: self._delay_passed(group, delay_ms, remaining_ms))
        elif group.all_joined:
            self.complete_join(group, outcome)
        else:
            self._wait_for_joins(group)

    @property
    def _initial_delay_ms(self) -> int:
        return self._host.settings.integer("group.initial.rebalance.delay.ms")

    def _delay_passed(self, group: ClassicGroup, delay_ms: int, remaining_ms: int) -> Outcome:
        """Who came during the delay may be the first of many: wait again, within the rebalance timeout."""
        match group.status:
            case PreparingRebalance(has_new_member=True) as status if remaining_ms:
                status.has_new_member = False
                next_ms = min(self._initial_delay_ms, remaining_ms)
                left_ms = max(remaining_ms - delay_ms, 0)
                self._after("join", next_ms, group, lambda: self._delay_passed(group, next_ms, left_ms))
                return NOTHING
        return self._joins_due(group)

    def _wait_for_joins(self, group: ClassicGroup) -> None:
        self._after("join", group.rebalance_timeout_ms, group, lambda: self._joins_due(group))

    def _joins_due(self, group: ClassicGroup) -> Outcome:
        outcome = Outcome(replays=False)
        if isinstance(group.status, PreparingRebalance):
            self.complete_join(group, outcome)
        return outcome

    def complete_join(self, group: ClassicGroup, outcome: Outcome) -> None:
        """Who has not come is out; static members stay for their session's time."""
        self._host.timers.cancel(("join", group.group_id))
        if not group.all_joined:
            for member in [m for m in group.members.values() if m.join is None and not m.is_static]:
                self.forget_session(group, member.member_id)
                group.remove(member)
        if group.members and not self._leader_joined(group):
            self._wait_for_joins(group)
            return
        group.generation += 1
        if group.members:
            self._begin_generation(group, outcome)
            return
        group.agree(None)
        group.move_to(Empty(), self._host.wall_ms)
        outcome.entries.append(group_entry(group, {}))

    def _leader_joined(self, group: ClassicGroup) -> bool:
        """A leader that has not come yields to the first that has. False: nobody came."""
        leader = group.members.get(group.leader_id or "")
        if leader is None or leader.join is None:
            joined = next((m for m in group.members.values() if m.join is not None), None)
            if joined is None:
                return False
            group.leader_id = joined.member_id
        return True

    def _begin_generation(self, group: ClassicGroup, outcome: Outcome) -> None:
        group.agree(group.select_protocol())
        group.move_to(CompletingRebalance(set(group.members)), self._host.wall_ms)
        for member in group.members.values():
            group.answer_join(member, join_response(group, member), outcome.answers)
            member.is_new = False
            self.extend_session(group, member)
        generation = group.generation
        self._after("sync", group.rebalance_timeout_ms, group, lambda: self._syncs_due(group, generation))

    # --- SyncGroup -----------------------------------------------------------------------------------------

    def synced(self, group: ClassicGroup, member: ClassicMember) -> None:
        unsynced = group.unsynced
        unsynced.discard(member.member_id)
        if not unsynced:
            self._host.timers.cancel(("sync", group.group_id))

    def _syncs_due(self, group: ClassicGroup, generation: int) -> Outcome:
        """Who joined and never synced would hold its partitions unread: it is out."""
        late = group.unsynced
        if generation != group.generation or not late:
            return NOTHING
        outcome = Outcome(replays=False)
        for member_id in list(late):
            self.forget_session(group, member_id)
            group.remove(group.members[member_id])
        self.prepare(group, outcome)
        return outcome

    def settle(self, group: ClassicGroup, outcome: Outcome) -> None:
        """The assignment is set and in the log: hand it out."""
        group.move_to(Stable(group.unsynced), self._host.wall_ms)
        self._answer_syncs(group, outcome, ErrorCode.NONE)

    def _answer_syncs(self, group: ClassicGroup, outcome: Outcome, code: ErrorCode) -> None:
        for member in group.members.values():
            response = (
                sync_response(group, member) if code is ErrorCode.NONE else SyncGroupResponse(error_code=code)
            )
            if group.answer_sync(member, response, outcome.answers):
                self.extend_session(group, member)

    # --- sessions ------------------------------------------------------------------------------------------

    def extend_session(
        self, group: ClassicGroup, member: ClassicMember, timeout_ms: int | None = None
    ) -> None:
        """A heartbeat only moves the deadline: the timer, when it fires, is set again for what is left."""
        due_ms = self._host.now_ms + (member.session_timeout_ms if timeout_ms is None else timeout_ms)
        member.session_due_ms = due_ms
        if not member.timer_due_ms or due_ms < member.timer_due_ms:
            self._watch_session(group, member)

    def _watch_session(self, group: ClassicGroup, member: ClassicMember) -> None:
        member.timer_due_ms = member.session_due_ms
        self._session_timer(
            group,
            member.member_id,
            member.session_due_ms - self._host.now_ms,
            lambda: self._session_due(group, member),
        )

    def _session_due(self, group: ClassicGroup, member: ClassicMember) -> Outcome:
        if group.members.get(member.member_id) is not member:
            return NOTHING
        member.timer_due_ms = 0
        if member.session_due_ms > self._host.now_ms:
            self._watch_session(group, member)
            return NOTHING
        if member.waits:
            return NOTHING
        outcome = Outcome(replays=False)
        self.expel(group, member, outcome)
        self.change(group, outcome)
        return outcome

    def expel(self, group: ClassicGroup, member: ClassicMember, outcome: Outcome) -> None:
        group.answer_join(member, join_refusal(ErrorCode.UNKNOWN_MEMBER_ID), outcome.answers)
        group.answer_sync(member, SyncGroupResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID), outcome.answers)
        self.forget_session(group, member.member_id)
        group.remove(member)

    def forget_session(self, group: ClassicGroup, member_id: str) -> None:
        self._host.timers.cancel(("session", group.group_id, member_id))

    def watch_pending(self, group: ClassicGroup, member_id: str, timeout_ms: int) -> None:
        """It has its session's time to come back with the id we gave it."""
        group.pending.add(member_id)
        self._session_timer(group, member_id, timeout_ms, lambda: self._pending_due(group, member_id))

    def _pending_due(self, group: ClassicGroup, member_id: str) -> Outcome:
        if member_id not in group.pending:
            return NOTHING
        outcome = Outcome(replays=False)
        self.drop_pending(group, member_id)
        self.go_on(group, outcome)
        return outcome

    def drop_pending(self, group: ClassicGroup, member_id: str) -> None:
        self.forget_session(group, member_id)
        group.pending.discard(member_id)

    def resume(self, group: ClassicGroup) -> Outcome:
        """After a load: everybody gets a whole session's time to find us."""
        for member in group.members.values():
            self.extend_session(group, member)
        outcome = Outcome(replays=False)
        too_many = len(group.members) > self._host.settings.integer("group.max.size")
        if too_many or (group.members and group.leader_id is None):
            self.prepare(group, outcome)
        return outcome

    # --- timers --------------------------------------------------------------------------------------------

    def _session_timer(
        self, group: ClassicGroup, member_id: str, delay_ms: int, due: Callable[[], Outcome]
    ) -> None:
        self._host.timers.schedule(
            ("session", group.group_id, member_id), max(delay_ms, 0), lambda: self._if_alive(group, due)
        )

    def _after(self, what: str, delay_ms: int, group: ClassicGroup, due: Callable[[], Outcome]) -> None:
        self._host.timers.schedule(
            (what, group.group_id), max(delay_ms, 0), lambda: self._if_alive(group, due)
        )

    def _if_alive(self, group: ClassicGroup, due: Callable[[], Outcome]) -> Outcome:
        """The group may have been deleted or converted since."""
        return due() if self._groups.get(group.group_id) is group else NOTHING


def join_response(
    group: ClassicGroup, member: ClassicMember, *, skip_assignment: bool = False
) -> JoinGroupResponse:
    """Only the leader learns who is in and what they want: it assigns."""
    members = _all_members(group) if group.leader_id == member.member_id else ()
    return JoinGroupResponse(
        generation_id=group.generation,
        protocol_type=group.protocol_kind,
        protocol_name=group.protocol_name,
        leader=group.leader_id or "",
        skip_assignment=skip_assignment,
        member_id=member.member_id,
        members=members,
    )


def join_refusal(code: ErrorCode, member_id: str = "") -> JoinGroupResponse:
    return JoinGroupResponse(error_code=code, member_id=member_id, protocol_name=None)


def _all_members(group: ClassicGroup) -> list[JoinGroupResponseMember]:
    return [
        JoinGroupResponseMember(member.member_id, member.instance_id, group.metadata_of(member))
        for member in group.members.values()
    ]


def sync_response(group: ClassicGroup, member: ClassicMember) -> SyncGroupResponse:
    return SyncGroupResponse(
        protocol_type=group.protocol_kind, protocol_name=group.protocol_name, assignment=member.assignment
    )
