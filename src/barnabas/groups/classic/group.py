"""A classic group: its members, its generation, what they agreed on. What happens to it is decided in
`rebalance.py`, `join.py`, `sync.py` and `leave.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from barnabas.coordination.outcome import Answer, Entry, Ticket
from barnabas.groups.classic.member import ClassicMember
from barnabas.groups.classic.states import (
    CompletingRebalance,
    Empty,
    PreparingRebalance,
    Stable,
    State,
    may_follow,
)
from barnabas.groups.classic.subscription import CONSUMER_PROTOCOL, subscribed_topics
from barnabas.groups.group import Group, GroupType
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.protocol.internal.groups import GroupMetadataKey
from barnabas.protocol.messages.heartbeat import HeartbeatResponse


class ClassicGroup(Group):
    type = GroupType.CLASSIC

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.generation = 0
        self.status: State = Empty()
        self.status_since_ms: int | None = None  # wall time
        self.protocol_kind: str | None = None  # "consumer", "connect"…; None: offsets without membership
        self.protocol_name: str | None = None
        self.leader_id: str | None = None
        self.members: dict[str, ClassicMember] = {}
        self.static_members: dict[str, str] = {}  # from instance id to member id
        self.pending: set[str] = set()  # were told to come back with the member id we gave them
        self.joining = 0  # how many members wait in JoinGroup
        self.subscribed: frozenset[str] | None = None  # None: not known
        self._supporters: Counter[str] = Counter()

    # --- what every group says -----------------------------------------------------------------------------

    @property
    def state(self) -> str:
        return self.status.name

    @property
    def protocol_type(self) -> str:
        return self.protocol_kind or ""

    @property
    def is_empty(self) -> bool:
        return isinstance(self.status, Empty)

    @property
    def is_simple(self) -> bool:
        """Offsets were committed, nobody ever was a member."""
        return self.protocol_kind is None and self.is_empty and not self.pending

    @property
    def uses_consumer_protocol(self) -> bool:
        return self.protocol_kind == CONSUMER_PROTOCOL

    def member_ids(self) -> Iterable[str]:
        return self.members

    def is_subscribed_to(self, topic: str) -> bool:
        return self.uses_consumer_protocol if self.subscribed is None else topic in self.subscribed

    def tombstones(self) -> list[Entry]:
        return [Entry(GroupMetadataKey(self.group_id), None)]

    def offset_retention_start_ms(self, committed_ms: int) -> int | None:
        if self.protocol_kind is None:
            return committed_ms
        if self.is_empty:
            return committed_ms if self.status_since_ms is None else self.status_since_ms
        if self.uses_consumer_protocol and self.subscribed is not None and isinstance(self.status, Stable):
            return committed_ms
        return None

    # --- checks --------------------------------------------------------------------------------------------

    def check_member(self, member_id: str, instance_id: str | None) -> ClassicMember:
        if instance_id is not None:
            known = self.static_members.get(instance_id)
            if known is None:
                raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
            if known != member_id:
                raise ApiError(ErrorCode.FENCED_INSTANCE_ID)
        member = self.members.get(member_id)
        if member is None:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
        return member

    def check_generation(self, generation: int) -> None:
        if generation != self.generation:
            raise ApiError(ErrorCode.ILLEGAL_GENERATION)

    def check_offset_commit(
        self, member_id: str, instance_id: str | None, epoch: int, *, transactional: bool, version: int
    ) -> None:
        if epoch < 0 and self.is_empty:
            return  # an admin client, or a consumer that assigns partitions to itself
        if epoch >= 0 or member_id or instance_id is not None:
            self.check_member(member_id, instance_id)
            self.check_generation(epoch)
        elif not transactional:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
        if not transactional and isinstance(self.status, CompletingRebalance):
            raise ApiError(ErrorCode.REBALANCE_IN_PROGRESS)

    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Anybody may read."""

    def check_offset_delete(self) -> None:
        if not self.is_empty and not self.uses_consumer_protocol:
            raise ApiError(ErrorCode.NON_EMPTY_GROUP)

    def check_delete(self) -> None:
        if not self.is_empty:
            raise ApiError(ErrorCode.NON_EMPTY_GROUP)

    def supports(self, protocol_kind: str, names: Iterable[str]) -> bool:
        if self.is_empty:
            return bool(protocol_kind) and any(True for _ in names)
        if protocol_kind != self.protocol_kind:
            return False
        return any(self._supporters[name] == len(self.members) for name in names)

    # --- changes -------------------------------------------------------------------------------------------

    def move_to(self, status: State, wall_ms: int) -> None:
        assert may_follow(self.status, status), f"{self.status} cannot become {status}"
        self.status = status
        self.status_since_ms = wall_ms

    def add(self, member: ClassicMember, protocol_kind: str) -> None:
        if not self.members:
            self.protocol_kind = protocol_kind
        if member.instance_id is not None:
            self.static_members[member.instance_id] = member.member_id
        if self.leader_id is None:
            self.leader_id = member.member_id
        self.members[member.member_id] = member
        self._supporters.update(member.protocols.keys())
        self.joining += member.join is not None
        self.pending.discard(member.member_id)

    def remove(self, member: ClassicMember) -> None:
        """Whoever it kept waiting has been answered before; a rebalance follows."""
        del self.members[member.member_id]
        self._supporters.subtract(member.protocols.keys())
        self.joining -= member.join is not None
        if member.instance_id is not None:
            del self.static_members[member.instance_id]
        if self.leader_id == member.member_id:
            self.leader_id = next(iter(self.members), None)

    def rename(self, member: ClassicMember, member_id: str) -> None:
        """A static member came back: it is the same one under another id."""
        assert member.instance_id is not None
        del self.members[member.member_id]
        if self.leader_id == member.member_id:
            self.leader_id = member_id
        unsynced = self.unsynced
        if member.member_id in unsynced:
            unsynced.remove(member.member_id)
            unsynced.add(member_id)
        member.member_id = member_id
        self.members[member_id] = member
        self.static_members[member.instance_id] = member_id

    def update(self, member: ClassicMember, protocols: dict[str, bytes]) -> None:
        self._supporters.subtract(member.protocols.keys())
        member.protocols = protocols
        self._supporters.update(protocols.keys())

    def wait_join(self, member: ClassicMember, ticket: Ticket) -> None:
        assert member.join is None, "its earlier JoinGroup was answered"
        member.join = ticket
        self.joining += 1

    def answer_join(self, member: ClassicMember, response: object, answers: list[Answer]) -> None:
        if member.join is not None:
            answers.append((member.join, response))
            member.join = None
            self.joining -= 1

    def answer_sync(self, member: ClassicMember, response: object, answers: list[Answer]) -> bool:
        if member.sync is None:
            return False
        answers.append((member.sync, response))
        member.sync = None
        return True

    def unloaded(self) -> None:
        for member in self.members.values():
            for ticket in (member.join, member.sync):
                if ticket is not None:
                    ticket.refuse(ErrorCode.NOT_COORDINATOR)
            member.join = member.sync = None
        self.joining = 0

    # --- what the members agree on -------------------------------------------------------------------------

    @property
    def unsynced(self) -> set[str]:
        match self.status:
            case CompletingRebalance(unsynced) | Stable(unsynced):
                return unsynced
        return set()

    def heartbeat_response(self) -> HeartbeatResponse:
        preparing = isinstance(self.status, PreparingRebalance)
        return HeartbeatResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS if preparing else ErrorCode.NONE)

    @property
    def all_joined(self) -> bool:
        return self.joining == len(self.members) and not self.pending

    @property
    def rebalance_timeout_ms(self) -> int:
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    def select_protocol(self) -> str:
        """Each member votes for its favourite among those that all support; the first seen wins a tie."""
        everybody = len(self.members)
        candidates = {name for name, count in self._supporters.items() if count == everybody}
        votes = Counter(member.vote(candidates) for member in self.members.values())
        return max(votes, key=votes.__getitem__)

    def agree(self, protocol_name: str | None) -> None:
        self.protocol_name = protocol_name
        self.subscribed = self._subscribed_topics()

    def metadata_of(self, member: ClassicMember) -> bytes:
        return member.protocols[self.protocol_name] if self.protocol_name is not None else b""

    def assignments(self) -> Mapping[str, bytes]:
        return {member.member_id: member.assignment for member in self.members.values()}

    def _subscribed_topics(self) -> frozenset[str] | None:
        if not self.uses_consumer_protocol:
            return None
        if not self.members:
            return frozenset()
        if self.protocol_name is None:
            return None
        return subscribed_topics(map(self.metadata_of, self.members.values()))
