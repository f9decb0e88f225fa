"""A group shard in memory and the requests that members send to it."""

from __future__ import annotations

import struct
from typing import Any

from tests.support.coordination import FakeShardHost, FakeTicket

from barnabas.groups.group import Caller
from barnabas.groups.shard import GroupShard
from barnabas.protocol import codec
from barnabas.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from barnabas.protocol.messages.heartbeat import HeartbeatRequest
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

SESSION_MS = 10_000
REBALANCE_MS = 60_000
DELAY_MS = 3_000
CALLER = Caller("app", "/127.0.0.1", 9)


def subscription(*topics: str) -> bytes:
    return struct.pack(">h", 0) + codec.encode(ConsumerProtocolSubscription(topics=topics), 0)


class Groups:
    """One shard and its host. Requests name the group "g" unless told otherwise."""

    def __init__(self, **settings: str) -> None:
        names = {name.replace("_", "."): value for name, value in settings.items()}
        self.host = FakeShardHost(names)
        self.shard = GroupShard(self.host)
        self.host.shard = self.shard

    def restart(self) -> None:
        self.shard = GroupShard(self.host)
        self.host.reload(self.shard)

    def join(
        self,
        member_id: str = "",
        *,
        version: int = 9,
        group: str = "g",
        client_id: str = CALLER.client_id,
        **fields: Any,
    ) -> FakeTicket:
        request = JoinGroupRequest(
            **{
                "group_id": group,
                "session_timeout_ms": SESSION_MS,
                "rebalance_timeout_ms": REBALANCE_MS,
                "member_id": member_id,
                "protocol_type": "consumer",
                "protocols": [JoinGroupRequestProtocol("range", subscription("t"))],
                **fields,
            }
        )
        caller = Caller(client_id, CALLER.client_host, version)
        return self.host.ask(lambda ticket: self.shard.join_group(request, caller, ticket))

    def new_member(self, **fields: Any) -> tuple[str, FakeTicket]:
        """Ask for a member id and come back with it."""
        member_id = self.join(**fields).response.member_id
        return member_id, self.join(member_id, **fields)

    def sync(
        self, member_id: str, generation: int, assignments: dict[str, bytes] | None = None, **fields: Any
    ) -> FakeTicket:
        request = SyncGroupRequest(
            **{
                "group_id": "g",
                "generation_id": generation,
                "member_id": member_id,
                "assignments": [
                    SyncGroupRequestAssignment(name, data) for name, data in (assignments or {}).items()
                ],
                **fields,
            }
        )
        return self.host.ask(lambda ticket: self.shard.sync_group(request, ticket))

    def heartbeat(self, member_id: str, generation: int, **fields: Any) -> FakeTicket:
        request = HeartbeatRequest(
            **{"group_id": "g", "generation_id": generation, "member_id": member_id, **fields}
        )
        return self.host.ask(lambda ticket: self.shard.heartbeat(request, ticket))

    def leave(self, *members: MemberIdentity, group: str = "g") -> FakeTicket:
        request = LeaveGroupRequest(group, members)
        return self.host.ask(lambda ticket: self.shard.leave_group(request, ticket))

    def state(self, group: str = "g") -> str:
        return self.shard.groups[group].state

    def stable(self, count: int = 1, **fields: Any) -> list[str]:
        """A group of that many members, assigned. The first is the leader."""
        joins = [self.new_member(**fields) for _ in range(count)]
        self.host.pass_ms(DELAY_MS * (1 if count == 1 else 2))
        members = [member_id for member_id, _ in joins]
        generation = joined(joins[0][1]).generation_id
        self.sync(members[0], generation, {name: name.encode() for name in members})
        for member_id in members[1:]:
            self.sync(member_id, generation)
        assert self.state() == "Stable"
        return members


def joined(ticket: FakeTicket) -> JoinGroupResponse:
    assert isinstance(ticket.response, JoinGroupResponse), ticket.code
    return ticket.response


def synced(ticket: FakeTicket) -> SyncGroupResponse:
    assert isinstance(ticket.response, SyncGroupResponse), ticket.code
    return ticket.response


def left(ticket: FakeTicket) -> LeaveGroupResponse:
    assert isinstance(ticket.response, LeaveGroupResponse), ticket.code
    return ticket.response


def identity(member_id: str, instance_id: str | None = None) -> MemberIdentity:
    return MemberIdentity(member_id, instance_id)
