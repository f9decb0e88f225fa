"""Consumer groups (KIP-848): joining, reconciling, static members, patterns, and what makes no sense."""

from __future__ import annotations

import struct
import time
from typing import Any

from tests.support.answers.dialogue import Dialogue
from tests.support.answers.scenario import momentary
from tests.support.answers.scenarios.groups import ready

from barnabas.protocol import codec
from barnabas.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from barnabas.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)
from barnabas.protocol.messages.consumer_protocol_assignment import (
    ConsumerProtocolAssignment,
    TopicPartition,
)
from barnabas.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from barnabas.protocol.messages.consumer_protocol_subscription import TopicPartition as OwnedPartition
from barnabas.protocol.messages.heartbeat import HeartbeatRequest
from barnabas.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from barnabas.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from barnabas.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from barnabas.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from barnabas.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

ASSIGNMENT_INTERVAL_S = 1.1  # a group is assigned anew at most once a second


class Talk:
    """One group and its one topic `t`."""

    def __init__(self, dialogue: Dialogue, group: str = "g", partitions: int = 4) -> None:
        self.dialogue, self.group = dialogue, dialogue.name(group)
        short = f"t-{group}"
        self.topic = dialogue.topic(short, partitions)
        self.topic_id = dialogue.topic_id(short)
        ready(dialogue, self.group)
        self._wait_until_the_coordinator_knows_the_topic()

    def _wait_until_the_coordinator_knows_the_topic(self) -> None:
        """Apache Kafka's coordinator hears of a new topic a moment after everybody else: until then whoever
        joins is given nothing. Another group may find out, so that this one's epochs begin where they do."""
        probe = f"{self.group}-probe"
        wish: dict[str, Any] = {"subscribed_topic_names": [self.topic], "topic_partitions": []}
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            exchange = self.dialogue.peer.exchange
            join = ConsumerGroupHeartbeatRequest(probe, "m", 0, rebalance_timeout_ms=30_000, **wish)
            answer: Any = exchange(join, 1)
            exchange(ConsumerGroupHeartbeatRequest(probe, "m", -1), 1)
            if answer.assignment is not None and answer.assignment.topic_partitions:
                return
            time.sleep(0.05)

    def heartbeat(self, member_id: str, epoch: int, **fields: Any) -> ConsumerGroupHeartbeatRequest:
        owned = fields.pop("owned", None)
        if "topic_partitions" not in fields:
            rows = None if owned is None else [TopicPartitions(self.topic_id, owned)]
            fields["topic_partitions"] = rows
        return ConsumerGroupHeartbeatRequest(self.group, member_id, epoch, **fields)

    def beat(self, label: str, member_id: str, epoch: int, **fields: Any) -> Any:
        return self.dialogue.ask(label, self.heartbeat(member_id, epoch, **fields), 1)

    def join(self, label: str, member_id: str, **fields: Any) -> Any:
        wish = {"subscribed_topic_names": [self.topic], "topic_partitions": [], **fields}
        return self.beat(label, member_id, 0, rebalance_timeout_ms=30_000, **wish)

    def describe(self, label: str) -> None:
        self.dialogue.ask(label, ConsumerGroupDescribeRequest([self.group]), view=_by_member)


def _by_member(shown: Any) -> Any:
    for group in shown.get("groups", ()):
        if "members" in group:
            group["members"].sort(key=lambda member: member["member_id"])
    return shown


@momentary
def consumer_group_refusals(dialogue: Dialogue) -> None:
    talk = Talk(dialogue)
    ask, beat = dialogue.ask, talk.heartbeat
    ask("nobody", beat("", 0))
    ask("no group", ConsumerGroupHeartbeatRequest("", "m", 0, topic_partitions=None))
    ask("an empty instance", beat("m", 1, instance_id=""))
    ask("an empty rack", beat("m", 1, rack_id=""))
    ask("an assignor that does not exist", beat("m", 1, server_assignor="mine"))
    ask("an epoch that does not exist", beat("m", -3))
    ask("away without an instance", beat("m", -2))
    ask("a group that does not exist", beat("m", 1))
    ask("leave what does not exist", beat("m", -1))
    ask("join without a timeout", beat("m", 0))
    ask("join with partitions", beat("m", 0, rebalance_timeout_ms=1, owned=[0]))
    ask("join without saying what is owned", beat("m", 0, rebalance_timeout_ms=1))
    ask("join without topics", beat("m", 0, rebalance_timeout_ms=1, topic_partitions=[]))
    talk.join("join", "m")
    ask("a stranger", beat("x", 1))
    ask("an epoch that is behind", beat("m", 1))
    ask("an epoch that is ahead", beat("m", 9))
    ask("an instance nobody knows", beat("m", 2, instance_id="i"))
    ask("describe", ConsumerGroupDescribeRequest(["", talk.group, dialogue.name("no")]), view=_sorted)


def _sorted(shown: Any) -> Any:
    shown["groups"].sort(key=lambda group: group.get("group_id", ""))
    return shown


@momentary
def consumer_group_rebalance(dialogue: Dialogue) -> None:
    talk = Talk(dialogue)
    talk.join("the first joins", "one")
    talk.describe("it has everything")
    talk.join("the second joins", "two")
    talk.beat("the first, before the next assignment", "one", 2, owned=[0, 1, 2, 3])
    talk.describe("nothing is assigned yet")
    time.sleep(ASSIGNMENT_INTERVAL_S)
    talk.beat("the second moves on and waits", "two", 2, topic_partitions=[])
    talk.beat("the first is to give up its share", "one", 2, owned=[0, 1, 2, 3])
    talk.beat("it still has it", "one", 2)
    talk.describe("in between")
    talk.beat("it gave it up", "one", 2, owned=[0, 1])
    talk.beat("the second gets it", "two", 3, topic_partitions=[])
    talk.beat("and says so", "two", 3, owned=[2, 3])
    talk.describe("both have their share")
    talk.beat("an answer was lost", "one", 2, owned=[0, 1])
    talk.beat("but not to whom owns more", "one", 2, owned=[0, 1, 2])
    talk.beat("who says everything hears everything", "two", 3, owned=[2, 3], rebalance_timeout_ms=9,
              subscribed_topic_names=[talk.topic])  # fmt: skip
    talk.beat("other topics", "two", 3, subscribed_topic_names=[dialogue.name("none")])
    talk.beat("which it gave up", "two", 3, topic_partitions=[])
    talk.beat("the second leaves", "two", -1)
    time.sleep(ASSIGNMENT_INTERVAL_S)
    talk.beat("the first gets the rest", "one", 3, owned=[0, 1])
    talk.beat("the first leaves", "one", -1)
    talk.describe("nobody is left")


@momentary
def consumer_group_static_members(dialogue: Dialogue) -> None:
    talk = Talk(dialogue)
    talk.join("join", "one", instance_id="i", rack_id="r", server_assignor="range")
    talk.join("its instance is in use", "two", instance_id="i")
    talk.beat("away for now", "one", -2, instance_id="i")
    talk.describe("while it is away")
    talk.join("back under another id", "two", instance_id="i")
    talk.beat("its earlier self", "one", 2, instance_id="i")
    talk.beat("its earlier self without its instance", "one", 2)
    talk.beat("its earlier self leaves", "one", -1, instance_id="i")
    talk.describe("once it is back")
    talk.beat("for good", "two", -1, instance_id="i")


@momentary
def consumer_group_patterns(dialogue: Dialogue) -> None:
    talk = Talk(dialogue)
    for pattern in ("(", "[a", "a**", "*", "a\\", "(?=a)", "a)", "a{1001}", "[z-a]", "\\y", "(?P<n"):
        talk.beat(
            f"not a pattern: {pattern}",
            "m",
            0,
            rebalance_timeout_ms=1,
            subscribed_topic_regex=pattern,
            topic_partitions=[],
        )
    talk.join("join", "one", subscribed_topic_names=None, subscribed_topic_regex=dialogue.name("t-.*"))
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        answer: Any = dialogue.peer.exchange(talk.heartbeat("one", 1), 1)
        if answer.member_epoch == 2:
            break
        time.sleep(0.05)
    talk.describe("the pattern is resolved")
    talk.beat("no pattern any more", "one", 2, subscribed_topic_regex="", owned=[0, 1, 2, 3])
    talk.beat("which it gave up", "one", 2, topic_partitions=[])


@momentary
def consumer_group_offsets(dialogue: Dialogue) -> None:
    talk = Talk(dialogue)
    talk.join("join", "one")

    def commit(member_id: str, epoch: int) -> OffsetCommitRequest:
        rows = [OffsetCommitRequestPartition(0, 5)]
        return OffsetCommitRequest(
            talk.group,
            epoch,
            member_id,
            topics=[OffsetCommitRequestTopic(name=talk.topic, topic_id=talk.topic_id, partitions=rows)],
        )

    def fetch(member_id: str | None, epoch: int) -> OffsetFetchRequest:
        return OffsetFetchRequest(groups=[OffsetFetchRequestGroup(talk.group, member_id, epoch, None)])

    ask = dialogue.ask
    ask("commit", commit("one", 2), range(2, 11))
    ask("commit of a stranger", commit("x", 2), range(9, 11))
    ask("commit of nobody", commit("", -1), range(9, 11))
    ask("commit in an epoch that is ahead", commit("one", 3), range(9, 11))
    ask("commit in an epoch that is behind", commit("one", 1), range(9, 11))
    ask("fetch", fetch("one", 2), (9, 10))
    ask("fetch by anybody", fetch(None, -1), (8, 9, 10))
    ask("fetch in an epoch that is ahead", fetch("one", 3), (9, 10))
    ask("fetch in an epoch that is behind", fetch("one", 1), (9, 10))
    ask("fetch by a stranger", fetch("x", 2), (9, 10))
    talk.join("join again", "two")
    time.sleep(ASSIGNMENT_INTERVAL_S)
    talk.beat("a new epoch", "one", 2, owned=[0, 1])
    ask("commit what is owned since before", commit("one", 2), range(9, 11))
    talk.beat("leave", "one", -1)
    talk.beat("leave, too", "two", -1)
    ask("commit to what is empty", commit("", -1), range(2, 11))


class Classic:
    """A member that speaks the classic protocol."""

    def __init__(self, talk: Talk, instance_id: str | None = None) -> None:
        self.talk, self.instance_id = talk, instance_id
        self.member_id, self.generation = "", -1

    def join(self, label: str, *owned: int) -> None:
        talk = self.talk
        rows = [OwnedPartition(talk.topic, list(owned))] if owned else []
        wish = ConsumerProtocolSubscription([talk.topic], None, rows, self.generation, None)
        metadata = struct.pack(">h", 3) + codec.encode(wish, 3)
        request = JoinGroupRequest(
            talk.group,
            10_000,
            30_000,
            self.member_id,
            self.instance_id,
            "consumer",
            [JoinGroupRequestProtocol("range", metadata)],
        )
        answer = talk.dialogue.ask(label, request, 9, _without_members)
        self.member_id, self.generation = answer.member_id, answer.generation_id

    def sync(self, label: str, *partitions: int, user_data: bytes = b"") -> None:
        talk = self.talk
        given = ConsumerProtocolAssignment([TopicPartition(talk.topic, list(partitions))], user_data)
        row = SyncGroupRequestAssignment(self.member_id, struct.pack(">h", 3) + codec.encode(given, 3))
        talk.dialogue.ask(
            label,
            SyncGroupRequest(
                talk.group, self.generation, self.member_id, self.instance_id, "consumer", "range", [row]
            ),
            5,
            self._readable,
        )

    def _readable(self, shown: Any) -> Any:
        """The topic's name differs from run to run."""
        if "assignment" in shown:
            name = self.talk.topic.encode()
            shown["assignment"] = shown["assignment"].replace(name.hex(), b"t".hex())
        return shown

    def beat(self, label: str) -> None:
        self.talk.dialogue.ask(
            label, HeartbeatRequest(self.talk.group, self.generation, self.member_id, self.instance_id), 4
        )

    def leave(self, label: str) -> None:
        who = MemberIdentity(self.member_id, self.instance_id)
        self.talk.dialogue.ask(label, LeaveGroupRequest(self.talk.group, [who]), 5, _without_members)


def _without_members(shown: Any) -> Any:
    """Ids are random."""
    return {key: value for key, value in shown.items() if key not in ("member_id", "leader", "members")}


@momentary
def consumer_group_migrations(dialogue: Dialogue) -> None:
    talk = Talk(dialogue)
    old = Classic(talk)
    old.join("a classic member needs an id")
    old.join("and joins")
    old.sync("it has everything", 0, 1, 2, 3)
    talk.join("one with the new protocol joins", "new")
    old.beat("the classic member must come again")
    old.sync("it gets no assignment now")
    old.join("it comes", 0, 1, 2, 3)
    old.sync("it is to give up its share")
    old.beat("and must come again")
    old.join("it gave it up", 0, 1)
    old.sync("it keeps the rest")
    old.beat("all is well")
    talk.beat("the new one gets its share", "new", 2, topic_partitions=[])
    talk.beat("and says so", "new", 2, owned=[2, 3])
    talk.beat("the new one leaves", "new", -1)
    talk.dialogue.ask("no consumer group any more", ConsumerGroupDescribeRequest([talk.group]))
    old.beat("the classic member must come again, as ever")
    old.join("it comes as ever", 0, 1)
    old.sync("it has everything again", 0, 1, 2, 3)
    old.leave("it leaves")
    talk.join("an empty classic group gives way", "new")
    talk.beat("and is left", "new", -1)
    other = Classic(talk)
    other.join("an empty consumer group gives way, too")
    other.join("it joins")
    other.sync("with a custom assignor", 0, 1, user_data=b"own")
    talk.join("such a group stays classic", "new")
    other.leave("the end")


@momentary
def consumer_group_migration_of_an_instance(dialogue: Dialogue) -> None:
    talk = Talk(dialogue)
    old = Classic(talk, "i")
    old.join("a classic instance joins")
    old.sync("it has everything", 0, 1, 2, 3)
    talk.join("it is back with the new protocol", "new", instance_id="i")
    old.beat("its earlier self")
    back = Classic(talk, "i")
    back.join("it is back with the classic protocol")
    back.sync("it has everything, still")
    back.beat("all is well")
    back.leave("it leaves")
