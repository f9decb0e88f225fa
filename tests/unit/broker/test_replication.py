"""Leaders and followers together: whole nodes on disks and lines in memory, without a controller."""

from __future__ import annotations

import pytest
from tests.support.nodes import Nodes

from barnabas.model.errors import ErrorCode
from barnabas.model.image import ClusterImage
from barnabas.replication.leader import Committed


def led_by_one(*broker_ids: int, **settings: str) -> Nodes:
    nodes = Nodes(*broker_ids, **settings)
    nodes.change(nodes.topic("t", leader=1))
    nodes.run(100)
    return nodes


def same_everywhere(nodes: Nodes, topic: str = "t") -> bool:
    return len({nodes.values(each, topic) for each in nodes.running}) == 1


def test_acks_all_is_answered_when_every_replica_has_the_record() -> None:
    nodes = led_by_one(1, 2, 3)
    asked = nodes.produce(1, "t", [b"one", b"two"], acks=-1)
    nodes.run(10)
    assert asked.error_code == ErrorCode.NONE
    assert same_everywhere(nodes)
    assert nodes.ends("t")[1] == (2, 2)


def test_acks_all_waits_for_a_replica_that_is_cut_off() -> None:
    nodes = led_by_one(1, 2, 3)
    nodes.network.cut = {(3, 1)}
    asked = nodes.produce(1, "t", [b"one"], acks=-1)
    nodes.run(1_000)
    assert asked.error_code is None
    assert nodes.ends("t")[1] == (0, 1)
    nodes.network.cut = set()
    nodes.run(40_000)  # until the line is given up
    assert asked.error_code == ErrorCode.NONE
    assert same_everywhere(nodes)


def test_followers_learn_at_once_what_is_committed() -> None:
    nodes = led_by_one(1, 2, 3)
    nodes.produce(1, "t", [b"one"])
    nodes.run(10)
    assert nodes.ends("t") == {1: (1, 1), 2: (1, 1), 3: (1, 1)}


def test_a_follower_that_was_away_catches_up() -> None:
    nodes = led_by_one(1, 2)
    nodes.stop(2)
    for number in range(50):
        nodes.produce(1, "t", [b"%d" % number])
    nodes.run(100)
    nodes.start(2)
    nodes.run(2_000)
    assert nodes.ends("t") == {1: (50, 50), 2: (50, 50)}
    assert same_everywhere(nodes)


@pytest.mark.parametrize("orderly", [True, False])
def test_a_follower_goes_on_after_a_restart(orderly: bool) -> None:
    nodes = led_by_one(1, 2)
    nodes.produce(1, "t", [b"before"], acks=-1)
    nodes.run(1_000)
    nodes.restart(2, orderly=orderly)
    asked = nodes.produce(1, "t", [b"after"], acks=-1)
    nodes.run(2_000)
    assert asked.error_code == ErrorCode.NONE
    assert nodes.ends("t") == {1: (2, 2), 2: (2, 2)}
    assert same_everywhere(nodes)


def test_a_leader_goes_on_after_a_restart() -> None:
    nodes = led_by_one(1, 2)
    nodes.produce(1, "t", [b"before"], acks=-1)
    nodes.run(1_000)
    nodes.restart(1)
    nodes.elect("t", 1, isr=(1, 2))
    asked = nodes.produce(1, "t", [b"after"], acks=-1)
    nodes.run(3_000)
    assert asked.error_code == ErrorCode.NONE
    assert same_everywhere(nodes)


def test_what_only_the_old_leader_had_is_cut_when_it_follows() -> None:
    nodes = led_by_one(1, 2, 3)
    nodes.produce(1, "t", [b"committed"], acks=-1)
    nodes.run(1_000)
    nodes.network.cut = {(2, 1), (3, 1)}
    lost = nodes.produce(1, "t", [b"lost", b"lost"], acks=-1)
    nodes.run(1_000)
    assert nodes.ends("t")[1] == (1, 3)
    nodes.network.cut = set()
    nodes.elect("t", 2, isr=(2, 3), among=(2, 3))
    kept = nodes.produce(2, "t", [b"kept"], acks=-1)
    nodes.run(1_000)
    assert kept.error_code == ErrorCode.NONE
    nodes.learn(1)
    nodes.run(3_000)
    assert lost.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert nodes.ends("t") == {1: (2, 2), 2: (2, 2), 3: (2, 2)}
    assert same_everywhere(nodes)


def test_logs_that_parted_several_times_agree_again() -> None:
    """KIP-279: the follower's last epoch is unknown to the leader, and so is the one before."""
    nodes = led_by_one(1, 2)
    nodes.produce(1, "t", [b"common"], acks=-1)
    nodes.run(1_000)
    nodes.network.cut = {(1, 2), (2, 1)}
    for _ in range(3):
        nodes.elect("t", 1, isr=(1,), among=(1,))
        nodes.produce(1, "t", [b"of 1", b"of 1"])
        nodes.run(10)
        nodes.elect("t", 2, isr=(2,), among=(2,))
        nodes.produce(2, "t", [b"of 2"])
        nodes.run(10)
    nodes.network.cut = set()
    nodes.elect("t", 2, isr=(2,))
    nodes.run(60_000)
    assert nodes.ends("t")[1][1] == 4
    assert same_everywhere(nodes)


def test_an_unclean_leader_with_less_has_its_followers_cut() -> None:
    nodes = led_by_one(1, 2)
    nodes.produce(1, "t", [b"both"], acks=-1)
    nodes.run(1_000)
    nodes.stop(2)
    nodes.produce(1, "t", [b"only", b"one"])
    nodes.run(10)
    nodes.stop(1)
    nodes.start(2)
    nodes.elect("t", 2, isr=(2,))
    nodes.start(1)
    nodes.run(2_000)
    assert nodes.ends("t")[1][1] == nodes.ends("t")[2][1] == 1
    assert same_everywhere(nodes)


def test_many_partitions_follow_over_one_line() -> None:
    nodes = Nodes(1, 2)
    nodes.change(nodes.topic("t", leader=1, partitions=50))
    nodes.run(100)
    for index in range(50):
        nodes.produce(1, "t", [b"%d" % index], index=index, acks=-1)
    nodes.run(1_000)
    assert {nodes.ends("t", index)[2] for index in range(50)} == {(1, 1)}
    assert len([line for line in nodes.network.lines if line.source == 2]) == 1


def test_a_follower_survives_answers_that_are_garbage() -> None:
    nodes = led_by_one(1, 2)
    nodes.produce(1, "t", [b"x" * 1000])
    nodes.run(5)
    nodes.network.tamper = lambda frame: frame[: len(frame) // 2]
    nodes.produce(1, "t", [b"y" * 1000])
    nodes.run(3_000)
    nodes.network.tamper = lambda frame: frame
    nodes.run(3_000)
    assert nodes.ends("t")[2] == (2, 2)
    assert same_everywhere(nodes)


def test_records_deleted_at_the_leader_go_from_followers() -> None:
    nodes = led_by_one(1, 2)
    nodes.produce(1, "t", [b"a", b"b", b"c"], acks=-1)
    nodes.run(1_000)
    log = nodes.partition(1, "t").log
    assert log is not None
    log.delete_records_before(2)
    nodes.produce(1, "t", [b"d"], acks=-1)
    nodes.run(1_000)
    copy = nodes.partition(2, "t").log
    assert copy is not None
    assert copy.log_start_offset == 2


def test_what_the_leaders_retention_deletes_goes_from_followers_without_another_record() -> None:
    nodes = led_by_one(1, 2, log_retention_ms="10000", log_retention_check_interval_ms="1000")
    nodes.produce(1, "t", [b"a", b"b"], acks=-1)
    nodes.run(5_000)
    nodes[1].upkeep.start()  # and not the follower's: it keeps what its leader has
    nodes.run(4_000)
    starts = {each: nodes.partition(each, "t").log for each in (1, 2)}
    assert {each: log.log_start_offset for each, log in starts.items() if log} == {1: 0, 2: 0}
    nodes.run(5_000)
    assert {each: log.log_start_offset for each, log in starts.items() if log} == {1: 2, 2: 2}


def test_a_new_replica_begins_where_the_leader_begins() -> None:
    nodes = Nodes(1, 2)
    nodes.change(nodes.topic("t", leader=1, replicas=(1,)))
    nodes.run(10)
    nodes.produce(1, "t", [b"a", b"b", b"c"])
    nodes.produce(1, "t", [b"d"])
    nodes.run(10)
    log = nodes.partition(1, "t").log
    assert log is not None
    log.delete_records_before(1)
    nodes.reassign("t", (1, 2))
    nodes.run(2_000)
    copy = nodes.partition(2, "t").log
    assert copy is not None
    assert (copy.log_start_offset, copy.high_watermark, copy.log_end_offset) == (1, 4, 4)
    assert same_everywhere(nodes)


def test_a_fetch_looks_only_at_partitions_that_moved() -> None:
    nodes = Nodes(1, 2)
    nodes.change(nodes.topic("t", leader=1, partitions=20))
    nodes.run(3_000)
    sessions = [session for session in nodes[1].fetch_sessions if session.standing is not None]
    (standing,) = [session.standing for session in sessions]
    assert standing is not None
    assert len(standing) == 20
    nodes.produce(1, "t", [b"one"], index=7, acks=-1)
    nodes.run(1)
    assert len(standing) >= 19
    assert nodes.ends("t", 7)[2][1] == 1
    nodes.run(2_000)
    assert len(standing) == 20
    assert nodes.ends("t", 7)[2] == (1, 1)


def test_a_follower_of_a_quiet_partition_has_its_time_once_records_come() -> None:
    nodes = led_by_one(1, 2, replica_lag_time_max_ms="10000")
    nodes.run(60_000)
    nodes.network.cut = {(2, 1)}
    nodes.produce(1, "t", [b"one"])
    nodes.run(9_000)
    leading = nodes.partition(1, "t").leading
    assert leading is not None
    leading.shrink(1, nodes.now_ms, 10_000)
    assert isinstance(leading.in_sync, Committed)
    nodes.run(2_000)
    leading.shrink(1, nodes.now_ms, 10_000)
    assert not isinstance(leading.in_sync, Committed)


def test_sessions_that_are_over_leave_nobody_behind() -> None:
    nodes = led_by_one(1, 2)
    nodes.run(2_000)
    watching = len(nodes.partition(1, "t").following)
    for _ in range(5):
        nodes[2].fetchers.close()
        nodes[2].fetchers.apply(ClusterImage(), nodes.image)
        nodes.run(2_000)
    assert len(nodes.partition(1, "t").following) <= watching + 5
    nodes.produce(1, "t", [b"one"], acks=-1)
    nodes.run(2_000)
    assert len(nodes.partition(1, "t").following) == watching
    nodes.network.died(2)  # the line breaks, and the follower says which session it had
    nodes.run(2_000)
    assert len(nodes.partition(1, "t").following) == watching
