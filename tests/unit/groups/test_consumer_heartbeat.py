"""ConsumerGroupHeartbeat: the steps were compared with an Apache Kafka 4.3.1 broker."""

from __future__ import annotations

import pytest
from tests.support.consumer_group import CALLER, Consumer, Scene, rows, settle, topic_id

from barnabas.model.errors import ErrorCode
from barnabas.model.image import ConfigKind, ConfigResource
from barnabas.protocol.internal import groups as stored
from barnabas.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest


def test_the_first_member_gets_everything_at_once() -> None:
    scene = Scene(t=3)
    one = Consumer(scene, "one", "t")
    assert (one.epoch, one.partitions) == (2, [("t", 0), ("t", 1), ("t", 2)])
    assert one.answer.heartbeat_interval_ms == 5_000
    assert scene.group.state == "Stable"


def test_the_records_of_a_first_join_are_kafkas() -> None:
    scene = Scene(t=1)
    Consumer(scene, "one", "t")
    assert [type(entry.key) for entry in scene.written()] == [
        stored.ConsumerGroupMemberMetadataKey,
        stored.ConsumerGroupMetadataKey,
        stored.ConsumerGroupTargetAssignmentMemberKey,
        stored.ConsumerGroupTargetAssignmentMetadataKey,
        stored.ConsumerGroupCurrentMemberAssignmentKey,
    ]
    member, _, target, epoch, current = (entry.value for entry in scene.written())
    assert member == stored.ConsumerGroupMemberMetadataValue(
        client_id="client",
        client_host="/127.0.0.1",
        subscribed_topic_names=["t"],
        subscribed_topic_regex="",
        rebalance_timeout_ms=30_000,
    )
    assert target == stored.ConsumerGroupTargetAssignmentMemberValue(
        [stored.TargetPartitions(topic_id("t"), [0])]
    )
    assert epoch == stored.ConsumerGroupTargetAssignmentMetadataValue(2, scene.host.wall_ms)
    assert current == stored.ConsumerGroupCurrentMemberAssignmentValue(
        2, 0, 0, [stored.CurrentPartitions(topic_id("t"), [0], [2])]
    )


def test_a_second_member_waits_until_the_first_has_given_up_its_share() -> None:
    scene = Scene(t=3)
    one, two = Consumer(scene, "one", "t"), Consumer(scene, "two", "t")
    assert (two.epoch, two.partitions) == (2, []), "a new assignment is due only after the interval"
    scene.host.pass_ms(1_000)
    two.beat()
    assert (two.epoch, two.partitions, scene.group.state) == (3, [], "Reconciling")
    kept = one.beat()
    assert one.epoch == 2, "it moves on once it has said that it gave something up"
    assert kept.assignment is not None
    two.beat()
    assert two.partitions == []
    one.beat()
    assert (one.epoch, len(one.partitions)) == (3, 2)
    two.beat()
    assert len(two.partitions) == 1
    assert sorted(one.partitions + two.partitions) == [("t", 0), ("t", 1), ("t", 2)]
    assert scene.group.state == "Stable"


def test_a_quiet_heartbeat_writes_nothing_and_says_nothing_new() -> None:
    scene = Scene(t=3)
    one = Consumer(scene, "one", "t")
    before = len(scene.host.log)
    answer = one.beat_silently()
    assert (answer.assignment, answer.member_epoch, len(scene.host.log)) == (None, 2, before)


def test_who_says_everything_is_told_everything() -> None:
    scene = Scene(t=1)
    one = Consumer(scene, "one", "t")
    answer = one.beat(rebalance_timeout_ms=30_000, subscribed_topic_names=["t"])
    assert answer.assignment is not None


def test_eight_consumers_on_six_partitions_leave_two_idle() -> None:
    scene = Scene(t=6)
    consumers = [Consumer(scene, f"member-{number}", "t") for number in range(8)]
    settle(scene, *consumers)
    assert sorted(len(consumer.partitions) for consumer in consumers) == [0, 0, 1, 1, 1, 1, 1, 1]
    owned = [partition for consumer in consumers for partition in consumer.partitions]
    assert sorted(owned) == [("t", number) for number in range(6)]


def test_a_polite_member_frees_its_partitions_at_once() -> None:
    scene = Scene(t=4)
    one, two = Consumer(scene, "one", "t"), Consumer(scene, "two", "t")
    settle(scene, one, two)
    answer = two.leave()
    assert (answer.error_code, answer.member_id, answer.member_epoch) == (0, "two", -1)
    scene.host.pass_ms(1_000)
    one.beat()
    assert len(one.partitions) == 4
    epoch = scene.group.epoch
    for _ in range(12):
        scene.host.pass_ms(5_000)
        one.beat()
    assert scene.group.epoch == epoch, "its session's clock finds nobody"


def test_a_member_whose_leaving_could_not_be_written_is_out_after_its_session() -> None:
    scene = Scene(t=4)
    one, two = Consumer(scene, "one", "t"), Consumer(scene, "two", "t")
    settle(scene, one, two)
    scene.host.refuse_next = ErrorCode.COORDINATOR_NOT_AVAILABLE
    request = ConsumerGroupHeartbeatRequest("g", "two", -1)
    ticket = scene.host.ask(lambda each: scene.shard.consumer_group_heartbeat(request, CALLER, each))
    assert ticket.code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert "two" in scene.group.members
    for _ in range(10):
        scene.host.pass_ms(5_000)
        one.beat()
    assert len(one.partitions) == 4


def test_a_silent_member_is_out_after_its_session() -> None:
    scene = Scene(t=4)
    one, two = Consumer(scene, "one", "t"), Consumer(scene, "two", "t")
    settle(scene, one, two)
    for _ in range(9):
        scene.host.pass_ms(5_000)
        one.beat()
    assert list(scene.group.members) == ["one"]
    scene.host.pass_ms(5_000)
    one.beat()
    assert len(one.partitions) == 4
    assert two.beat().error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_member_that_does_not_give_up_in_time_is_out() -> None:
    scene = Scene(t=2)
    one = Consumer(scene, "one", "t", rebalance_timeout_ms=7_000)
    two = Consumer(scene, "two", "t")
    scene.host.pass_ms(1_000)
    two.beat()
    one.beat_silently()
    for _ in range(7):
        scene.host.pass_ms(1_000)
        one.beat_silently()
    assert list(scene.group.members) == ["two"]


def test_an_answer_that_was_lost_does_no_harm() -> None:
    scene = Scene(t=2)
    one = Consumer(scene, "one", "t")
    two = Consumer(scene, "two", "t")
    settle(scene, one, two)
    two.leave()
    scene.host.pass_ms(1_000)
    behind = one.epoch
    scene.heartbeat("one", behind, topic_partitions=rows(one.owned))  # nobody hears the answer
    again = scene.heartbeat("one", behind, topic_partitions=rows(one.owned))
    assert (again.error_code, again.member_epoch) == (0, behind + 1)
    fenced = scene.heartbeat("one", behind, topic_partitions=rows({topic_id("t"): [0, 1, 7]}))
    assert fenced.error_code == ErrorCode.FENCED_MEMBER_EPOCH


@pytest.mark.parametrize(("epoch", "word"), [(1, "smaller"), (9, "greater")])
def test_another_epoch_is_fenced(epoch: int, word: str) -> None:
    scene = Scene(t=1)
    Consumer(scene, "one", "t")
    answer = scene.heartbeat("one", epoch)
    assert answer.error_code == ErrorCode.FENCED_MEMBER_EPOCH
    assert answer.error_message == (
        f"The consumer group member has a {word} member epoch ({epoch}) than the one known by the group "
        "coordinator (2). The member must abandon all its partitions and rejoin."
    )


def test_the_broker_names_the_member_in_version_0_only() -> None:
    scene = Scene(t=1)
    join = {"rebalance_timeout_ms": 1_000, "subscribed_topic_names": ["t"], "topic_partitions": []}
    assert scene.heartbeat("", 0, **join).error_message == "MemberId can't be empty."
    named = scene.heartbeat("", 0, version=0, **join).member_id
    assert named is not None
    assert len(named) == 22


@pytest.mark.parametrize(
    ("member_id", "epoch", "fields", "code", "sentence"),
    [
        ("", -1, {}, 42, "MemberId can't be empty."),
        ("m", 1, {"instance_id": ""}, 42, "InstanceId can't be empty."),
        ("m", 1, {"rack_id": ""}, 42, "RackId can't be empty."),
        ("m", -2, {}, 42, "InstanceId can't be null."),
        ("m", -3, {}, 42, "MemberEpoch is invalid."),
        ("m", 0, {"topic_partitions": []}, 42, "RebalanceTimeoutMs must be provided in first request."),
        ("m", 0, {"rebalance_timeout_ms": 1}, 42, "TopicPartitions must be empty when (re-)joining."),
        (
            "m",
            0,
            {"rebalance_timeout_ms": 1, "topic_partitions": []},
            42,
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.",
        ),
        (
            "m",
            1,
            {"server_assignor": "zz"},
            112,
            "ServerAssignor zz is not supported. Supported assignors: uniform, range.",
        ),
        ("m", 1, {}, 69, "Consumer group g not found."),
        ("m", -1, {}, 69, "Group g not found."),
    ],
)
def test_what_makes_no_sense_is_refused_in_kafkas_words(
    member_id: str, epoch: int, fields: dict[str, object], code: int, sentence: str
) -> None:
    scene = Scene(t=1)
    answer = scene.heartbeat(member_id, epoch, **fields)
    assert (answer.error_code, answer.error_message) == (code, sentence)
    assert not scene.host.log


def test_a_full_group_takes_nobody_in_and_lets_its_members_be() -> None:
    scene = Scene({"group.consumer.max.size": "1"}, t=1)
    one = Consumer(scene, "one", "t")
    refused = Consumer(scene, "two", "t").answer
    assert refused.error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert refused.error_message == "The consumer group has reached its maximum capacity of 1 members."
    assert one.beat().error_code == 0


def test_a_topic_that_is_no_longer_wanted_is_taken_away_before_the_next_assignment() -> None:
    scene = Scene(t=1, u=1)
    one = Consumer(scene, "one", "t", "u")
    one.beat_silently(subscribed_topic_names=["t"])
    assert one.partitions == [("t", 0)]
    assert one.epoch == 2
    settle(scene, one)
    assert (one.epoch, one.partitions) == (3, [("t", 0)])


def test_a_topic_that_comes_grows_or_goes_makes_a_new_epoch() -> None:
    scene = Scene(t=1)
    one = Consumer(scene, "one", "t", "u")
    for topics, owned in (
        ({"t": 2}, [("t", 0), ("t", 1)]),
        ({"t": 2, "u": 1}, [("t", 0), ("t", 1), ("u", 0)]),
        ({"u": 1}, [("u", 0)]),
    ):
        before = one.epoch
        scene.change_topics(**topics)
        scene.host.pass_ms(1_000)
        settle(scene, one)
        assert (one.epoch, one.partitions) == (before + 1, owned)


def test_a_topic_nobody_wants_changes_nothing() -> None:
    scene = Scene(t=1)
    one = Consumer(scene, "one", "t")
    scene.change_topics(t=1, other=3)
    settle(scene, one)
    assert one.epoch == 2


def test_most_members_decide_which_assignor_is_used() -> None:
    scene = Scene(t=4, u=4)
    one = Consumer(scene, "a", "t", "u", server_assignor="range")
    two = Consumer(scene, "b", "t", "u", server_assignor="range")
    settle(scene, one, two)
    assert one.partitions == [("t", 0), ("t", 1), ("u", 0), ("u", 1)]


def test_after_a_restart_the_group_is_what_it_was_and_its_members_go_on() -> None:
    scene = Scene(t=4)
    one, two = Consumer(scene, "one", "t"), Consumer(scene, "two", "t")
    settle(scene, one, two)
    before = scene.group.members
    owned = one.partitions
    scene.restart()
    assert scene.group.members == before
    log = len(scene.host.log)
    assert one.beat().error_code == 0
    assert (one.partitions, len(scene.host.log)) == (owned, log)
    scene.host.pass_ms(50_000)
    assert not scene.group.members, "sessions are watched again"


def test_a_group_has_its_own_intervals_within_the_brokers_bounds() -> None:
    scene = Scene(t=1)
    own = {"consumer.heartbeat.interval.ms": "9000", "consumer.session.timeout.ms": "999999"}
    object.__setattr__(scene.host.image, "configs", {ConfigResource(ConfigKind.GROUP, "g"): own})
    one = Consumer(scene, "one", "t")
    assert one.answer.heartbeat_interval_ms == 9_000
    scene.host.pass_ms(59_000)
    assert scene.group.members
    scene.host.pass_ms(2_000)
    assert not scene.group.members


def test_when_the_records_cannot_be_written_nothing_has_changed() -> None:
    scene = Scene(t=1)
    scene.host.refuse_next = ErrorCode.COORDINATOR_NOT_AVAILABLE
    request = ConsumerGroupHeartbeatRequest("g", "one", 0, None, None, 1_000, ["t"], None, None, [])
    ticket = scene.host.ask(lambda each: scene.shard.consumer_group_heartbeat(request, CALLER, each))
    assert ticket.code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert "g" not in scene.shard.groups
    scene.host.pass_ms(60_000)
    assert Consumer(scene, "one", "t").partitions == [("t", 0)]
