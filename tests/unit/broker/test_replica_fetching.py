"""A follower and what its leader may answer."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest
from tests.support.nodes import Nodes
from tests.support.scripted_leader import Question, ScriptedPeers, answer, batch, data

from barnabas.broker.replication.partition import Partition
from barnabas.log.log import Log
from barnabas.model.errors import ErrorCode
from barnabas.model.image import (
    BrokerChanged,
    BrokerGone,
    ConfigChanged,
    ConfigKind,
    ConfigResource,
    PartitionChanged,
    TopicDeleted,
)

LATEST, EARLIEST = -1, -2
T, U = b"t_______________", b"u_______________"


class Follower:
    """Broker 1, which follows `t` and `u` from broker 2 and takes broker 3 for another leader."""

    def __init__(self, **settings: str) -> None:
        self.nodes = Nodes(1, 2, 3, **settings)
        for other in (2, 3):
            self.nodes.stop(other)
        self.node = self.nodes[1]
        self.peers = ScriptedPeers(self.node)

    def follow(self, *topics: str, leader: int = 2, **configs: str) -> Follower:
        deltas = [self.nodes.topic(name, leader) for name in topics]
        set_ = {key.replace("_", "."): value for key, value in configs.items()}
        changed = [ConfigChanged(ConfigResource(ConfigKind.TOPIC, name), set_) for name in topics if set_]
        self.nodes.change(*deltas, *changed)
        self.nodes.run(0)
        return self

    def partition(self, topic: str = "t") -> Partition:
        return self.nodes.partition(1, topic)

    def log(self, topic: str = "t") -> Log:
        log = self.partition(topic).log
        assert log is not None
        return log

    def question(self, leader: int = 2) -> Question:
        return self.peers.question(leader)

    def answers(self, *rows: tuple[bytes, object], **kinds: int) -> None:
        self.question().answer(answer(*rows, **kinds))  # type: ignore[arg-type]

    def has(self, *batches: bytes) -> None:
        """The leader has sent that of `t`, all of it committed."""
        self.answers((T, data(b"".join(batches), high_watermark=1000)))


def test_the_first_question_says_everything_and_the_next_only_news() -> None:
    follower = Follower().follow("t", "u")
    first = follower.question()
    assert first.offsets == {(T, 0): 0, (U, 0): 0}
    assert (first.fetch.session_id, first.fetch.session_epoch) == (0, 0)
    assert first.fetch.replica_state is not None
    assert (first.fetch.replica_state.replica_id, first.fetch.replica_state.replica_epoch) == (1, 1)
    assert first.fetch.max_wait_ms == 500
    assert first.fetch.max_bytes == 10485760
    first.answer(answer((T, data(batch(0, b"a", b"b"), high_watermark=1)), (U, data())))
    second = follower.question()
    assert (second.fetch.session_id, second.fetch.session_epoch) == (7, 1)
    assert second.offsets == {(T, 0): 2}
    row = second.fetch.topics[0].partitions[0]
    assert (row.current_leader_epoch, row.last_fetched_epoch, row.high_watermark) == (0, 0, 1)
    assert row.partition_max_bytes == 1048576
    second.answer(answer())
    third = follower.question()
    assert (third.fetch.session_epoch, third.offsets) == (2, {})


def test_what_a_leader_sends_is_appended_as_it_is() -> None:
    follower = Follower().follow("t")
    sent = [batch(0, b"a", b"b"), batch(2, b"c"), batch(9, b"after a hole", epoch=0)]
    follower.has(*sent)
    assert follower.nodes.values(1, "t") == b"".join(sent)
    assert follower.log().log_end_offset == 10
    assert follower.log().high_watermark == 10
    assert follower.question().offsets == {(T, 0): 10}


def test_a_batch_that_was_cut_is_asked_for_again() -> None:
    follower = Follower().follow("t")
    follower.has(batch(0, b"whole"), batch(1, b"cut")[:-3])
    assert follower.nodes.values(1, "t") == batch(0, b"whole")
    assert follower.question().offsets == {(T, 0): 1}


def test_a_leader_without_room_for_a_session_is_told_everything_each_time() -> None:
    follower = Follower().follow("t", "u")
    for _ in range(2):
        question = follower.question()
        assert question.offsets == {(T, 0): 0, (U, 0): 0}
        assert (question.fetch.session_id, question.fetch.session_epoch) == (0, 0)
        question.answer(answer((T, data()), (U, data()), session_id=0))


@pytest.mark.parametrize(
    "lost", [ErrorCode.FETCH_SESSION_ID_NOT_FOUND, ErrorCode.INVALID_FETCH_SESSION_EPOCH]
)
def test_after_a_lost_session_everything_is_said_at_once(lost: ErrorCode) -> None:
    follower = Follower().follow("t", "u")
    follower.answers((T, data()), (U, data()))
    follower.answers(session_id=0, error=lost)
    again = follower.question()
    assert (again.fetch.session_id, again.fetch.session_epoch) == (0, 0)
    assert again.offsets == {(T, 0): 0, (U, 0): 0}


def test_a_leader_that_knows_no_session_at_all_is_asked_less_often() -> None:
    follower = Follower().follow("t")
    follower.answers(session_id=0, error=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    follower.nodes.run(999)
    assert not follower.peers.is_asked(2)
    follower.nodes.run(1)
    assert follower.question().offsets == {(T, 0): 0}


def test_a_question_that_failed_is_asked_again_in_a_new_session() -> None:
    follower = Follower().follow("t", "u")
    follower.answers((T, data()), (U, data()))
    follower.question().fail()
    again = follower.question()
    assert again.offsets == {(T, 0): 0, (U, 0): 0}
    # The leader still has the old one, and may let it go.
    assert (again.fetch.session_id, again.fetch.session_epoch) == (7, 0)


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.UNKNOWN_SERVER_ERROR,
    ],
)
def test_a_partition_in_error_pauses_and_the_others_go_on(code: ErrorCode) -> None:
    follower = Follower().follow("t", "u")
    follower.answers((T, data(error=code)), (U, data(batch(0, b"u"), high_watermark=1)))
    question = follower.question()
    assert (question.offsets, question.left_out) == ({(U, 0): 1}, {(T, 0)})
    assert question.fetch.max_wait_ms == 10
    follower.nodes.run(10)
    question.answer(answer())
    assert follower.question().offsets == {(T, 0): 0}


def test_pauses_grow_to_the_backoff_and_end_with_the_error() -> None:
    follower = Follower(replica_fetch_backoff_ms="100").follow("t")
    for pause_ms in (10, 20, 40, 80, 100, 100):
        follower.answers((T, data(error=ErrorCode.NOT_LEADER_OR_FOLLOWER)))
        follower.nodes.run(pause_ms - 1)
        assert not follower.peers.is_asked(2)
        follower.nodes.run(1)
    follower.answers((T, data()))
    follower.answers((T, data(error=ErrorCode.NOT_LEADER_OR_FOLLOWER)))
    follower.nodes.run(10)
    assert follower.peers.is_asked(2)


def test_an_answer_to_an_epoch_that_is_over_is_ignored() -> None:
    follower = Follower().follow("t")
    question = follower.question()
    follower.nodes.elect("t", 2, isr=(1, 2, 3))
    question.answer(answer((T, data(batch(0, b"of the epoch before"), high_watermark=1))))
    assert follower.log().log_end_offset == 0
    assert follower.question().fetch.topics[0].partitions[0].current_leader_epoch == 1


def test_a_log_that_diverged_is_cut_where_it_did_and_asks_from_there() -> None:
    follower = Follower().follow("t")
    follower.answers((T, data(batch(0, b"a") + batch(1, b"b", b"c", epoch=1), high_watermark=1)))
    follower.answers((T, data(diverging=(0, 1))))
    assert follower.nodes.values(1, "t") == batch(0, b"a")
    row = follower.question().fetch.topics[0].partitions[0]
    assert (row.fetch_offset, row.last_fetched_epoch) == (1, 0)


def test_a_leader_that_begins_behind_our_end_makes_us_start_over() -> None:
    follower = Follower().follow("t", "u")
    follower.has(batch(0, b"old"))
    follower.answers((T, data(error=ErrorCode.OFFSET_OUT_OF_RANGE)))
    assert follower.question().left_out == {(T, 0)}  # the others are asked for meanwhile
    follower.peers.answer_offset(2, LATEST, 500)
    follower.peers.answer_offset(2, EARLIEST, 400)
    assert follower.log().log_start_offset == follower.log().log_end_offset == 400


def test_a_leader_that_ends_before_our_end_has_us_cut() -> None:
    follower = Follower().follow("t")
    follower.has(batch(0, b"a"), batch(1, b"b"), batch(2, b"c"))
    follower.answers((T, data(error=ErrorCode.OFFSET_OUT_OF_RANGE)))
    follower.peers.answer_offset(2, LATEST, 1)
    follower.peers.answer_offset(2, EARLIEST, 0)
    assert follower.nodes.values(1, "t") == batch(0, b"a")
    assert follower.question().offsets == {(T, 0): 1}


def test_a_leader_that_contradicts_itself_about_its_range_is_asked_again_later() -> None:
    follower = Follower().follow("t")
    follower.answers((T, data(error=ErrorCode.OFFSET_OUT_OF_RANGE)))
    follower.peers.answer_offset(2, LATEST, 5)
    follower.peers.answer_offset(2, EARLIEST, 0)
    assert not follower.peers.is_asked(2)
    follower.nodes.run(10)
    follower.answers((T, data(error=ErrorCode.OFFSET_OUT_OF_RANGE)))
    follower.peers.answer_offset(2, LATEST, -1, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert not follower.peers.is_asked(2)
    follower.nodes.run(20)
    assert follower.question().offsets == {(T, 0): 0}


def test_corrupt_bytes_are_not_appended_and_complained_about_once(caplog: pytest.LogCaptureFixture) -> None:
    follower = Follower().follow("t")
    broken = bytearray(batch(0, b"a") + batch(1, b"b"))
    broken[-1] ^= 1
    with caplog.at_level(logging.ERROR):
        for pause_ms in (10, 20):
            follower.has(bytes(broken))
            follower.nodes.run(pause_ms)
    assert len(caplog.records) == 1
    assert follower.log().log_end_offset == 0
    follower.has(batch(0, b"a") + batch(1, b"b"))
    assert follower.log().log_end_offset == 2


def test_offsets_that_go_back_are_not_appended() -> None:
    follower = Follower().follow("t")
    follower.has(batch(0, b"a", b"b"))
    follower.has(batch(1, b"again"))
    assert follower.log().log_end_offset == 2
    assert not follower.peers.is_asked(2)


def test_a_disk_that_fails_costs_its_partitions_only() -> None:
    follower = Follower(log_dirs="/data,/other").follow("t", "u")
    home = follower.log().directory.rpartition("/")[0]
    assert not follower.log("u").directory.startswith(home)
    follower.nodes.disks[1].fail(home)
    follower.answers((T, data(batch(0, b"t"), high_watermark=1)), (U, data(batch(0, b"u"), high_watermark=1)))
    assert follower.partition().log is None
    question = follower.question()
    assert (question.offsets, question.left_out) == ({(U, 0): 1}, {(T, 0)})


def test_a_log_that_begins_within_a_batch_takes_the_batch_whole() -> None:
    follower = Follower().follow("t")
    follower.answers((T, data(error=ErrorCode.OFFSET_OUT_OF_RANGE)))
    follower.peers.answer_offset(2, LATEST, 8)
    follower.peers.answer_offset(2, EARLIEST, 5)
    whole = batch(3, b"deleted", b"deleted", b"there", b"there", b"there")
    follower.answers((T, data(whole, high_watermark=8, log_start_offset=5)))
    log = follower.log()
    assert follower.nodes.values(1, "t") == whole
    assert (log.log_start_offset, log.high_watermark, log.log_end_offset) == (5, 8, 8)
    assert log.segments.first.base_offset == 3


def test_more_than_a_segment_holds_becomes_several() -> None:
    follower = Follower().follow("t", segment_bytes="1048576")
    large = [batch(at, b"x" * 600_000) for at in range(4)]
    follower.has(*large)
    assert follower.nodes.values(1, "t") == b"".join(large)
    assert len(follower.log().segments) == 4


def test_a_leader_that_is_replaced_is_not_asked_any_more() -> None:
    follower = Follower().follow("t")
    before = follower.peers.line(2)
    follower.nodes.elect("t", 3, isr=(1, 3))
    follower.nodes.run(0)
    assert before.is_closed
    assert follower.question(3).offsets == {(T, 0): 0}


def test_nobody_is_asked_by_a_leader_or_without_a_leader() -> None:
    follower = Follower().follow("t", "u")
    line = follower.peers.line(2)
    follower.nodes.elect("t", 1, isr=(1,))
    assert len(follower.node.fetchers) == 1
    follower.nodes.elect("u", -1, isr=(2,))
    assert len(follower.node.fetchers) == 0
    assert line.is_closed


def test_a_topic_that_is_deleted_is_left_out() -> None:
    follower = Follower().follow("t", "u")
    follower.answers((T, data()), (U, data()))
    waiting = follower.question()
    follower.nodes.change(TopicDeleted("t", T))
    waiting.answer(answer((T, data(batch(0, b"late"), high_watermark=1))))
    assert follower.question().left_out == {(T, 0)}


def test_a_replica_that_is_taken_away_is_left_out() -> None:
    follower = Follower().follow("t", "u")
    before = follower.nodes.image.topics["t"].partitions[0]
    taken = replace(before, replicas=(2, 3), isr=(2, 3), partition_epoch=1)
    follower.nodes.change(PartitionChanged("t", taken))
    assert len(follower.node.fetchers) == 1


def test_a_leader_that_is_gone_is_asked_again_when_it_is_back() -> None:
    follower = Follower().follow("t")
    before = follower.nodes.image.brokers[2]
    line = follower.peers.line(2)
    follower.nodes.change(BrokerGone(2))
    assert line.is_closed
    follower.nodes.change(BrokerChanged(replace(before, epoch=50)))
    follower.nodes.run(0)
    assert follower.question().offsets == {(T, 0): 0}


def test_a_leader_in_a_new_life_gets_a_new_line() -> None:
    follower = Follower().follow("t")
    line = follower.peers.line(2)
    before = follower.nodes.image.brokers[2]
    follower.nodes.change(BrokerChanged(replace(before, epoch=50)))
    follower.nodes.run(0)
    assert line.is_closed
    assert follower.question().offsets == {(T, 0): 0}


def test_a_new_partition_does_not_wait_for_an_answer_about_others() -> None:
    follower = Follower().follow("t")
    follower.answers((T, data()))
    waiting = follower.peers.line(2)
    follower.follow("u")
    assert not waiting.is_closed  # an answer may be on its way
    follower.nodes.run(20)
    assert waiting.is_closed
    assert follower.question().offsets == {(T, 0): 0, (U, 0): 0}


def test_a_new_partition_comes_with_the_next_question_of_a_busy_line() -> None:
    follower = Follower().follow("t")
    follower.answers((T, data()))
    follower.follow("u")
    follower.answers((T, data(batch(0, b"a"), high_watermark=1)))
    follower.nodes.run(20)
    assert follower.question().offsets == {(T, 0): 1, (U, 0): 0}
    assert len([line for line in follower.peers.lines if line.is_closed]) == 0


def test_a_follower_does_not_say_that_it_has_what_its_disk_has_not() -> None:
    follower = Follower()
    held: list[tuple[object, object]] = []
    follower.node.workers.submit = lambda work, done: held.append((work, done))  # type: ignore[method-assign]
    follower.follow("t", "u", flush_messages="1")
    follower.answers((T, data(batch(0, b"a"), high_watermark=1)), (U, data()))
    question = follower.question()
    assert (question.offsets, question.left_out) == ({}, {(T, 0)})
    work, done = held[-1]
    work()  # type: ignore[operator]
    done(None, None)  # type: ignore[operator]
    question.answer(answer())
    assert follower.question().offsets == {(T, 0): 1}


def test_a_throttled_replica_waits_until_it_is_slow_enough_and_others_do_not() -> None:
    follower = Follower()
    rate = {"follower.replication.throttled.rate": "1000"}
    follower.nodes.change(ConfigChanged(ConfigResource(ConfigKind.BROKER, "1"), rate))
    follower.follow("u")
    follower.question()
    follower.follow("t", follower_replication_throttled_replicas="0:1")
    follower.nodes.run(20)
    large = batch(0, b"x" * 20_000)
    follower.answers((T, data(large, high_watermark=1000)), (U, data()))
    question = follower.question()
    assert (question.offsets, question.left_out) == ({}, {(T, 0)})
    follower.nodes.run(10_900)
    question.answer(answer((U, data(batch(0, b"u"), high_watermark=1))))
    question = follower.question()
    assert question.offsets == {(U, 0): 1}
    follower.nodes.run(200)
    question.answer(answer())
    assert follower.question().offsets == {(T, 0): 1}


def test_a_throttled_replica_that_has_everything_is_asked_for() -> None:
    follower = Follower()
    rate = {"follower.replication.throttled.rate": "1"}
    follower.nodes.change(ConfigChanged(ConfigResource(ConfigKind.BROKER, "1"), rate))
    follower.follow("t", follower_replication_throttled_replicas="*")
    follower.answers((T, data(batch(0, b"x" * 100_000), high_watermark=1)))
    assert follower.question().offsets == {(T, 0): 1}


def test_several_lines_share_the_partitions_of_a_leader() -> None:
    follower = Follower(num_replica_fetchers="4")
    names = [f"topic{number}" for number in range(16)]
    follower.follow(*names)
    asked = [line.questions[0].offsets for line in follower.peers.lines]
    assert 1 < len(asked) <= 4
    assert sum(map(len, asked)) == 16


def test_a_closed_follower_asks_nobody() -> None:
    follower = Follower().follow("t")
    follower.answers((T, data(error=ErrorCode.NOT_LEADER_OR_FOLLOWER)))
    follower.node.fetchers.close()
    follower.nodes.run(5_000)
    assert not follower.peers.is_asked(2)


def test_a_partition_that_lost_its_disk_may_change_leaders() -> None:
    follower = Follower(log_dirs="/data,/other").follow("t")
    follower.nodes.disks[1].fail(follower.log().directory.rpartition("/")[0])
    follower.answers((T, data(batch(0, b"t"), high_watermark=1)))
    assert follower.partition().log is None
    follower.follow("u", leader=3)
    follower.nodes.elect("u", 1, isr=(1,))
    for leader in (3, 2, 3):
        follower.nodes.elect("t", leader, isr=(leader,))
        follower.nodes.run(10)
    assert len(follower.node.fetchers) == 0
    assert all(line.is_closed for line in follower.peers.lines)
