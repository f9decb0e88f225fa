"""A leader with followers: what is committed, who is in sync, and what producers hear."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.replicated import EPOCHS, TOPIC, TOPIC_ID, Produced, Trio

from barnabas.broker.replication.partition import ACKS_ALL
from barnabas.log.log import Log
from barnabas.model.errors import ErrorCode
from barnabas.model.image import BrokerChanged, PartitionImage, TopicDeleted
from barnabas.protocol.private import ReplicasOfflineRequest

LAG_MS = 30_000
OUT_OF_SYNC = PartitionImage(0, (1, 2, 3), (1, 2), leader=1, leader_epoch=5, partition_epoch=10)


def code(answer: object) -> int:
    return getattr(answer, "error_code", -1)


# --- the high watermark ------------------------------------------------------------------------------------


def test_the_high_watermark_is_what_all_in_sync_replicas_hold() -> None:
    trio = Trio()
    trio.append(10)
    assert trio.high_watermark == 0
    trio.fetch(2, 7)
    assert trio.high_watermark == 0
    trio.fetch(3, 4)
    assert trio.high_watermark == 4
    trio.fetch(3, 9)
    assert trio.high_watermark == 7


def test_the_high_watermark_never_goes_back() -> None:
    trio = Trio()
    trio.append(10)
    for follower in (2, 3):
        trio.fetch(follower, 8)
    trio.fetch(2, 3)
    trio.change(leader=1)
    trio.fetch(2, 0)
    trio.fetch(3, 0)
    assert trio.high_watermark == 8


def test_where_followers_are_is_forgotten_when_the_epoch_changes() -> None:
    trio = Trio()
    trio.append(10)
    trio.fetch(2, 10)
    trio.change(leader=1)
    trio.fetch(3, 10)
    assert trio.high_watermark == 0
    trio.fetch(2, 10)
    assert trio.high_watermark == 10


def test_below_min_insync_replicas_the_high_watermark_stands_still() -> None:
    trio = Trio(configs={"min.insync.replicas": "2"})
    trio.append(10)
    trio.change(isr=(1,))
    trio.append(1)
    assert trio.high_watermark == 0
    trio.configure(min_insync_replicas="1")
    assert trio.high_watermark == 11


def test_a_shrunk_isr_commits_what_is_left() -> None:
    trio = Trio()
    trio.append(10)
    trio.fetch(2, 6)
    trio.change(isr=(1, 2))
    assert trio.high_watermark == 6


def test_a_follower_that_has_gone_for_good_is_not_waited_for() -> None:
    trio = Trio(OUT_OF_SYNC)
    trio.append(10)
    trio.fetch(3, 10)  # caught up, and about to join
    trio.append(10)
    trio.fetch(2, 20)
    assert trio.high_watermark == 10
    trio.pass_ms(1)
    trio.link.answer(ErrorCode.INELIGIBLE_REPLICA)
    trio.gone(3)
    assert trio.high_watermark == 20


def test_a_reopened_log_keeps_the_high_watermark_that_was_written_down() -> None:
    trio = Trio()
    trio.append(10)
    log = trio.partition.log
    assert log is not None
    log.update_high_watermark(4)
    trio.partition.open(log)
    assert trio.high_watermark == 4


def test_the_only_replica_commits_as_it_writes() -> None:
    trio = Trio(PartitionImage(0, (1,), (1,), leader=1))
    assert trio.append(10) == trio.high_watermark
    assert code(trio.produce().data) == 0


def test_who_is_left_alone_commits_everything() -> None:
    trio = Trio()
    trio.append(10)
    trio.change(replicas=(1,), isr=(1,))
    assert trio.high_watermark == 10


# --- producers ---------------------------------------------------------------------------------------------


def test_acks_all_waits_for_every_in_sync_replica() -> None:
    trio = Trio()
    produced = trio.produce()
    assert produced.data is None
    trio.fetch(2, 1)
    assert produced.data is None
    trio.fetch(3, 1)
    assert code(produced.data) == 0


def test_acks_one_waits_for_nobody() -> None:
    assert code(Trio().produce(acks=1).data) == 0


def test_acks_all_is_refused_while_too_few_are_in_sync() -> None:
    trio = Trio(configs={"min.insync.replicas": "2"})
    trio.change(isr=(1,))
    assert code(trio.produce().data) == ErrorCode.NOT_ENOUGH_REPLICAS
    assert code(trio.produce(acks=1).data) == 0
    assert trio.partition.log is not None
    assert trio.partition.log.log_end_offset == 1


def test_while_too_few_are_in_sync_a_waiting_producer_waits_for_their_return() -> None:
    trio = Trio(configs={"min.insync.replicas": "2"})
    produced = trio.produce()
    trio.change(isr=(1,))
    assert (produced.data, trio.high_watermark) == (None, 0)
    trio.fetch(2, 1)
    assert produced.data is None, "it has the record, and does not count yet"
    trio.change(isr=(1, 2))
    assert code(produced.data) == 0


def test_a_producers_time_ends_while_too_few_are_in_sync() -> None:
    trio = Trio(configs={"min.insync.replicas": "2"})
    produced = trio.produce()
    trio.change(isr=(1,))
    trio.pass_ms(60_000)
    assert code(produced.data) == ErrorCode.REQUEST_TIMED_OUT


def test_what_is_committed_when_too_few_are_left_is_not_acknowledged() -> None:
    """It is with those who are left, which is less than was asked for."""
    trio = Trio(configs={"min.insync.replicas": "2"})
    trio.produce()
    for follower in (2, 3):
        trio.fetch(follower, 1)
    trio.change(isr=(1,))
    partition = trio.partition
    assert partition.fate(0, ACKS_ALL, partition.reign) is ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
    assert partition.fate(0, 1, partition.reign) is ErrorCode.NONE


def test_a_waiting_producer_hears_that_leadership_is_lost() -> None:
    trio = Trio()
    produced = trio.produce()
    trio.change(leader=2)
    assert code(produced.data) == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_what_was_lost_with_leadership_is_not_acknowledged_when_it_returns() -> None:
    trio = Trio()
    produced = trio.produce()
    waiting = next(iter(trio.partition.waiting))
    trio.partition.waiting.clear()  # as if nobody had told it
    trio.change(leader=2)
    trio.partition.cut_at(0)
    trio.change(leader=1)
    trio.append(5)
    trio.fetch(2, 5)
    trio.fetch(3, 5)
    assert trio.high_watermark == 5
    waiting.moved(trio.partition)
    assert code(produced.data) == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_producer_to_a_topic_that_is_deleted_is_not_told_of_a_broken_disk() -> None:
    trio = Trio()
    produced = trio.produce()
    trio.install(TopicDeleted(TOPIC, TOPIC_ID))
    assert code(produced.data) == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_new_epoch_of_the_same_leader_disturbs_no_producer() -> None:
    trio = Trio()
    produced = trio.produce()
    trio.change(leader=1)
    assert produced.data is None
    trio.fetch(2, 1)
    trio.fetch(3, 1)
    assert code(produced.data) == 0


def test_a_producer_whose_time_is_up_hears_so() -> None:
    trio = Trio()
    produced = trio.produce(timeout_ms=500)
    trio.pass_ms(600)
    assert code(produced.data) == ErrorCode.REQUEST_TIMED_OUT


def habitual(trio: Trio) -> Produced:
    """An acks=all produce that waits, of a producer that has been recognised."""
    connection = trio.session()
    for count in (1, 2):
        produced = trio.produce(connection=connection)
        for each in (2, 3):
            trio.fetch(each, count)
        assert code(produced.data) == 0
    assert connection[0].template is not None
    produced = trio.produce(connection=connection, timeout_ms=1000)
    assert produced.data is None
    return produced


def test_on_the_short_way_acks_all_waits_for_every_in_sync_replica() -> None:
    trio = Trio()
    produced = habitual(trio)
    trio.fetch(2, 3)
    assert produced.data is None
    trio.fetch(3, 3)
    assert produced.data is not None
    assert (produced.data.error_code, produced.data.base_offset) == (0, 2)


def test_on_the_short_way_a_producer_hears_that_leadership_is_lost() -> None:
    trio = Trio()
    produced = habitual(trio)
    trio.change(leader=2)
    data = produced.data
    assert data is not None
    assert (data.error_code, data.base_offset) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)
    assert data.current_leader is not None
    assert data.current_leader.leader_id == 2


def test_on_the_short_way_a_producer_hears_that_its_time_is_up() -> None:
    trio = Trio()
    produced = habitual(trio)
    trio.pass_ms(1100)
    assert code(produced.data) == ErrorCode.REQUEST_TIMED_OUT


def test_a_partition_that_moved_away_is_deleted_and_its_producer_told() -> None:
    trio = Trio()
    produced = trio.produce()
    trio.change(replicas=(2, 3), isr=(2, 3), leader=2)
    assert code(produced.data) == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert trio.node.replicas.find("t", 0) is None
    assert not trio.node.logs.logs
    assert code(trio.produce().data) == ErrorCode.NOT_LEADER_OR_FOLLOWER


# --- who is in sync ----------------------------------------------------------------------------------------


def test_a_follower_that_has_caught_up_is_proposed() -> None:
    trio = Trio(OUT_OF_SYNC)
    trio.append(10)
    trio.fetch(2, 10)
    trio.fetch(3, 9)
    trio.pass_ms(1)
    assert trio.link.asked == []
    trio.fetch(3, 10)
    trio.pass_ms(1)
    (request, _, _) = trio.link.asked[0]
    row = request.topics[0].partitions[0]
    assert (request.topics[0].topic_id, row.leader_epoch, row.partition_epoch) == (TOPIC_ID, 5, 10)
    assert [(each.broker_id, each.broker_epoch) for each in row.new_isr_with_epochs] == [
        (1, trio.node.image.brokers[1].epoch),
        (2, EPOCHS[2]),
        (3, EPOCHS[3]),
    ]


@pytest.mark.parametrize("broker_epoch", [EPOCHS[3] - 1, EPOCHS[3] + 1, -1])
def test_a_follower_of_another_life_is_not_proposed(broker_epoch: int) -> None:
    trio = Trio(OUT_OF_SYNC)
    trio.fetch(3, 0, broker_epoch=broker_epoch)
    trio.pass_ms(1)
    assert trio.link.asked == []


@pytest.mark.parametrize(("fenced", "leaving"), [(True, False), (False, True)])
def test_a_follower_that_may_not_lead_is_not_proposed(fenced: bool, leaving: bool) -> None:
    trio = Trio(OUT_OF_SYNC)
    trio.install(BrokerChanged(replace(trio.node.image.brokers[3], fenced=fenced, leaving=leaving)))
    trio.fetch(3, 0)
    trio.pass_ms(1)
    assert trio.link.asked == []


def test_a_follower_that_stands_still_is_dropped() -> None:
    trio = Trio()
    trio.append(10)
    for _ in range(4):
        trio.pass_ms(LAG_MS // 2)
        trio.fetch(2, 10)
        trio.fetch(3, 5)
    assert trio.link.proposed[0] == [1, 2]
    assert trio.high_watermark == 5  # it counts until the controller has said otherwise
    trio.change(isr=(1, 2))
    assert trio.high_watermark == 10


def test_a_proposal_is_sent_again_until_the_image_decides() -> None:
    trio = Trio(OUT_OF_SYNC)
    trio.fetch(3, 0)
    trio.pass_ms(1)
    trio.link.asked[-1][2]()  # it failed
    trio.pass_ms(100)
    trio.link.answer()
    trio.pass_ms(2000)
    assert trio.link.proposed == [[1, 2, 3]] * 3
    trio.change(isr=(1, 2, 3))
    trio.link.answer()
    trio.pass_ms(5000)
    assert len(trio.link.asked) == 3


def test_a_refused_follower_is_proposed_again_by_its_next_fetch() -> None:
    trio = Trio(OUT_OF_SYNC)
    trio.fetch(3, 0)
    trio.pass_ms(1)
    trio.link.answer(ErrorCode.INELIGIBLE_REPLICA)
    trio.pass_ms(5000)
    assert len(trio.link.asked) == 1
    trio.fetch(3, 0)
    trio.pass_ms(1)
    assert len(trio.link.asked) == 2


def test_a_follower_is_proposed_when_the_image_catches_up_with_it() -> None:
    trio = Trio(OUT_OF_SYNC)
    trio.fetch(3, 0, broker_epoch=EPOCHS[3] + 1)
    trio.install(BrokerChanged(replace(trio.node.image.brokers[3], epoch=EPOCHS[3] + 1)))
    trio.pass_ms(1)
    assert trio.link.proposed == [[1, 2, 3]]


def test_a_proposal_is_dropped_with_the_office() -> None:
    trio = Trio(OUT_OF_SYNC)
    trio.fetch(3, 0)
    trio.pass_ms(1)
    trio.change(leader=2)
    trio.link.asked[-1][2]()
    trio.pass_ms(5000)
    assert len(trio.link.asked) == 1


# --- failed disks ------------------------------------------------------------------------------------------


def test_the_controller_hears_of_a_failed_disk_until_others_are_counted_on() -> None:
    trio = Trio()
    produced = trio.produce()
    trio.node.disk_failed(trio.partition, OSError("no such device"))
    assert code(produced.data) == ErrorCode.KAFKA_STORAGE_ERROR
    trio.pass_ms(3000)
    told = [each for each in trio.link.others if isinstance(each, ReplicasOfflineRequest)]
    assert [(row.topic_id, list(row.partitions)) for row in told[0].topics] == [(TOPIC_ID, [0])]
    assert len(told) > 1
    trio.change(leader=2, isr=(2, 3))
    count = len(trio.link.others)
    trio.pass_ms(3000)
    assert len(trio.link.others) == count


def test_a_disk_that_fails_under_the_list_of_aborted_transactions_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_arguments: object) -> None:
        raise OSError("no such device")

    trio = Trio()
    trio.append(3)
    monkeypatch.setattr(Log, "aborted_transactions", fail)
    fetched = trio.fetch(-1, 0, isolation_level=1).data
    assert fetched is not None
    assert fetched.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert trio.partition.log is None, "the directory is offline"
