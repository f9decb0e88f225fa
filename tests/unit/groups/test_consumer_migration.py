"""Classic and consumer groups become each other while they are in use: compared with Apache Kafka 4.3.1."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

import pytest
from tests.support.consumer_group import CALLER, GROUP, Consumer, Scene, settle
from tests.support.coordination import FakeTicket

from barnabas.groups.classic.group import ClassicGroup
from barnabas.model.errors import ErrorCode
from barnabas.protocol import codec
from barnabas.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
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

_SETTINGS = {"group.initial.rebalance.delay.ms": "0"}


def _assignment(partitions: Iterable[int], user_data: bytes = b"") -> bytes:
    rows = [TopicPartition("t", list(partitions))]
    return struct.pack(">h", 3) + codec.encode(ConsumerProtocolAssignment(rows, user_data), 3)


class Classic:
    """A client of the classic protocol that assigns everything to itself when it leads."""

    def __init__(self, scene: Scene, instance_id: str | None = None, protocol: str = "range") -> None:
        self.scene, self.instance_id, self.protocol = scene, instance_id, protocol
        self.member_id, self.generation, self.owned = "", -1, list[int]()

    def join(self) -> FakeTicket:
        owned = [OwnedPartition("t", self.owned)] if self.owned else []
        wish = ConsumerProtocolSubscription(["t"], None, owned, self.generation, None)
        metadata = struct.pack(">h", 3) + codec.encode(wish, 3)
        protocols = [JoinGroupRequestProtocol(self.protocol, metadata)]
        request = JoinGroupRequest(
            GROUP, 10_000, 30_000, self.member_id, self.instance_id, "consumer", protocols
        )
        caller = CALLER._replace(version=9)
        ticket = self.scene.host.ask(lambda each: self.scene.shard.join_group(request, caller, each))
        self.scene.host.pass_ms(0)
        if ticket.response is not None:
            self.member_id = ticket.response.member_id or self.member_id
            self.generation = ticket.response.generation_id
        return ticket

    def sync(self, *partitions: int, user_data: bytes = b"") -> FakeTicket:
        rows = [SyncGroupRequestAssignment(self.member_id, _assignment(partitions, user_data))]
        request = SyncGroupRequest(
            GROUP, self.generation, self.member_id, self.instance_id, "consumer", self.protocol, rows
        )
        ticket = self.scene.host.ask(lambda each: self.scene.shard.sync_group(request, each))
        if ticket.response is not None and ticket.response.assignment:
            read = codec.decode(ConsumerProtocolAssignment, 3, ticket.response.assignment, 2)
            self.owned = [each for row in read.assigned_partitions for each in row.partitions]
        return ticket

    def beat(self) -> ErrorCode:
        request = HeartbeatRequest(GROUP, self.generation, self.member_id, self.instance_id)
        ticket = self.scene.host.ask(lambda each: self.scene.shard.heartbeat(request, each))
        return ErrorCode(ticket.response.error_code) if ticket.response is not None else _code(ticket)

    def leave(self) -> Any:
        request = LeaveGroupRequest(GROUP, members=[MemberIdentity(self.member_id, self.instance_id)])
        return self.scene.host.ask(lambda each: self.scene.shard.leave_group(request, each)).response

    def become_stable(self, *partitions: int) -> None:
        if self.join().response.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self.join()
        self.sync(*partitions)


def _code(ticket: FakeTicket) -> ErrorCode:
    assert ticket.code is not None
    return ticket.code


def _kind(scene: Scene) -> tuple[str, str]:
    group = scene.shard.groups[GROUP]
    return group.type.value, group.state


def _mixed(scene: Scene) -> tuple[Classic, Consumer]:
    """Each has half of the four partitions."""
    old = Classic(scene)
    old.become_stable(0, 1, 2, 3)
    new = Consumer(scene, "new", "t")
    old.join()
    old.sync()
    old.join()
    old.sync()
    settle(scene, new)
    return old, new


def test_a_classic_group_is_upgraded_by_the_first_that_speaks_the_new_protocol() -> None:
    scene = Scene(_SETTINGS, t=4)
    old = Classic(scene)
    old.become_stable(0, 1, 2, 3)
    assert _kind(scene) == ("classic", "Stable")
    new = Consumer(scene, "new", "t")
    assert (new.epoch, new.partitions, _kind(scene)) == (2, [], ("consumer", "Reconciling"))
    assert old.beat() is ErrorCode.REBALANCE_IN_PROGRESS
    old.join()
    assert old.generation == 1, "it has to give something up first"
    old.sync()
    assert old.owned == [0, 1]
    old.join()
    assert old.generation == 2
    assert old.sync().response.error_code == ErrorCode.NONE
    assert old.beat() is ErrorCode.NONE
    new.beat()
    assert new.partitions == [("t", 2), ("t", 3)]
    assert _kind(scene) == ("consumer", "Stable")


def test_when_the_last_new_member_leaves_the_group_is_classic_again() -> None:
    scene = Scene(_SETTINGS, t=4)
    old, new = _mixed(scene)
    new.leave()
    assert _kind(scene) == ("classic", "PreparingRebalance")
    assert old.beat() is ErrorCode.REBALANCE_IN_PROGRESS
    old.join()
    assert old.generation == 3
    old.sync(0, 1, 2, 3)
    assert _kind(scene) == ("classic", "Stable")


def test_a_downgrade_survives_a_restart() -> None:
    scene = Scene(_SETTINGS, t=4)
    old, new = _mixed(scene)
    new.leave()
    scene.restart()
    assert _kind(scene) == ("classic", "PreparingRebalance")
    assert old.beat() is ErrorCode.ILLEGAL_GENERATION, "it comes again: what the other had is nobody's"
    old.join()
    old.sync(0, 1, 2, 3)
    assert old.owned == [0, 1, 2, 3]


def test_a_static_member_that_comes_back_after_a_downgrade_and_a_restart_gets_what_the_other_had() -> None:
    scene = Scene(_SETTINGS, t=4)
    new = Consumer(scene, "new", "t")
    Classic(scene, "i1").join()  # everything is still with the other
    new.leave()
    scene.restart()
    back = Classic(scene, "i1")
    back.join()
    back.sync(0, 1, 2, 3)
    assert back.owned == [0, 1, 2, 3]


def test_a_mixed_group_survives_a_restart() -> None:
    scene = Scene(_SETTINGS, t=4)
    old, new = _mixed(scene)
    scene.restart()
    assert _kind(scene) == ("consumer", "Stable")
    assert old.beat() is ErrorCode.NONE
    assert new.beat().error_code == 0


def test_a_downgrade_that_cannot_be_written_is_taken_back() -> None:
    scene = Scene(_SETTINGS, t=4)
    old, new = _mixed(scene)
    before = scene.group
    scene.host.refuse_next = ErrorCode.COORDINATOR_NOT_AVAILABLE
    ticket = FakeTicket()
    outcome = scene.shard.consumer_group_heartbeat(_leaving("new"), CALLER, ticket)
    scene.host.apply(outcome)
    assert ticket.code is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert scene.group is before
    assert old.beat() is ErrorCode.NONE
    assert new.beat().error_code == 0


def _leaving(member_id: str) -> Any:
    return ConsumerGroupHeartbeatRequest(GROUP, member_id, -1, topic_partitions=None)


def test_a_silent_new_member_leads_back_to_a_classic_group_too() -> None:
    scene = Scene(_SETTINGS, t=4)
    old, _ = _mixed(scene)
    for _ in range(10):
        scene.host.pass_ms(5_000)
        old.beat()
    assert _kind(scene)[0] == "classic"


@pytest.mark.parametrize(
    ("policy", "upgrades", "downgrades"),
    [
        ("bidirectional", True, True),
        ("UPGRADE", True, False),
        ("downgrade", False, True),
        ("disabled", False, False),
    ],
)
def test_the_policy_decides_which_way_a_group_may_go(policy: str, upgrades: bool, downgrades: bool) -> None:
    scene = Scene({**_SETTINGS, "group.consumer.migration.policy": policy}, t=4)
    old = Classic(scene)
    old.become_stable(0, 1, 2, 3)
    new = Consumer(scene, "new", "t")
    assert (new.answer.error_code == 0) is upgrades
    if not upgrades:
        assert new.answer.error_message == (
            "Cannot upgrade classic group g to consumer group because online upgrade is disabled."
        )
        return
    new.leave()
    assert (_kind(scene)[0] == "classic") is downgrades


def test_what_a_custom_assignor_gave_to_its_members_would_be_lost_so_the_group_stays_classic() -> None:
    scene = Scene(_SETTINGS, t=4)
    old = Classic(scene)
    old.join()
    old.join()
    old.sync(0, 1, user_data=b"own data")
    refused = Consumer(scene, "new", "t").answer
    assert refused.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert refused.error_message == (
        "Cannot upgrade classic group g to consumer group because an unsupported custom assignor is in use. "
        "Please refer to the documentation or switch to a default assignor before re-attempting the upgrade."
    )
    assert old.beat() is ErrorCode.NONE


def test_whoever_waits_in_a_classic_rebalance_is_told_to_come_again() -> None:
    scene = Scene({"group.initial.rebalance.delay.ms": "3000"}, t=4)
    old = Classic(scene)
    old.join()
    waiting = old.join()
    assert not waiting.done
    Consumer(scene, "new", "t")
    assert waiting.response.error_code == ErrorCode.REBALANCE_IN_PROGRESS
    scene.host.pass_ms(3_000)
    assert old.join().response.error_code == ErrorCode.NONE


def test_an_upgrade_that_is_refused_keeps_nobody_from_waiting_on() -> None:
    scene = Scene({"group.initial.rebalance.delay.ms": "3000"}, t=4)
    old = Classic(scene)
    old.join()
    waiting = old.join()
    refused = Consumer(scene, "new", subscribed_topic_regex="(").answer
    assert refused.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION
    assert not waiting.done
    scene.host.pass_ms(3_000)
    assert waiting.response.error_code == ErrorCode.NONE


def test_an_empty_group_of_one_kind_gives_way_to_the_other() -> None:
    scene = Scene(_SETTINGS, t=4)
    old = Classic(scene)
    old.become_stable(0, 1, 2, 3)
    old.leave()
    new = Consumer(scene, "new", "t")
    assert (_kind(scene), len(new.partitions)) == (("consumer", "Stable"), 4)
    new.leave()
    assert _kind(scene) == ("consumer", "Empty")
    again = Classic(scene)
    again.become_stable(0, 1, 2, 3)
    assert _kind(scene) == ("classic", "Stable")
    scene.restart()
    assert _kind(scene) == ("classic", "Stable")
    assert isinstance(scene.shard.groups[GROUP], ClassicGroup)


def test_a_join_that_is_refused_leaves_the_empty_consumer_group_alone() -> None:
    scene = Scene(_SETTINGS, t=4)
    Consumer(scene, "new", "t").leave()
    stranger = Classic(scene)
    stranger.member_id = "nobody gave me this"
    assert _code(stranger.join()) is ErrorCode.UNKNOWN_MEMBER_ID
    assert _kind(scene) == ("consumer", "Empty")
    scene.host.refuse_next = ErrorCode.COORDINATOR_NOT_AVAILABLE
    Classic(scene).join()
    assert _kind(scene) == ("consumer", "Empty")


def test_a_static_member_changes_its_protocol_and_keeps_what_it_has() -> None:
    scene = Scene(_SETTINGS, t=4)
    old = Classic(scene, "i1")
    old.become_stable(0, 1, 2, 3)
    new = Consumer(scene, "new", "t", instance_id="i1")
    assert (new.epoch, len(new.partitions), _kind(scene)) == (1, 4, ("consumer", "Stable"))
    assert old.beat() is ErrorCode.FENCED_INSTANCE_ID
    back = Classic(scene, "i1")
    back.join()
    assert _kind(scene) == ("classic", "Stable")
    assert back.sync().response.error_code == ErrorCode.NONE
    assert back.owned == [0, 1, 2, 3]
    scene.restart()
    assert _kind(scene) == ("classic", "Stable")


def test_a_group_that_goes_back_in_the_middle_of_a_handover_rebalances() -> None:
    """Nobody would be left who hands the rest over."""
    scene = Scene(_SETTINGS, t=4)
    owner = Consumer(scene, "owner", "t", instance_id="i1")
    assert len(owner.partitions) == 4
    waiting = Classic(scene, "i2")
    waiting.join()  # its half is still with the owner
    back = Classic(scene, "i1")
    back.join()
    assert _kind(scene) == ("classic", "PreparingRebalance")


def test_a_group_that_goes_back_and_forth_in_the_middle_of_a_handover_leaves_no_partition_to_nobody() -> None:
    scene = Scene(_SETTINGS, t=4)
    owner = Consumer(scene, "owner", "t", instance_id="i1")
    scene.host.pass_ms(1_000)
    Classic(scene, "i2").join()  # its half is still with the owner
    owner.beat()
    assert len(owner.partitions) == 2, "the owner is told to give half of them up"
    back = Classic(scene, "i1")
    back.join()
    assert _kind(scene) == ("classic", "PreparingRebalance")
    new = Consumer(scene, "new", "t", instance_id="i2")
    back.join()
    back.sync()
    back.join()
    back.sync()
    settle(scene, new)
    owned = [*back.owned, *(partition for _, partition in new.partitions)]
    assert sorted(owned) == [0, 1, 2, 3]


def test_who_upgrades_a_group_in_the_middle_of_a_rebalance_gets_what_was_to_be_handed_out() -> None:
    scene = Scene(_SETTINGS, t=4)
    staying, leaving = Classic(scene, "i1"), Classic(scene, "i2")
    staying.become_stable(0, 1)
    leaving.join()
    leaving.leave()
    assert _kind(scene) == ("classic", "PreparingRebalance")
    new = Consumer(scene, "new", "t", instance_id="i1")
    settle(scene, new)
    assert len(new.partitions) == 4


def test_a_classic_member_that_does_not_come_when_told_is_out() -> None:
    scene = Scene(_SETTINGS, t=4)
    old = Classic(scene)
    old.become_stable(0, 1, 2, 3)
    new = Consumer(scene, "new", "t")
    for _ in range(7):
        old.beat()
        new.beat()
        scene.host.pass_ms(5_000)
    assert list(scene.group.members) == ["new"]


def test_a_classic_member_that_joins_and_never_syncs_is_out() -> None:
    scene = Scene(_SETTINGS, t=4)
    old, new = _mixed(scene)
    old.join()
    for _ in range(7):
        old.beat()
        new.beat()
        scene.host.pass_ms(5_000)
    assert list(scene.group.members) == ["new"]


def test_a_classic_member_must_know_a_protocol_the_others_know() -> None:
    scene = Scene(_SETTINGS, t=4)
    _mixed(scene)
    stranger = Classic(scene, protocol="mine")
    assert _code(stranger.join()) is ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_an_administrator_sends_away_members_of_either_kind() -> None:
    scene = Scene(_SETTINGS, t=4)
    _mixed(scene)
    request = LeaveGroupRequest(GROUP, members=[MemberIdentity("new"), MemberIdentity("nobody")])
    rows = scene.host.ask(lambda each: scene.shard.leave_group(request, each)).response.members
    assert [row.error_code for row in rows] == [ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID]
    assert _kind(scene)[0] == "classic"
