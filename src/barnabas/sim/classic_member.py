"""A member of a classic group: JoinGroup, SyncGroup, Heartbeat; eager, range-assigned by the leader."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from barnabas.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from barnabas.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from barnabas.protocol.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from barnabas.sim.history import Broke
from barnabas.sim.membership import (
    COORDINATOR_BUSY,
    GROUP,
    NO_PLACES,
    PAUSE_MS,
    SETTLED,
    Change,
    Member,
    Places,
    by_topic,
    find_coordinator,
)
from barnabas.sim.scripts import LostError, Script, ask, rest

_JOIN_VERSION = 9
_SYNC_VERSION = 5
_HEARTBEAT_VERSION = 4
_LEAVE_VERSION = 5
_PROTOCOL_TYPE = "consumer"
_PROTOCOL = "range"
_UNKNOWN = (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION)


class ClassicMember(Member):
    def beat(self) -> Script[Change]:
        if self.generation < 0:
            return Change(settled=False)
        request = HeartbeatRequest(self.group, self.generation, self.member_id, self.instance_id)
        try:
            answer = yield from ask(HeartbeatResponse, request, _HEARTBEAT_VERSION)
        except LostError:
            yield from find_coordinator(self.group, GROUP)
            return SETTLED
        if answer.error_code == ErrorCode.NONE:
            return SETTLED
        if answer.error_code in COORDINATOR_BUSY:
            yield from find_coordinator(self.group, GROUP)
            return SETTLED
        owned, self.owned = self.owned, NO_PLACES
        if answer.error_code == ErrorCode.REBALANCE_IN_PROGRESS:
            return Change(settled=False, revoked=owned)
        if answer.error_code == ErrorCode.UNKNOWN_MEMBER_ID:
            self.member_id = ""
        elif answer.error_code != ErrorCode.ILLEGAL_GENERATION:
            self._refused("Heartbeat", answer.error_code)
        return Change(settled=False, lost=owned)

    def settle(self) -> Script[None]:
        self.owned = NO_PLACES
        yield from find_coordinator(self.group, GROUP)
        while not self.fenced:
            try:
                joined = yield from ask(JoinGroupResponse, self._join_request(), _JOIN_VERSION)
                if (yield from self._is_in(joined)) and (yield from self._synced(joined)):
                    return
            except LostError:
                yield from find_coordinator(self.group, GROUP)

    def leave(self) -> Script[None]:
        if self.member_id and self.instance_id is None:
            request = LeaveGroupRequest(self.group, members=[MemberIdentity(self.member_id)])
            try:
                yield from ask(LeaveGroupResponse, request, _LEAVE_VERSION)
            except LostError:
                return

    # --- joining -------------------------------------------------------------------------------------------

    def _join_request(self) -> JoinGroupRequest:
        return JoinGroupRequest(
            self.group,
            self.membership.session_timeout_ms,
            self.membership.rebalance_timeout_ms,
            self.member_id,
            self.instance_id,
            protocol_type=_PROTOCOL_TYPE,
            protocols=[JoinGroupRequestProtocol(_PROTOCOL, write_subscription(self.membership.topics))],
        )

    def _is_in(self, joined: JoinGroupResponse) -> Script[bool]:
        code = joined.error_code
        if code == ErrorCode.NONE:
            self.member_id, self.generation = joined.member_id, joined.generation_id
            return True
        if code == ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = joined.member_id
            return False
        if code == ErrorCode.UNKNOWN_MEMBER_ID:
            self.member_id = ""
        elif code in COORDINATOR_BUSY:
            yield from find_coordinator(self.group, GROUP)
        elif code != ErrorCode.REBALANCE_IN_PROGRESS:
            self._refused("JoinGroup", code)
        yield from rest(PAUSE_MS)
        return False

    def _synced(self, joined: JoinGroupResponse) -> Script[bool]:
        leads = joined.leader == joined.member_id and not joined.skip_assignment
        request = SyncGroupRequest(
            self.group,
            self.generation,
            self.member_id,
            self.instance_id,
            protocol_type=_PROTOCOL_TYPE,
            protocol_name=_PROTOCOL,
            assignments=self._share_out(joined) if leads else [],
        )
        answer = yield from ask(SyncGroupResponse, request, _SYNC_VERSION)
        if answer.error_code == ErrorCode.NONE:
            self.owned = read_assignment(answer.assignment)
            return True
        self.generation = -1
        if answer.error_code == ErrorCode.UNKNOWN_MEMBER_ID:
            self.member_id = ""
        elif answer.error_code in COORDINATOR_BUSY:
            yield from find_coordinator(self.group, GROUP)
        elif answer.error_code not in (ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION):
            self._refused("SyncGroup", answer.error_code)
        return False

    def _share_out(self, joined: JoinGroupResponse) -> list[SyncGroupRequestAssignment]:
        shares = share_by_range([member.member_id for member in joined.members], self.membership.places)
        return [SyncGroupRequestAssignment(member, write_assignment(share)) for member, share in shares]

    def _refused(self, what: str, code: int) -> None:
        if code == ErrorCode.FENCED_INSTANCE_ID:
            self.fenced = True
            return
        self.world.history.add(Broke(f"{self.name}: {what} answered {ErrorCode(code).name}"))


# --- the leader's part -------------------------------------------------------------------------------------


def share_by_range(members: Sequence[str], places: Places) -> list[tuple[str, Places]]:
    """Of each topic, consecutive partitions to each member; the first ones get what does not divide."""
    shares: dict[str, set[TopicPartition]] = {member: set() for member in members}
    for topic, indexes in by_topic(places):
        each, left = divmod(len(indexes), len(members))
        start = 0
        for at, member in enumerate(sorted(members)):
            end = start + each + (at < left)
            shares[member].update(TopicPartition(topic, index) for index in indexes[start:end])
            start = end
    return [(member, frozenset(share)) for member, share in shares.items()]


def write_subscription(topics: Sequence[str]) -> bytes:
    """ConsumerProtocolSubscription, version 0."""
    out = bytearray(struct.pack(">hi", 0, len(topics)))
    for topic in topics:
        out += _text(topic)
    return bytes(out + struct.pack(">i", -1))


def write_assignment(places: Places) -> bytes:
    """ConsumerProtocolAssignment, version 0."""
    topics = by_topic(places)
    out = bytearray(struct.pack(">hi", 0, len(topics)))
    for topic, indexes in topics:
        out += _text(topic) + struct.pack(f">i{len(indexes)}i", len(indexes), *indexes)
    return bytes(out + struct.pack(">i", -1))


def read_assignment(data: bytes) -> Places:
    if not data:
        return NO_PLACES
    places: set[TopicPartition] = set()
    (topics,) = struct.unpack_from(">i", data, 2)
    at = 6
    for _ in range(topics):
        (length,) = struct.unpack_from(">h", data, at)
        topic = data[at + 2 : at + 2 + length].decode()
        at += 2 + length
        (count,) = struct.unpack_from(">i", data, at)
        places.update(
            TopicPartition(topic, index) for index in struct.unpack_from(f">{count}i", data, at + 4)
        )
        at += 4 + 4 * count
    return frozenset(places)


def _text(text: str) -> bytes:
    return struct.pack(">h", len(text)) + text.encode()
