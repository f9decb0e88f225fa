"""Replicas that move between the log directories of their broker."""

from __future__ import annotations

import pytest
from tests.support.nodes import Nodes

from barnabas.log.log import Log
from barnabas.log.partition_metadata import write_topic_id
from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.model.image import ConfigChanged, ConfigKind, ConfigResource, TopicDeleted
from barnabas.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopic,
)
from barnabas.protocol.messages.describe_log_dirs import DescribeLogDirsRequest, DescribeLogDirsResponse

T = TopicPartition("t", 0)


def two_directories(*broker_ids: int) -> Nodes:
    nodes = Nodes(*broker_ids, log_dirs="/one,/two")
    nodes.change(nodes.topic("t", leader=1))
    nodes.run(100)
    return nodes


def home(nodes: Nodes, broker_id: int = 1) -> str:
    log = nodes.partition(broker_id, "t").log
    assert log is not None
    assert nodes[broker_id].logs.logs[T] is log
    return log.directory.rpartition("/")[0]


def elsewhere(nodes: Nodes, broker_id: int = 1) -> str:
    return "/two" if home(nodes, broker_id) == "/one" else "/one"


def move(nodes: Nodes, path: str, *, broker_id: int = 1, topic: str = "t", index: int = 0) -> int:
    rows = [AlterReplicaLogDir(path, [AlterReplicaLogDirTopic(topic, [index])])]
    asked = nodes.ask(broker_id, 2, AlterReplicaLogDirsRequest(rows))
    nodes.run(0)
    assert isinstance(asked.answer, AlterReplicaLogDirsResponse)
    return asked.answer.results[0].partitions[0].error_code


def described(nodes: Nodes, broker_id: int = 1) -> dict[str, list[tuple[bool, int]]]:
    """Of every directory: whether a partition is only on its way there, and how far it lags."""
    asked = nodes.ask(broker_id, 4, DescribeLogDirsRequest(None))
    nodes.run(0)
    assert isinstance(asked.answer, DescribeLogDirsResponse)
    return {
        result.log_dir: [
            (row.is_future_key, row.offset_lag) for each in result.topics for row in each.partitions
        ]
        for result in asked.answer.results
    }


def throttle(nodes: Nodes, bytes_per_second: int) -> None:
    rate = {"replica.alter.log.dirs.io.max.bytes.per.second": str(bytes_per_second)}
    nodes.change(ConfigChanged(ConfigResource(ConfigKind.BROKER, ""), rate))


def test_a_replica_moves_with_everything_it_holds() -> None:
    nodes = two_directories(1)
    for number in range(30):
        nodes.produce(1, "t", [b"%d" % number * 10_000])
    nodes.run(10)
    target, before = elsewhere(nodes), nodes.values(1, "t")
    assert move(nodes, target) == ErrorCode.NONE
    nodes.run(1_000)
    assert home(nodes) == target
    assert nodes.values(1, "t") == before
    assert nodes.ends("t") == {1: (30, 30)}
    assert len(nodes[1].log_moves) == 0
    fetched = nodes.fetch(1, "t", 7)
    produced = nodes.produce(1, "t", [b"more"], acks=-1)
    nodes.run(10)
    assert (fetched.error_code, produced.error_code) == (0, 0)
    assert nodes.ends("t") == {1: (31, 31)}
    assert sum(map(len, described(nodes).values())) == 1


def test_a_replica_that_moves_goes_on_leading_and_being_followed() -> None:
    nodes = two_directories(1, 2)
    throttle(nodes, 100_000)
    for number in range(100):
        nodes.produce(1, "t", [b"%d" % number * 20_000])
    nodes.run(1_000)
    target = elsewhere(nodes)
    assert move(nodes, target) == ErrorCode.NONE
    for _ in range(20):
        asked = nodes.produce(1, "t", [b"meanwhile"], acks=-1)
        nodes.run(100)
        assert asked.error_code == ErrorCode.NONE
    assert home(nodes) != target
    rows = described(nodes)[target]
    assert [is_future for is_future, _ in rows] == [True]
    assert rows[0][1] > 0
    nodes.run(60_000)
    assert home(nodes) == target
    assert nodes.values(1, "t") == nodes.values(2, "t")
    asked = nodes.produce(1, "t", [b"after"], acks=-1)
    nodes.run(1_000)
    assert asked.error_code == ErrorCode.NONE
    assert nodes.ends("t") == {1: (121, 121), 2: (121, 121)}


def test_a_follower_moves_and_follows_on_even_if_it_is_cut_meanwhile() -> None:
    nodes = two_directories(1, 2)
    throttle(nodes, 10_000)
    nodes.produce(1, "t", [b"x" * 700_000], acks=-1)
    nodes.run(1_000)
    nodes.network.cut = {(2, 1)}
    for _ in range(2):
        nodes.produce(1, "t", [b"lost" * 175_000])
    nodes.run(100)
    target = elsewhere(nodes)
    assert move(nodes, target) == ErrorCode.NONE
    nodes.run(15_000)
    future = nodes[1].logs.futures.get(T)
    assert future is not None
    assert future.log.log_end_offset == 2
    nodes.network.cut = set()
    nodes.elect("t", 2, isr=(2,))
    nodes.produce(2, "t", [b"kept"])
    nodes.run(120_000)
    assert home(nodes) == target
    assert nodes.ends("t")[1][1] == 2
    assert nodes.values(1, "t") == nodes.values(2, "t")


def copied(nodes: Nodes) -> Log:
    future = nodes[1].logs.futures.get(T)
    assert future is not None
    return future.log


def half_moved() -> tuple[Nodes, str]:
    """And where to."""
    nodes = two_directories(1)
    nodes[1].upkeep.start()
    throttle(nodes, 1_000)
    for value in (b"x", b"y", b"z"):
        nodes.produce(1, "t", [value * 700_000])
    nodes.run(10)
    target = elsewhere(nodes)
    move(nodes, target)
    nodes.run(2_000)
    assert copied(nodes).log_end_offset == 1
    return nodes, target


@pytest.mark.parametrize("orderly", [True, False])
def test_a_move_goes_on_after_a_restart_where_it_was(orderly: bool) -> None:
    nodes, target = half_moved()
    nodes.restart(1, orderly=orderly)
    nodes[1].log_moves.resume()
    assert copied(nodes).log_end_offset == 1
    throttle(nodes, 1_000_000)
    nodes.run(30_000)
    assert home(nodes) == target
    assert nodes.ends("t") == {1: (3, 3)}
    assert nodes.disks[1].list(target).count("t-0") == 1
    assert not any(name.endswith("-future") for name in nodes.disks[1].list(target))


def test_a_copy_of_another_topic_of_that_name_is_not_gone_on_with() -> None:
    nodes, target = half_moved()
    (folder,) = [name for name in nodes.disks[1].list(target) if name.endswith("-future")]
    nodes.stop(1)
    write_topic_id(nodes.disks[1], f"{target}/{folder}", b"of another topic")
    nodes.start(1)
    nodes[1].upkeep.start()
    nodes[1].log_moves.resume()
    assert copied(nodes).log_end_offset == 0
    throttle(nodes, 1_000_000)
    nodes.run(120_000)
    assert home(nodes) == target
    assert folder not in nodes.disks[1].list(target)


def test_a_copy_that_nobody_wants_any_more_is_removed() -> None:
    nodes, target = half_moved()
    nodes.stop(1)
    nodes.change(TopicDeleted("t", nodes.image.topics["t"].id))
    nodes.start(1)
    nodes[1].upkeep.start()
    nodes[1].log_moves.resume()
    nodes.run(120_000)
    assert not any(name.endswith("-future") for name in nodes.disks[1].list(target))


def test_of_two_logs_that_a_crash_left_the_later_counts() -> None:
    nodes = two_directories(1)
    nodes.produce(1, "t", [b"one"])
    nodes.run(10)
    source, target = home(nodes), elsewhere(nodes)
    move(nodes, target)
    nodes.run(1_000)
    nodes.produce(1, "t", [b"two"])
    nodes.run(10)
    disk = nodes.disks[1]
    (old,) = [name for name in disk.list(source) if name.endswith("-delete")]
    nodes.stop(1)
    disk.rename(f"{source}/{old}", f"{source}/t-0")
    nodes.start(1)
    assert home(nodes) == target
    assert nodes.ends("t") == {1: (2, 2)}


def test_the_last_word_about_where_to_move_counts() -> None:
    nodes = two_directories(1)
    throttle(nodes, 1_000)
    nodes.produce(1, "t", [b"x" * 700_000])
    nodes.produce(1, "t", [b"y" * 700_000])
    nodes.run(10)
    source, target = home(nodes), elsewhere(nodes)
    assert move(nodes, target) == ErrorCode.NONE
    assert move(nodes, target) == ErrorCode.NONE
    nodes.run(100)
    assert move(nodes, source) == ErrorCode.NONE
    nodes.run(600_000)
    assert home(nodes) == source
    assert described(nodes)[target] == []


def test_a_directory_that_fails_ends_the_move_and_nothing_else() -> None:
    nodes = two_directories(1)
    nodes.produce(1, "t", [b"x" * 100_000])
    nodes.run(10)
    source, target = home(nodes), elsewhere(nodes)
    nodes.disks[1].fail(target)
    assert move(nodes, target) == ErrorCode.KAFKA_STORAGE_ERROR
    nodes.run(1_000)
    asked = nodes.produce(1, "t", [b"on"], acks=-1)
    nodes.run(10)
    assert asked.error_code == ErrorCode.NONE
    assert home(nodes) == source


def test_what_cannot_be_moved_is_said() -> None:
    nodes = two_directories(1)
    assert move(nodes, "/three") == ErrorCode.LOG_DIR_NOT_FOUND
    assert move(nodes, "/two", topic="nowhere") == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert move(nodes, "/two", topic="t" * 230) == ErrorCode.INVALID_TOPIC_EXCEPTION


def test_a_replica_that_is_to_come_comes_where_it_was_asked_to() -> None:
    nodes = Nodes(1, 2, log_dirs="/one,/two")
    nodes.change(nodes.topic("t", leader=1, replicas=(1,)))
    nodes.run(10)
    assert move(nodes, "/two", broker_id=2) == ErrorCode.REPLICA_NOT_AVAILABLE
    nodes.reassign("t", (1, 2))
    assert home(nodes, 2) == "/two"


def test_a_topic_that_is_deleted_leaves_nothing_on_either_disk() -> None:
    nodes = two_directories(1)
    nodes[1].upkeep.start()
    throttle(nodes, 1_000)
    nodes.produce(1, "t", [b"x" * 700_000])
    nodes.produce(1, "t", [b"y" * 700_000])
    nodes.run(10)
    move(nodes, elsewhere(nodes))
    nodes.run(100)
    assert len(nodes[1].log_moves) == 1
    nodes.change(TopicDeleted("t", nodes.image.topics["t"].id))
    nodes.run(120_000)
    assert len(nodes[1].log_moves) == 0
    left = [name for path in ("/one", "/two") for name in nodes.disks[1].list(path)]
    assert [name for name in left if name.startswith("t-")] == []


def test_deleted_records_do_not_come_back_with_a_crash_after_a_move() -> None:
    nodes = two_directories(1)
    nodes[1].upkeep.start()
    nodes.produce(1, "t", [b"a", b"b", b"c"])
    nodes.run(10)
    log = nodes.partition(1, "t").log
    assert log is not None
    log.delete_records_before(2)
    move(nodes, elsewhere(nodes))
    nodes.run(3_000)
    nodes.restart(1, orderly=False)
    log = nodes.partition(1, "t").log
    assert log is not None
    assert (log.log_start_offset, log.log_end_offset) == (2, 3)
