"""Members of a group, classic and KIP-848, as scripts: they join, read, heartbeat, follow every rebalance."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Generator, Sequence
from typing import Any, Protocol, TypeAlias

from barnabas.model.errors import ErrorCode
from barnabas.protocol import codec
from barnabas.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from barnabas.protocol.messages.consumer_protocol_assignment import ConsumerProtocolAssignment, TopicPartition
from barnabas.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
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
from bench.coordinators.ask import ask, check
from bench.coordinators.reading import read_first_records
from bench.coordinators.script import Pause, Script, Step
from bench.coordinators.topics import Topic

SESSION_TIMEOUT_MS = 45_000
REBALANCE_TIMEOUT_MS = 300_000
_PROTOCOL_TYPE, _ASSIGNOR = "consumer", "range"
_REJOIN = frozenset({ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION})
_LEAVE_EPOCH = -1


class Member(Protocol):
    """What the rows look at: which partitions a member has read a record of since it was assigned them."""

    holds: frozenset[int]
    is_leaving: bool

    def script(self) -> Script: ...


MemberKind: TypeAlias = Callable[[str, Topic, float], Member]
"""Group, topic, seconds between heartbeats where it is the client who decides."""


class ClassicMember:
    """Eager: it gives up everything before it joins again."""

    def __init__(self, group: str, topic: Topic, heartbeat_s: float) -> None:
        self.holds: frozenset[int] = frozenset()
        self.is_leaving = False
        self.member_id = ""
        self.generation = -1
        self.group = group
        self.topic = topic.name
        self._partitions = topic.partitions
        self._heartbeat_s = heartbeat_s
        subscription = ConsumerProtocolSubscription(topics=[topic.name])
        self._metadata = b"\0\0" + codec.encode(subscription, 0)

    def script(self) -> Script:
        while not self.is_leaving:
            self.holds = frozenset()
            assigned = yield from self.join_group()
            if assigned is not None:
                if assigned:
                    yield from read_first_records(self.group, self.topic, assigned)
                self.holds = frozenset(assigned)
                yield from self._heartbeat()
        self.holds = frozenset()
        yield from self.leave_group()

    def join_group(self) -> Generator[Step, Any, Sequence[int] | None]:
        """The assigned partitions, or None when the group has moved on in the meantime."""
        joined = yield from ask(self._join_request(), JoinGroupResponse)
        if joined.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = joined.member_id
            joined = yield from ask(self._join_request(), JoinGroupResponse)
        check(joined.error_code, "JoinGroup")
        self.generation = joined.generation_id
        is_leader = joined.leader == self.member_id
        divided = self._divide(sorted(m.member_id for m in joined.members)) if is_leader else ()
        synced = yield from ask(self._sync_request(divided), SyncGroupResponse)
        if synced.error_code in _REJOIN:
            return None
        check(synced.error_code, "SyncGroup")
        assignment = codec.decode(ConsumerProtocolAssignment, 0, synced.assignment, 2)
        return [partition for each in assignment.assigned_partitions for partition in each.partitions]

    def leave_group(self) -> Generator[Step, Any, None]:
        leaving = LeaveGroupRequest(self.group, [MemberIdentity(self.member_id)])
        answer = yield from ask(leaving, LeaveGroupResponse)
        check(answer.error_code, "LeaveGroup")

    def _join_request(self) -> JoinGroupRequest:
        return JoinGroupRequest(
            self.group,
            SESSION_TIMEOUT_MS,
            REBALANCE_TIMEOUT_MS,
            self.member_id,
            None,
            _PROTOCOL_TYPE,
            [JoinGroupRequestProtocol(_ASSIGNOR, self._metadata)],
        )

    def _sync_request(self, divided: Sequence[SyncGroupRequestAssignment]) -> SyncGroupRequest:
        return SyncGroupRequest(
            self.group, self.generation, self.member_id, None, _PROTOCOL_TYPE, _ASSIGNOR, divided
        )

    def _divide(self, member_ids: list[str]) -> list[SyncGroupRequestAssignment]:
        """In turn, so that nearly every partition moves when the number of members changes."""
        count = len(member_ids)
        return [
            SyncGroupRequestAssignment(member_id, self._assignment(range(first, self._partitions, count)))
            for first, member_id in enumerate(member_ids)
        ]

    def _assignment(self, partitions: range) -> bytes:
        message = ConsumerProtocolAssignment([TopicPartition(self.topic, list(partitions))])
        return b"\0\0" + codec.encode(message, 0)

    def _heartbeat(self) -> Generator[Step, Any, None]:
        """Until the group rebalances or this member is to leave."""
        while True:
            yield Pause(self._heartbeat_s)
            if self.is_leaving:
                return
            beat = HeartbeatRequest(self.group, self.generation, self.member_id)
            answer = yield from ask(beat, HeartbeatResponse)
            if answer.error_code in _REJOIN:
                return
            check(answer.error_code, "Heartbeat")


class ConsumerMember:
    """KIP-848: the coordinator assigns, and the heartbeat's answer says when to beat again."""

    def __init__(self, group: str, topic: Topic) -> None:
        self.holds: frozenset[int] = frozenset()
        self.is_leaving = False
        self._member_id = str(uuid.uuid4())
        self._epoch = 0
        self.group = group
        self.topic = topic.name
        self._topic_id = topic.id

    def script(self) -> Script:
        answer = yield from self._beat(self._first_beat())
        while not self.is_leaving:
            wanted = _partitions_of(answer)
            if wanted is not None and wanted != self.holds:
                yield from self._move_to(wanted)
                owned = [TopicPartitions(self._topic_id, sorted(self.holds))] if self.holds else []
                answer = yield from self._beat(self._next_beat(owned))  # at once, as clients do
                continue
            yield Pause(answer.heartbeat_interval_ms / 1_000)
            if not self.is_leaving:
                answer = yield from self._beat(self._next_beat(None))
        self.holds = frozenset()
        self._epoch = _LEAVE_EPOCH
        yield from self._beat(self._next_beat(None))

    def _move_to(self, wanted: frozenset[int]) -> Generator[Step, Any, None]:
        """Revoked partitions are dropped first; what is new is read before it counts as held."""
        gained = sorted(wanted - self.holds)
        self.holds &= wanted
        if gained:
            yield from read_first_records(self.group, self.topic, gained, self._member_id, self._epoch)
        self.holds = wanted

    def _beat(
        self, beat: ConsumerGroupHeartbeatRequest
    ) -> Generator[Step, Any, ConsumerGroupHeartbeatResponse]:
        answer = yield from ask(beat, ConsumerGroupHeartbeatResponse)
        check(answer.error_code, "ConsumerGroupHeartbeat")
        self._epoch = answer.member_epoch
        return answer

    def _first_beat(self) -> ConsumerGroupHeartbeatRequest:
        return ConsumerGroupHeartbeatRequest(
            self.group,
            self._member_id,
            0,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
            subscribed_topic_names=[self.topic],
            topic_partitions=[],
        )

    def _next_beat(self, owned: list[TopicPartitions] | None) -> ConsumerGroupHeartbeatRequest:
        return ConsumerGroupHeartbeatRequest(self.group, self._member_id, self._epoch, topic_partitions=owned)


def _partitions_of(answer: ConsumerGroupHeartbeatResponse) -> frozenset[int] | None:
    """None: the answer says nothing about the assignment, so nothing changes."""
    if answer.assignment is None:
        return None
    return frozenset(
        partition for each in answer.assignment.topic_partitions for partition in each.partitions
    )


def classic_member(group: str, topic: Topic, heartbeat_s: float) -> Member:
    return ClassicMember(group, topic, heartbeat_s)


def consumer_member(group: str, topic: Topic, heartbeat_s: float) -> Member:
    return ConsumerMember(group, topic)
