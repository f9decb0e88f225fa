"""A consumer of the classic protocol against a shard in memory, one step at a time. When it leads it gives
everybody a fair share."""

from __future__ import annotations

import struct
from typing import Any

from tests.support.consumer_group import CALLER, GROUP, Scene
from tests.support.coordination import FakeTicket

from barnabas.model.errors import ErrorCode
from barnabas.protocol import codec
from barnabas.protocol.messages.consumer_protocol_assignment import (
    ConsumerProtocolAssignment,
    TopicPartition,
)
from barnabas.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from barnabas.protocol.messages.consumer_protocol_subscription import TopicPartition as OwnedPartition
from barnabas.protocol.messages.heartbeat import HeartbeatRequest
from barnabas.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from barnabas.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from barnabas.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

_VERSION = struct.pack(">h", 3)


class ClassicConsumer:
    """Eager: it gives up everything before it rejoins. Otherwise it keeps what it may."""

    def __init__(self, scene: Scene, *, eager: bool = False) -> None:
        self.scene, self.eager = scene, eager
        self.member_id, self.generation, self.owned = "", -1, list[int]()
        self._waiting: tuple[str, FakeTicket] | None = None
        self.is_stable = False

    @property
    def partitions(self) -> list[tuple[str, int]]:
        return [("t", each) for each in self.owned]

    def step(self) -> None:
        """Sends what is due next, and takes in whatever was answered, until it has to wait or is content."""
        for _ in range(12):
            if self._waiting is not None:
                kind, ticket = self._waiting
                if not ticket.done:
                    return
                self._waiting = None
                self._answered(kind, ticket)
            elif not self.is_stable:
                self._join()
            else:
                self._beat()
                if self.is_stable:
                    return

    def leave(self) -> None:
        request = LeaveGroupRequest(GROUP, members=[MemberIdentity(self.member_id)])
        self.scene.host.ask(lambda each: self.scene.shard.leave_group(request, each))

    # --- requests ------------------------------------------------------------------------------------------

    def _join(self) -> None:
        if self.eager:
            self.owned = []
        owned = [OwnedPartition("t", self.owned)] if self.owned else []
        wish = ConsumerProtocolSubscription(["t"], None, owned, self.generation, None)
        protocols = [JoinGroupRequestProtocol("range", _VERSION + codec.encode(wish, 3))]
        request = JoinGroupRequest(GROUP, 10_000, 30_000, self.member_id, None, "consumer", protocols)
        caller = CALLER._replace(version=9)
        ticket = self.scene.host.ask(lambda each: self.scene.shard.join_group(request, caller, each))
        self._waiting = ("join", ticket)

    def _sync(self, rows: list[SyncGroupRequestAssignment]) -> None:
        request = SyncGroupRequest(GROUP, self.generation, self.member_id, None, "consumer", "range", rows)
        self._waiting = (
            "sync",
            self.scene.host.ask(lambda each: self.scene.shard.sync_group(request, each)),
        )

    def _beat(self) -> None:
        request = HeartbeatRequest(GROUP, self.generation, self.member_id)
        ticket = self.scene.host.ask(lambda each: self.scene.shard.heartbeat(request, each))
        self._check(_code(ticket))

    # --- answers -------------------------------------------------------------------------------------------

    def _answered(self, kind: str, ticket: FakeTicket) -> None:
        if kind == "join" and _code(ticket) is ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = ticket.response.member_id
        elif not self._check(_code(ticket)):
            return
        elif kind == "join":
            self._joined(ticket.response)
        else:
            self._assigned(ticket.response.assignment)

    def _check(self, code: ErrorCode) -> bool:
        if code is ErrorCode.NONE:
            return True
        self.is_stable = False
        if code is not ErrorCode.REBALANCE_IN_PROGRESS:
            self.member_id, self.generation, self.owned = "", -1, []
        return False

    def _joined(self, response: Any) -> None:
        self.member_id, self.generation = response.member_id, response.generation_id
        members = [row.member_id for row in response.members]
        count = len(self.scene.host.image.topics["t"].partitions) if members else 0
        rows = [
            SyncGroupRequestAssignment(member_id, _assignment(list(range(number, count, len(members)))))
            for number, member_id in enumerate(members)
        ]
        self._sync(rows if response.leader == self.member_id else [])

    def _assigned(self, assignment: bytes) -> None:
        read = codec.decode(ConsumerProtocolAssignment, 3, assignment, 2) if assignment else None
        rows = read.assigned_partitions if read is not None else ()
        given = [each for row in rows for each in row.partitions]
        gave_up = set(self.owned) - set(given)
        self.owned = given
        self.is_stable = not gave_up  # who kept the rest comes again to say that it gave something up


def _code(ticket: FakeTicket) -> ErrorCode:
    if ticket.code is not None:
        return ticket.code
    return ErrorCode(ticket.response.error_code)


def _assignment(partitions: list[int]) -> bytes:
    return _VERSION + codec.encode(ConsumerProtocolAssignment([TopicPartition("t", partitions)]), 3)
