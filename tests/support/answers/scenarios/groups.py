"""Classic groups: who may join, sync, beat and leave, and what the wrong ones hear."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tests.support.answers.dialogue import Dialogue
from tests.support.answers.peer import Peer
from tests.support.answers.scenario import with_groups
from tests.support.groups import subscription

from barnabas.protocol.messages.delete_groups import DeleteGroupsRequest
from barnabas.protocol.messages.describe_groups import DescribeGroupsRequest
from barnabas.protocol.messages.find_coordinator import FindCoordinatorRequest
from barnabas.protocol.messages.heartbeat import HeartbeatRequest
from barnabas.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from barnabas.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from barnabas.protocol.messages.list_groups import ListGroupsRequest
from barnabas.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")


def anonymous(shown: Any) -> Any:
    """Member ids end in a random UUID, and Kafka keeps members in the order that chance gives them."""
    if isinstance(shown, dict):
        return {key: _ordered(key, anonymous(value)) for key, value in shown.items()}
    if isinstance(shown, list):
        return [anonymous(item) for item in shown]
    return _UUID.sub("UUID", shown) if isinstance(shown, str) else shown


def _ordered(key: str, value: Any) -> Any:
    return sorted(value, key=repr) if key == "members" else value


def ready(dialogue: Dialogue, *groups: str) -> None:
    """Until their coordinator is there and has loaded."""
    for group in groups:
        while True:
            dialogue.peer.exchange(FindCoordinatorRequest(coordinator_keys=[group]), 4)
            answer: Any = dialogue.peer.exchange(HeartbeatRequest(group, 1, "nobody"), 4)
            if answer.error_code == 25:  # UNKNOWN_MEMBER_ID
                break


def join(group: str, member_id: str = "", **fields: Any) -> JoinGroupRequest:
    wanted: dict[str, Any] = {
        "session_timeout_ms": 6000,
        "rebalance_timeout_ms": 6000,
        "protocol_type": "consumer",
        "protocols": protocols("range"),
        **fields,
    }
    return JoinGroupRequest(group, member_id=member_id, **wanted)


def sync(
    group: str, generation: int, member_id: str, instance_id: str | None = None, **fields: Any
) -> SyncGroupRequest:
    wanted: dict[str, Any] = {"protocol_type": "consumer", "protocol_name": "range", **fields}
    return SyncGroupRequest(group, generation, member_id, instance_id, **wanted)


def protocols(*names: str, topics: Sequence[str] = ("t",)) -> list[JoinGroupRequestProtocol]:
    return [JoinGroupRequestProtocol(name, subscription(*topics)) for name in names]


def _settle(dialogue: Dialogue, group: str, instance_id: str | None = None) -> str:
    """One member, assigned."""
    answer: Any = dialogue.peer.exchange(join(group, group_instance_id=instance_id), 9)
    if instance_id is None:
        answer = dialogue.peer.exchange(join(group, answer.member_id), 9)
    member_id: str = answer.member_id
    mine = [SyncGroupRequestAssignment(member_id, b"mine")]
    dialogue.peer.exchange(sync(group, answer.generation_id, member_id, instance_id, assignments=mine), 5)
    return member_id


@with_groups
def join_group_refused(dialogue: Dialogue) -> None:
    group = dialogue.name("g")
    ready(dialogue, group)
    ask = dialogue.ask
    ask("empty group id", join(""), view=anonymous)
    ask("session too short", join(group, session_timeout_ms=5999), view=anonymous)
    ask("session too long", join(group, session_timeout_ms=1_800_001), view=anonymous)
    ask("a member nobody knows, no group", join(group, "x"), view=anonymous)
    ask("no protocol type", join(group, protocol_type=""), view=anonymous)
    ask("no protocols", join(group, protocols=[]), view=anonymous)
    ask("a new member, member id required", join(group), range(4, 10), view=anonymous)
    ask("a member nobody knows", join(group, "x"), view=anonymous)
    ask("an instance nobody knows", join(group, "x", group_instance_id="i"), range(5, 10), view=anonymous)


@with_groups
def join_group_alone(dialogue: Dialogue) -> None:
    for version in (0, 6, 9):
        group = dialogue.name(f"g{version}")
        ready(dialogue, group)
        member_id = ""
        if version >= 4:
            member_id = dialogue.ask("an id is required", join(group), version, view=anonymous).member_id
        answer = dialogue.ask("join", join(group, member_id), version, view=anonymous)
        member_id, generation = answer.member_id, answer.generation_id
        ask = dialogue.ask
        ask("not the leader's protocol", sync(group, generation, member_id, protocol_name="x"), 5)
        ask("beat while the assignment is due", HeartbeatRequest(group, generation, member_id))
        ask("another type of protocol", join(group, member_id, protocol_type="connect"), view=anonymous)
        ask("a protocol nobody else has", join(group, "", protocols=protocols("other")), view=anonymous)
        ask("join again", join(group, member_id), range(1, 10), view=anonymous)
        ask("sync of another generation", sync(group, generation + 1, member_id))
        ask("sync of a stranger", sync(group, generation, "x"))
        mine = [SyncGroupRequestAssignment(member_id, b"mine"), SyncGroupRequestAssignment("x", b"not mine")]
        ask("sync", sync(group, generation, member_id, assignments=mine))
        ask("beat", HeartbeatRequest(group, generation, member_id))
        ask("beat of another generation", HeartbeatRequest(group, generation - 1, member_id))
        ask("beat of a stranger", HeartbeatRequest(group, generation, "x"))
        ask("beat of an instance nobody knows", HeartbeatRequest(group, generation, member_id, "i"), (3, 4))
        ask("describe", DescribeGroupsRequest([group]), view=anonymous)
        ask("delete", DeleteGroupsRequest([group]))
        ask("a stranger leaves", LeaveGroupRequest(group, [MemberIdentity("x")], "x"))
        ask(
            "leave",
            LeaveGroupRequest(group, [MemberIdentity(member_id)], member_id),
            5 if version > 3 else 0,
            anonymous,
        )
        ask("describe what is empty", DescribeGroupsRequest([group]), view=anonymous)
        ask("beat after leaving", HeartbeatRequest(group, generation, member_id))
        ask("sync after leaving", sync(group, generation, member_id))
        ask("delete what is empty", DeleteGroupsRequest([group]), 2)
        ask("delete what is gone", DeleteGroupsRequest([group]))
        ask("describe what is gone", DescribeGroupsRequest([group]))


@with_groups
def requests_without_a_group(dialogue: Dialogue) -> None:
    group = dialogue.name("g")
    ready(dialogue, group)
    ask = dialogue.ask
    ask("beat, empty id", HeartbeatRequest("", 1, "x"))
    ask("beat", HeartbeatRequest(group, 1, "x"))
    ask("sync, empty id", sync("", 1, "x"))
    ask("sync", sync(group, 1, "x"))
    ask("sync without a protocol", SyncGroupRequest(group, 1, "x", protocol_type="a"), 5)
    ask("sync, empty id and no type", SyncGroupRequest("", 1, "x", protocol_name="b"), 5)
    ask("leave, empty id", LeaveGroupRequest("", [MemberIdentity("x")], "x"))
    ask("leave", LeaveGroupRequest(group, [MemberIdentity("x"), MemberIdentity("y", "i")], "x"))
    ask("leave, nobody", LeaveGroupRequest(group, [], ""))
    ask("describe", DescribeGroupsRequest([group, ""]), view=_sorted)
    ask("describe none", DescribeGroupsRequest([]))
    ask("describe twice", DescribeGroupsRequest([group, group]), 6)
    ask("describe with operations", DescribeGroupsRequest([group], True))
    ask("delete", DeleteGroupsRequest([group, "", group]), view=_sorted)
    ask("delete none", DeleteGroupsRequest([]))


@with_groups
def static_members(dialogue: Dialogue) -> None:
    for version in (5, 9):
        group = dialogue.name(f"g{version}")
        ready(dialogue, group)
        first = _settle(dialogue, group, "i")
        ask = dialogue.ask
        answer = ask("the instance comes back", join(group, group_instance_id="i"), version, view=anonymous)
        ask("its old id joins", join(group, first, group_instance_id="i"), view=anonymous)
        ask("its old id syncs", sync(group, 1, first, "i"), (3, 4, 5))
        ask("its old id beats", HeartbeatRequest(group, 1, first, "i"), (3, 4))
        ask("its old id beats, without its instance", HeartbeatRequest(group, 1, first), (3, 4))
        ask("its old id leaves", LeaveGroupRequest(group, [MemberIdentity(first, "i")]), (3, 4, 5), anonymous)
        ask("its new id syncs", sync(group, 1, answer.member_id, "i"), (3, 4, 5))
        ask("its new id beats", HeartbeatRequest(group, 1, answer.member_id, "i"), (3, 4))
        ask("describe", DescribeGroupsRequest([group], True), (3, 4, 5, 6), anonymous)
        ask(
            "an administrator removes another", LeaveGroupRequest(group, [MemberIdentity("", "j")]), (3, 4, 5)
        )
        ask(
            "an administrator removes it",
            LeaveGroupRequest(group, [MemberIdentity("", "i")]),
            (version + 1) // 2,
        )
        ask("describe what is empty", DescribeGroupsRequest([group]), 6)


@with_groups
def static_members_with_other_wishes(dialogue: Dialogue) -> None:
    ask = dialogue.ask
    for version in (5, 9):
        group = dialogue.name(f"g{version}")
        ready(dialogue, group)
        _settle(dialogue, group, "i")
        other = join(group, group_instance_id="i", protocols=protocols("range", topics=("u",)))
        member_id = ask("other topics", other, version, view=anonymous).member_id
        ask("the assignment stands", sync(group, 1, member_id, "i"), 5)
        wider = join(group, group_instance_id="i", protocols=protocols("range", "other"))
        member_id = ask("one more protocol", wider, version, view=anonymous).member_id
        ask("the assignment still stands", sync(group, 1, member_id, "i"), 5)
        wider.protocols = protocols("other", "range")
        answer = ask("another favourite", wider, version, view=anonymous)
        ask("before the assignment", HeartbeatRequest(group, 2, answer.member_id, "i"), 4)
        answer = ask("back before the assignment", wider, version, view=anonymous)
        ask("its generation", HeartbeatRequest(group, answer.generation_id, answer.member_id, "i"), 4)
        ask("the one before", HeartbeatRequest(group, answer.generation_id - 1, answer.member_id, "i"), 4)
        ask("describe", DescribeGroupsRequest([group]), 6, anonymous)


@with_groups
def a_second_member(dialogue: Dialogue) -> None:
    group = dialogue.name("g")
    ready(dialogue, group)
    first = _settle(dialogue, group)
    ask = dialogue.ask
    second = ask("an id is required", join(group), 9, view=anonymous).member_id
    ask("all is well", HeartbeatRequest(group, 1, first))
    other = Peer(dialogue.peer.port)
    try:
        other.send(join(group, second), 9)
        while True:
            beat: Any = dialogue.peer.exchange(HeartbeatRequest(group, 1, first), 4)
            if beat.error_code:
                break
        ask("a rebalance began", HeartbeatRequest(group, 1, first))
        ask("no assignment now", sync(group, 1, first))
        ask("describe what prepares", DescribeGroupsRequest([group]), view=anonymous)
        ask(
            "list what prepares",
            ListGroupsRequest(["preparingrebalance"]),
            (4, 5),
            lambda shown: _own(dialogue, group, shown),
        )
        leader = ask(
            "the first joins", join(group, first, protocols=protocols("range", "other")), 9, view=anonymous
        )
        dialogue.note("the second joined", _named(other.receive(11, 9)), 9)
        ask("describe what completes", DescribeGroupsRequest([group]), view=anonymous)
        ask("the second beats", HeartbeatRequest(group, 2, second))
        other.send(sync(group, 2, second), 5)
        both = [SyncGroupRequestAssignment(name, b"some") for name in (first, second)]
        ask("the first assigns", sync(group, leader.generation_id, first, assignments=both), 5)
        dialogue.note("the second is assigned", _named(other.receive(14, 5)), 5)
        ask("the leader joins again", sync(group, 2, first), 5)
        ask("the second joins again", join(group, second), 9, view=anonymous)
        ask(
            "both leave",
            LeaveGroupRequest(group, [MemberIdentity(first), MemberIdentity(second)]),
            5,
            anonymous,
        )
        ask("list what is empty", ListGroupsRequest([], []), view=lambda shown: _own(dialogue, group, shown))
        ask(
            "list by state",
            ListGroupsRequest(["Empty"], ["Classic"]),
            5,
            lambda shown: _own(dialogue, group, shown),
        )
        ask(
            "list by another type",
            ListGroupsRequest([], ["consumer"]),
            5,
            lambda shown: _own(dialogue, group, shown),
        )
        ask("list by no type", ListGroupsRequest([], ["x"]), 5, lambda shown: _own(dialogue, group, shown))
        ask("list by no state", ListGroupsRequest(["x"], []), 5, lambda shown: _own(dialogue, group, shown))
    finally:
        other.close()


def _named(answer: Any) -> Any:
    for field in ("member_id", "leader"):
        if hasattr(answer, field):
            setattr(answer, field, _UUID.sub("UUID", getattr(answer, field)))
    return answer


def _own(dialogue: Dialogue, group: str, shown: Any) -> Any:
    """Other groups of the broker are none of ours."""
    short = dialogue.renderer.text(group)
    return [shown["error_code"], [row for row in shown.get("groups", []) if row["group_id"] == short]]


def _sorted(shown: Any) -> Any:
    """Kafka gathers them by coordinator."""
    return {key: sorted(rows, key=lambda row: row.get("group_id", "")) for key, rows in shown.items()}
