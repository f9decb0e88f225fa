"""A leader commits what all in-sync replicas hold, and counts on nobody who may not be one."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import settings, stateful
from hypothesis import strategies as some
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from barnabas.model.image import PartitionImage
from barnabas.replication.leader import Committed, InSync, Leading, PendingExpand, PendingShrink, Position

LAG_MS = 1000
IMAGE = PartitionImage(0, (1, 2, 3), (1, 2), leader=1, leader_epoch=5, partition_epoch=10)


def leading(image: PartitionImage = IMAGE, epoch_start_offset: int = 0) -> Leading:
    return Leading(image, 1, epoch_start_offset, now_ms=0)


def fetch(leader: Leading, broker_id: int, offset: int, leader_end: int, now_ms: int = 0) -> None:
    leader.followers[broker_id].fetched(Position(offset, 0, 7), leader_end, now_ms)


def in_sync(leader: Leading) -> InSync:
    return leader.in_sync


def committed(leader: Leading, end_offset: int, now_ms: int = 0, may_join: bool = True) -> int:
    return leader.committed_offset(end_offset, end_offset, now_ms, LAG_MS, lambda _id, _epoch: may_join)


def test_nothing_is_committed_before_every_in_sync_follower_was_heard_of() -> None:
    leader = leading()
    assert committed(leader, 10) == -1
    fetch(leader, 2, 6, leader_end=10)
    assert committed(leader, 10) == 6


def test_a_follower_about_to_join_holds_the_high_watermark_back() -> None:
    leader = leading()
    fetch(leader, 2, 10, leader_end=10)
    fetch(leader, 3, 8, leader_end=8)
    assert committed(leader, 10) == 8
    assert committed(leader, 10, may_join=False) == 10
    assert committed(leader, 10, now_ms=LAG_MS + 1) == 10


def test_a_follower_out_of_reach_is_not_waited_for() -> None:
    leader = leading()
    fetch(leader, 2, 10, leader_end=10)
    fetch(leader, 3, 1, leader_end=10)
    assert committed(leader, 10) == 10


def test_who_may_join_has_reached_what_is_committed_and_where_the_epoch_began() -> None:
    leader = leading(epoch_start_offset=8)
    assert not leader.may_propose(3, high_watermark=0)
    fetch(leader, 3, 7, leader_end=10)
    assert not leader.may_propose(3, high_watermark=5)
    fetch(leader, 3, 8, leader_end=10)
    assert leader.may_propose(3, high_watermark=5)
    assert not leader.may_propose(3, high_watermark=9)
    assert not leader.may_propose(2, high_watermark=0)  # in sync already
    assert not leader.may_propose(4, high_watermark=0)  # no replica


def test_one_that_may_have_joined_is_waited_for_until_the_image_decides() -> None:
    leader = leading()
    fetch(leader, 2, 10, leader_end=10)
    fetch(leader, 3, 9, leader_end=9)
    leader.expand(3)
    assert in_sync(leader) == PendingExpand(frozenset({1, 2}), 3)
    assert committed(leader, 10, now_ms=10 * LAG_MS) == 9
    assert not leader.may_propose(3, 0)
    leader.adopt(IMAGE, now_ms=0)  # nothing new in it
    assert committed(leader, 10, now_ms=10 * LAG_MS) == 9
    leader.adopt(replace(IMAGE, isr=(1, 2, 3), partition_epoch=11), now_ms=0)
    assert in_sync(leader) == Committed(frozenset({1, 2, 3}))


def test_one_that_may_still_be_in_sync_is_waited_for_until_the_image_decides() -> None:
    leader = leading()
    fetch(leader, 2, 4, leader_end=4)
    assert not leader.shrink(10, LAG_MS, LAG_MS)
    assert leader.shrink(10, LAG_MS + 1, LAG_MS)
    assert in_sync(leader) == PendingShrink(frozenset({1, 2}), frozenset({2}))
    assert committed(leader, 10) == 4
    assert not leader.shrink(10, LAG_MS + 1, LAG_MS)  # one proposal at a time
    leader.adopt(replace(IMAGE, isr=(1,), partition_epoch=11), now_ms=0)
    assert committed(leader, 10, now_ms=5 * LAG_MS) == 10


def test_a_refused_proposal_leaves_everything_as_it_was() -> None:
    leader = leading()
    fetch(leader, 3, 10, leader_end=10)
    leader.expand(3)
    leader.refused()
    assert in_sync(leader) == Committed(frozenset({1, 2}))
    assert leader.may_propose(3, 10)


def test_a_follower_that_keeps_pace_with_a_growing_log_has_not_fallen_behind() -> None:
    leader = leading()
    for step in range(1, 20):
        fetch(leader, 2, 10 * step, leader_end=10 * step + 10, now_ms=step * LAG_MS // 2)
        assert not leader.shrink(10 * step + 10, step * LAG_MS // 2, LAG_MS)


def test_a_silent_follower_with_the_whole_log_has_not_fallen_behind() -> None:
    leader = leading()
    fetch(leader, 2, 10, leader_end=10)
    assert not leader.shrink(10, 50 * LAG_MS, LAG_MS)


def test_a_new_follower_is_known_and_a_removed_one_forgotten() -> None:
    leader = leading()
    leader.adopt(replace(IMAGE, replicas=(1, 2, 4), partition_epoch=11), now_ms=0)
    assert leader.followers.keys() == {2, 4}


def test_the_low_watermark_waits_for_those_who_are_alive() -> None:
    leader = leading()
    leader.followers[2].fetched(Position(10, 5, 7), 10, 0)
    assert leader.low_watermark(6, alive={1, 2}) == 5
    assert leader.low_watermark(6, alive={1, 2, 3}) == -1
    assert leader.low_watermark(4, alive={1}) == 4


class HighWatermark(RuleBasedStateMachine):
    """Whatever happens: it never passes what a member of any in-sync set that the controller may hold has."""

    def __init__(self) -> None:
        super().__init__()
        self.image = IMAGE
        self.leader = leading()
        self.end = 0
        self.high_watermark = 0
        self.held = {2: 0, 3: 0}  # what followers really have
        self.now_ms = 0

    def _advance(self) -> None:
        before = self.high_watermark
        self.high_watermark = max(before, committed(self.leader, self.end, self.now_ms))
        assert self.high_watermark >= before

    @rule(count=some.integers(1, 5))
    def append(self, count: int) -> None:
        self.end += count
        self._advance()

    @rule(broker_id=some.sampled_from([2, 3]), count=some.integers(0, 5))
    def fetch(self, broker_id: int, count: int) -> None:
        """A follower asks for what comes behind what it has, and is given some."""
        fetch(self.leader, broker_id, self.held[broker_id], self.end, self.now_ms)
        if self.leader.may_propose(broker_id, self.high_watermark):
            self.leader.expand(broker_id)
        self._advance()
        self.held[broker_id] = min(self.end, self.held[broker_id] + count)

    @rule(delay_ms=some.integers(1, 2 * LAG_MS))
    def wait(self, delay_ms: int) -> None:
        self.now_ms += delay_ms
        self.leader.shrink(self.end, self.now_ms, LAG_MS)
        self._advance()

    @stateful.precondition(lambda self: not isinstance(self.leader.in_sync, Committed))
    @rule(hears=some.booleans())
    def controller_decides(self, hears: bool) -> None:
        """The leader may hear of it only later."""
        in_sync = self.leader.in_sync
        assert not isinstance(in_sync, Committed)
        if self.image.partition_epoch == self.leader.partition_epoch:
            isr = tuple(sorted(in_sync.proposed))
            self.image = replace(self.image, isr=isr, partition_epoch=self.image.partition_epoch + 1)
        if hears:
            self.leader.adopt(self.image, self.now_ms)
            self._advance()

    @rule()
    def leads_again(self) -> None:
        """Elected anew, it does not know where followers are; one out of sync may have been cut."""
        epoch = self.image.leader_epoch + 1
        self.image = replace(self.image, leader_epoch=epoch, partition_epoch=self.image.partition_epoch + 1)
        self.leader = leading(self.image, self.end)
        for broker_id in {2, 3} - set(self.image.isr):
            self.held[broker_id] = 0
        self._advance()

    @invariant()
    def everybody_in_sync_has_what_is_committed(self) -> None:
        assert all(self.held.get(each, self.end) >= self.high_watermark for each in self.image.isr)


TestHighWatermark = HighWatermark.TestCase
TestHighWatermark.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
