"""Who leads, and who is in sync, when brokers come and go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.controller.images import BROKERS, images, rules
from tests.unit.controller.support import NOW_MS, SETTINGS, Cluster, broker, image_of

from barnabas.controller import tree
from barnabas.controller.configs import IncrementalChange, alter_configs
from barnabas.controller.decision import Decision
from barnabas.controller.elections import ElectionRules, settled
from barnabas.controller.liveness import admit, leave, settle, settled_after
from barnabas.controller.topics import Assignment, NewTopic
from barnabas.controller.znodes.topics import decode_state
from barnabas.model.ids import TopicPartition
from barnabas.model.image import (
    NO_LEADER,
    BrokerChanged,
    BrokerGone,
    ClusterImage,
    ConfigKind,
    ConfigResource,
    PartitionChanged,
    PartitionImage,
)
from barnabas.model.settings.alter import Change
from barnabas.ports import BadVersionError, Set

ONE = ElectionRules(1, unclean=False)
TWO = ElectionRules(2, unclean=False)
TWO_UNCLEAN = ElectionRules(2, unclean=True)


def always(one: ElectionRules) -> Callable[[str], ElectionRules]:
    return lambda _topic: one


def state(partition: PartitionImage) -> tuple[int, tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    return partition.leader, partition.isr, partition.elr, partition.last_known_elr


# isr, elr, last known, active brokers, rules → leader, isr, elr, last known
TRANSITIONS = [
    # a follower goes
    ((1, 2, 3), (), (), {1, 2}, TWO, 1, (1, 2), (), ()),
    ((1, 2), (), (), {1, 3}, TWO, 1, (1,), (2,), ()),
    ((1, 2), (), (), {1, 3}, ONE, 1, (1,), (), ()),
    # the leader goes
    ((1, 3, 2), (), (), {2, 3}, TWO, 2, (3, 2), (), ()),
    ((1, 3), (), (), {2, 3}, TWO, 3, (3,), (1,), ()),
    # the last one goes, and may lead as soon as it returns
    ((1,), (), (), {2, 3}, ONE, NO_LEADER, (), (1,), (1,)),
    ((1,), (2,), (), {3}, TWO, NO_LEADER, (), (1, 2), (1,)),
    # somebody who was in sync when the last record was committed is here
    ((1,), (2,), (), {2, 3}, TWO, 2, (2,), (1,), ()),
    ((), (1, 3), (1,), {2, 3}, TWO, 3, (3,), (1,), ()),
    ((), (1, 3), (1,), {2, 3}, ONE, 3, (3,), (), ()),
    # nobody is left who surely has everything
    ((), (), (1,), {1, 2}, TWO, 1, (1,), (), ()),
    ((), (), (1,), {2, 3}, TWO, NO_LEADER, (), (), (1,)),
    ((), (1,), (2,), {2, 3}, TWO, NO_LEADER, (), (1,), (2,)),
    # data loss is accepted
    ((1,), (), (), {2, 3}, TWO_UNCLEAN, 2, (2,), (), ()),
    ((), (1,), (1,), {3}, TWO_UNCLEAN, 3, (3,), (), ()),
    ((), (), (1,), {2, 1}, TWO_UNCLEAN, 1, (1,), (), ()),
    ((1,), (3,), (), {3, 2}, TWO_UNCLEAN, 3, (3,), (1,), ()),
]


@pytest.mark.parametrize(
    (
        "isr",
        "elr",
        "last_known",
        "here",
        "topic_rules",
        "leader",
        "isr_after",
        "elr_after",
        "last_known_after",
    ),
    TRANSITIONS,
)
def test_a_partition_is_led_by_whoever_surely_has_its_records(
    isr: tuple[int, ...],
    elr: tuple[int, ...],
    last_known: tuple[int, ...],
    here: set[int],
    topic_rules: ElectionRules,
    leader: int,
    isr_after: tuple[int, ...],
    elr_after: tuple[int, ...],
    last_known_after: tuple[int, ...],
) -> None:
    image = image_of(*(broker(one) for one in here))
    before = PartitionImage(
        0, (1, 2, 3), isr, 1 if isr else NO_LEADER, 4, 9, elr=elr, last_known_elr=last_known
    )
    after = settled(image, before, topic_rules)
    assert state(after) == (leader, isr_after, elr_after, last_known_after)


def test_epochs_rise_with_what_they_count() -> None:
    before = PartitionImage(0, (1, 2, 3), (1, 2, 3), 1, leader_epoch=4, partition_epoch=9)

    def epochs(*here: int) -> tuple[int, int]:
        after = settled(image_of(*(broker(one) for one in here)), before, ONE)
        return after.leader_epoch, after.partition_epoch

    assert epochs(1, 2, 3) == (4, 9)
    assert epochs(1, 2) == (4, 10)
    assert epochs(2, 3) == (5, 10)
    assert epochs() == (5, 10)


def three_brokers(*replicas: int, isr: tuple[int, ...] | None = None) -> Cluster:
    """One topic with one partition in a store; `isr` is what its state says."""
    cluster = Cluster(2, 3)
    cluster.create(NewTopic("t", assignments=(Assignment(0, replicas or (1, 2, 3)),)))
    if isr is not None:
        found = cluster.image.topics["t"].partitions[0]
        cluster.image = cluster.image.apply([PartitionChanged("t", replace(found, isr=isr))])
    return cluster


def only(image: ClusterImage) -> PartitionImage:
    return image.topics["t"].partitions[0]


def test_a_broker_that_dies_is_replaced_and_leads_no_more() -> None:
    cluster = three_brokers()
    cluster.image = cluster.image.apply([BrokerGone(1)])
    assert cluster.carry_out(settle(cluster.image, always(TWO))) == (TopicPartition("t", 0),)
    assert state(only(cluster.image)) == (2, (2, 3), (), ())
    assert only(cluster.rebuilt()) == only(cluster.image)
    assert settle(cluster.image, always(TWO)) == Decision(())


def test_a_leader_that_restarted_leads_in_a_new_epoch() -> None:
    cluster = three_brokers()
    cluster.carry_out(settle(cluster.image, always(TWO), restarted=[1]))
    assert (only(cluster.image).leader, only(cluster.image).leader_epoch) == (1, 1)
    assert only(cluster.image).isr == (1, 2, 3)
    assert cluster.is_consistent()


def test_a_write_on_another_state_is_refused() -> None:
    cluster = three_brokers()
    late = settle(cluster.image.apply([BrokerGone(1)]), always(TWO))
    cluster.carry_out(settle(cluster.image.apply([BrokerGone(2)]), always(TWO)))
    with pytest.raises(BadVersionError):
        cluster.carry_out(late)


def test_partitions_without_state_are_left_to_those_who_complete_them() -> None:
    cluster = Cluster(2, 3)
    raw = PartitionImage(0, (2, 3), (), NO_LEADER, -1, -1)
    cluster.create(NewTopic("t"))
    cluster.image = cluster.image.apply([PartitionChanged("t", raw)])
    assert settle(cluster.image, always(TWO)) == Decision(())


# --- those who stop in good order ---


def test_a_broker_that_stops_hands_over_what_others_can_lead() -> None:
    image = image_of(replace(broker(1), leaving=True), broker(2), broker(3))
    both = PartitionImage(0, (1, 2, 3), (1, 2), 1)
    alone = PartitionImage(0, (1, 2, 3), (1,), 1, elr=(2,))
    assert state(settled(image, both, TWO)) == (2, (2,), (1,), ())
    # 2 has all that is committed, and not all that 1 has: it may join the set while 1 is still here.
    assert settled(image, alone, TWO) is alone


def test_no_record_is_given_up_while_one_in_sync_is_still_here() -> None:
    image = image_of(replace(broker(2), leaving=True), broker(3))
    before = PartitionImage(0, (1, 2, 3), (1, 2), 1)
    assert state(settled(image, before, TWO_UNCLEAN)) == (NO_LEADER, (2,), (1,), ())


# --- those who did not ---


def returned_uncleanly(cluster: Cluster, broker_id: int) -> None:
    fenced = replace(cluster.image.brokers[broker_id], fenced=True)
    cluster.image = cluster.image.apply([BrokerChanged(fenced)])


@pytest.mark.parametrize(
    ("isr", "topic_rules", "leader", "isr_after", "elr_after"),
    [
        ((1, 2, 3), TWO, 2, (2, 3), ()),
        ((1, 2), TWO, 2, (2,), ()),
        ((1,), ONE, 1, (1,), ()),
        ((1,), TWO, 1, (1,), ()),
    ],
)
def test_an_unclean_start_is_in_sync_with_nothing_it_does_not_lead(
    isr: tuple[int, ...],
    topic_rules: ElectionRules,
    leader: int,
    isr_after: tuple[int, ...],
    elr_after: object,
) -> None:
    cluster = three_brokers(isr=isr)
    returned_uncleanly(cluster, 1)
    cluster.carry_out(admit(cluster.image, 1, always(topic_rules), now_ms=NOW_MS))
    after = only(cluster.image)
    assert (after.leader, after.isr, after.elr, after.last_known_elr) == (leader, isr_after, elr_after, ())
    assert after.leader_epoch == 1
    assert not cluster.image.brokers[1].fenced
    assert cluster.is_consistent()


def test_an_unclean_start_waits_for_those_who_have_everything() -> None:
    cluster = three_brokers()
    waiting = replace(only(cluster.image), isr=(), leader=NO_LEADER, elr=(1, 2), last_known_elr=(1,))
    cluster.image = cluster.image.apply([PartitionChanged("t", waiting), BrokerGone(2)])
    returned_uncleanly(cluster, 1)
    cluster.carry_out(admit(cluster.image, 1, always(TWO), now_ms=NOW_MS))
    assert state(only(cluster.image)) == (NO_LEADER, (), (2,), (1,))
    cluster.image = cluster.image.apply([BrokerChanged(broker(2))])
    cluster.carry_out(settle(cluster.image, always(TWO)))
    assert state(only(cluster.image)) == (2, (2,), (), ())


def test_a_broker_is_admitted_after_all_that_depends_on_it() -> None:
    cluster = three_brokers()
    returned_uncleanly(cluster, 1)
    decision = admit(cluster.image, 1, always(TWO), now_ms=NOW_MS)
    last = decision.operations[-1]
    assert isinstance(last, Set)
    assert (last.path, b"unclean" in last.value) == (tree.broker_path(1), False)
    assert str(NOW_MS).encode() in last.value
    cluster.carry_out(decision)
    with pytest.raises(BadVersionError):
        cluster.carry_out(admit(cluster.image, 1, always(TWO), now_ms=NOW_MS))


# --- whatever the cluster looks like ---


@given(images(), rules, st.sets(st.sampled_from(BROKERS)))
def test_a_leader_is_one_who_has_the_records(
    image: ClusterImage, topic_rules: ElectionRules, restarted: set[int]
) -> None:
    after = image.apply(settle(image, always(topic_rules), restarted).deltas)
    for old, new in zip(image.topics["t"].partitions, after.topics["t"].partitions, strict=True):
        holders = {*old.isr} or {*old.elr} or {*old.last_known_elr}
        entitled = holders | {*old.elr}
        assert not new.has_leader or topic_rules.unclean or new.leader in entitled
        assert not new.has_leader or new.leader in new.isr
        assert not new.has_leader or image.is_active(new.leader)
        assert new.isr or (new.last_known_elr and not new.has_leader)
        assert set(new.isr) <= {*old.isr, new.leader}
        assert not set(new.isr) & set(new.elr)
        if not topic_rules.unclean and new.leader not in old.last_known_elr:
            assert {*new.isr, *new.elr} <= {*old.isr, *old.elr}
        if len(new.isr) >= min(topic_rules.min_insync_replicas, len(new.replicas)):
            assert new.elr == ()


@given(images(), rules, st.sets(st.sampled_from(BROKERS)))
def test_epochs_only_rise(image: ClusterImage, topic_rules: ElectionRules, restarted: set[int]) -> None:
    after = image.apply(settle(image, always(topic_rules), restarted).deltas)
    for old, new in zip(image.topics["t"].partitions, after.topics["t"].partitions, strict=True):
        renewed = new.leader != old.leader or (new.has_leader and old.leader in restarted)
        assert new.leader_epoch == old.leader_epoch + renewed
        assert new.partition_epoch == old.partition_epoch + (new != old)


@given(images(), rules)
def test_what_is_settled_stays_so(image: ClusterImage, topic_rules: ElectionRules) -> None:
    after = image.apply(settle(image, always(topic_rules)).deltas)
    assert settle(after, always(topic_rules)) == Decision(())


@given(images(), rules, st.sampled_from(BROKERS))
def test_what_is_written_is_what_is_told(
    image: ClusterImage, topic_rules: ElectionRules, broker_id: int
) -> None:
    decisions = [settle(image, always(topic_rules))]
    if broker_id in image.brokers:
        decisions.append(admit(image, broker_id, always(topic_rules), now_ms=NOW_MS))
    for decision in decisions:
        told = {
            tree.state_path(d.topic, d.partition.index): d.partition
            for d in decision.deltas
            if isinstance(d, PartitionChanged)
        }
        written = {o.path: o for o in decision.operations if isinstance(o, Set) and o.path in told}
        assert written.keys() == told.keys()
        for path, partition in told.items():
            stored = decode_state(path, written[path].value)
            assert written[path].version == partition.partition_epoch - 1
            assert (stored.leader, stored.isr, stored.elr, stored.last_known_elr) == state(partition)
            assert stored.leader_epoch == partition.leader_epoch


@given(images(), rules, st.sampled_from(BROKERS))
def test_whoever_may_have_lost_records_is_in_sync_only_with_itself(
    image: ClusterImage, topic_rules: ElectionRules, broker_id: int
) -> None:
    if broker_id not in image.brokers:
        return
    after = image.apply(admit(image, broker_id, always(topic_rules), now_ms=NOW_MS).deltas)
    for partition in after.topics["t"].partitions:
        assert broker_id not in partition.elr
        assert broker_id not in partition.isr or partition.isr == (broker_id,)


# --- a wish to stop ---


def test_a_broker_that_wishes_to_stop_leads_nothing_that_others_can_lead() -> None:
    cluster = three_brokers()
    assert cluster.carry_out(leave(cluster.image, 1, always(TWO))) == ()
    assert state(only(cluster.image)) == (2, (2, 3), (), ())
    assert cluster.image.brokers[1].leaving
    assert only(cluster.rebuilt()) == only(cluster.image)
    assert leave(cluster.image, 1, always(TWO)) == Decision(())


def test_a_broker_that_leads_nothing_leaves_the_in_sync_replicas_before_it_stops() -> None:
    cluster = three_brokers()
    assert cluster.carry_out(leave(cluster.image, 3, always(TWO))) == ()
    assert state(only(cluster.image)) == (1, (1, 2), (), ())
    assert only(cluster.image).leader_epoch == 0


def test_a_broker_waits_for_another_that_catches_up() -> None:
    cluster = three_brokers(isr=(1,))
    assert cluster.carry_out(leave(cluster.image, 1, always(TWO))) == (TopicPartition("t", 0),)
    assert only(cluster.image).leader == 1
    # Nobody is there to wait for.
    cluster.image = cluster.image.apply([BrokerGone(2), BrokerGone(3)])
    assert cluster.carry_out(leave(cluster.image, 1, always(TWO))) == ()
    assert only(cluster.image).leader == 1


def test_what_only_the_leaving_broker_holds_is_led_by_it_to_the_end() -> None:
    cluster = three_brokers(1)
    assert cluster.carry_out(leave(cluster.image, 1, always(ONE))) == ()
    assert state(only(cluster.image)) == (1, (1,), (), ())


# --- settings that change ---


def configured(cluster: Cluster, name: str, value: str, rules_then: ElectionRules) -> PartitionImage:
    resource = ConfigResource(ConfigKind.TOPIC, "t")
    change = IncrementalChange(resource, (Change(name, 0, value),))
    altered = alter_configs(cluster.image, [change], settings=SETTINGS, broker_id=1)
    cluster.carry_out(settled_after(cluster.image, altered, always(rules_then)))
    assert cluster.image.config(*resource) == {name: value}
    return only(cluster.image)


def test_a_partition_without_leader_gets_one_when_losses_are_accepted() -> None:
    cluster = three_brokers()
    headless = replace(only(cluster.image), leader=NO_LEADER, isr=(), elr=(1,), last_known_elr=(1,))
    cluster.image = cluster.image.apply([PartitionChanged("t", headless), BrokerGone(1)])
    after = configured(cluster, "unclean.leader.election.enable", "true", TWO_UNCLEAN)
    assert state(after) == (2, (2,), (), ())


def test_where_fewer_suffice_nobody_is_eligible_beside_those_in_sync() -> None:
    cluster = three_brokers()
    behind = replace(only(cluster.image), isr=(1,), elr=(2,))
    cluster.image = cluster.image.apply([PartitionChanged("t", behind)])
    after = configured(cluster, "min.insync.replicas", "1", ONE)
    assert state(after) == (1, (1,), (), ())
    assert cluster.is_consistent()


def test_what_is_settled_with_a_change_is_written_before_it() -> None:
    cluster = three_brokers()
    behind = replace(only(cluster.image), isr=(1,), elr=(2,))
    image = cluster.image.apply([PartitionChanged("t", behind)])
    resource = ConfigResource(ConfigKind.TOPIC, "t")
    change = IncrementalChange(resource, (Change("min.insync.replicas", 0, "1"),))
    altered = alter_configs(image, [change], settings=SETTINGS, broker_id=1)
    paths = [operation.path for operation in settled_after(image, altered, always(ONE)).operations]
    assert paths == [tree.CONTROLLER_EPOCH, tree.state_path("t", 0), "/config/topics/t"]
