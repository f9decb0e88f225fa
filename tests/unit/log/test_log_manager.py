from __future__ import annotations

import errno

import pytest
from tests.support.chance import SeededRandom
from tests.unit.log.log_support import append, batch

from barnabas.log.chores import Chore
from barnabas.log.config import LogConfig
from barnabas.log.manager import LogManager
from barnabas.log.meta_properties import InconsistentDirectoryError
from barnabas.log.upkeep import ManagerSettings
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.sim.disk import CrashMode, SimulatedDisk

TRUCKS = TopicPartition("trucks", 0)
TOPIC_ID = bytes(range(16))
CLUSTER = "MkU3OEVBNTcwNTJENDM2Qk"


def opened(
    disk: SimulatedDisk,
    *paths: str,
    now_ms: int = 1000,
    config: LogConfig | None = None,
    cluster_id: str = CLUSTER,
    node_id: int = 1,
) -> LogManager:
    manager = LogManager(disk, paths or ("/one", "/two"), SeededRandom(1), ManagerSettings())
    manager.open_all(cluster_id, node_id, lambda _topic: config or LogConfig(), now_ms)
    return manager


def run(manager: LogManager, chores: list[Chore], now_ms: int) -> None:
    for chore in chores:
        error: OSError | None = None
        try:
            chore.run()
        except OSError as raised:
            error = raised
        manager.upkeep.finish(chore, error, now_ms)


def tick(manager: LogManager, now_ms: int) -> None:
    run(manager, manager.upkeep.tick(now_ms), now_ms)


def test_new_logs_go_where_there_are_fewest() -> None:
    manager = opened(SimulatedDisk())
    for number in range(6):
        manager.create(TopicPartition("t", number), TOPIC_ID, LogConfig(), 1000)
    assert [len(directory.logs) for directory in manager.directories] == [3, 3]


@pytest.mark.parametrize("clean", [True, False])
def test_every_log_is_there_after_a_restart(clean: bool) -> None:
    disk = SimulatedDisk()
    manager = opened(disk)
    for number in range(4):
        log = manager.create(TopicPartition("t", number), TOPIC_ID, LogConfig(), 1000)
        append(log, batch(number + 1))
        log.update_high_watermark(number + 1)
    run(manager, manager.upkeep.tick(10_000), 10_000)
    if clean:
        manager.close_all(1000, broker_epoch=7)
    disk.crash(SeededRandom(0), CrashMode.KEEP)
    manager = opened(disk)
    assert {str(partition): log.log_end_offset for partition, log in manager.logs.items()} == {
        "t-0": 1,
        "t-1": 2,
        "t-2": 3,
        "t-3": 4,
    }
    assert all(log.high_watermark == log.log_end_offset for log in manager.logs.values())
    assert all(log.topic_id == TOPIC_ID for log in manager.logs.values())


def test_the_clean_mark_is_written_last_and_used_once() -> None:
    disk = SimulatedDisk()
    manager = opened(disk, "/one")
    append(manager.create(TRUCKS, TOPIC_ID, LogConfig(), 1000), batch(1))
    manager.close_all(1000, broker_epoch=7)
    assert disk.read_bytes("/one/.kafka_cleanshutdown") == b'{"version":0,"brokerEpoch":7}'
    assert disk.read_bytes("/one/recovery-point-offset-checkpoint") == b"0\n1\ntrucks 0 1\n"
    opened(disk, "/one")
    assert not disk.exists("/one/.kafka_cleanshutdown")


def test_a_clean_stop_survives_power_loss_without_recovery() -> None:
    disk = SimulatedDisk()
    disk.make_directories("/one")
    disk.sync_directory("/")
    manager = opened(disk, "/one")
    log = manager.create(TRUCKS, TOPIC_ID, LogConfig(index_interval_bytes=0), 1000)
    for number in range(5):
        append(log, batch(1, timestamps=[1000 + number]))
    manager.close_all(1000)
    disk.crash(SeededRandom(5), CrashMode.DROP)
    manager = opened(disk, "/one")
    log = manager.logs[TRUCKS]
    assert log.log_end_offset == log.recovery_point == 5
    assert len(log.active.offset_index) == 4
    assert log.active.offset_index.written == 4  # read, not rebuilt


def test_a_directory_of_another_cluster_or_node_is_refused() -> None:
    disk = SimulatedDisk()
    opened(disk, "/one").close_all(1000)
    with pytest.raises(InconsistentDirectoryError, match=r"Invalid cluster\.id"):
        opened(disk, "/one", cluster_id="another")
    with pytest.raises(InconsistentDirectoryError, match=r"Invalid node\.id"):
        opened(disk, "/one", node_id=2)


def test_a_directory_formatted_by_kafka_is_accepted_and_keeps_its_id() -> None:
    disk = SimulatedDisk()
    disk.make_directories("/one/__cluster_metadata-0")
    disk.make_directories("/two")
    version_1 = (
        "#\n#Sun Nov 15 09:38:00 UTC 2026\nnode.id=1\ndirectory.id=_Fj-raaK_B8vxFzu4klrjw\nversion=1\n"
        f"cluster.id={CLUSTER}\n"
    )
    disk.write_bytes_durably("/one/meta.properties", version_1.encode())
    disk.write_bytes_durably("/two/meta.properties", f"version=0\nbroker.id=1\ncluster.id={CLUSTER}".encode())
    manager = opened(disk)
    assert manager.stored_cluster_id() == CLUSTER
    assert manager.logs == {}
    assert disk.read_bytes("/one/meta.properties") == version_1.encode()
    assert b"directory.id=" in disk.read_bytes("/two/meta.properties")


def test_a_deleted_log_is_gone_at_once_and_its_files_after_the_delay() -> None:
    disk = SimulatedDisk()
    manager = opened(disk, "/one")
    log = manager.create(TRUCKS, TOPIC_ID, LogConfig(file_delete_delay_ms=500), 1000)
    append(log, batch(1))
    reading = log.read(0, 100, upper_offset=1)
    manager.delete(TRUCKS, 1000)
    assert manager.get(TRUCKS) is None
    folders = [name for name in disk.list("/one") if name.endswith("-delete")]
    assert len(folders) == 1
    assert folders[0].startswith("trucks-0.")
    assert manager.create(TRUCKS, TOPIC_ID, LogConfig(), 1000).log_end_offset == 0
    tick(manager, 1499)
    assert disk.exists(f"/one/{folders[0]}")
    assert reading.slice is not None
    assert reading.slice.file.read(0, 8) == bytes(8)
    tick(manager, 1500)
    assert not disk.exists(f"/one/{folders[0]}")
    assert disk.exists("/one/trucks-0")


def test_a_deletion_interrupted_by_a_stop_is_finished_at_the_next_start() -> None:
    disk = SimulatedDisk()
    manager = opened(disk, "/one")
    manager.create(TRUCKS, TOPIC_ID, LogConfig(), 1000)
    manager.delete(TRUCKS, 1000)
    manager = opened(disk, "/one", now_ms=2000)
    assert manager.logs == {}
    tick(manager, 2000)
    assert not [name for name in disk.list("/one") if "trucks" in name]


def test_stray_and_foreign_folders_are_left_alone() -> None:
    disk = SimulatedDisk()
    for folder in ("/one/trucks-0.abc-stray", "/one/lost+found", "/one/remote-log-index-cache"):
        disk.make_directories(folder)
    manager = opened(disk, "/one")
    assert manager.logs == {}
    assert disk.exists("/one/trucks-0.abc-stray")


def test_a_failing_disk_takes_only_its_own_partitions_offline() -> None:
    disk = SimulatedDisk()
    manager = opened(disk)
    for number in range(2):
        append(manager.create(TopicPartition("t", number), TOPIC_ID, LogConfig(), 1000), batch(1))
    disk.fail("/one", errno.EIO)
    lost = manager.logs[TopicPartition("t", 0)]
    with pytest.raises(OSError, match="Input/output") as failure:
        append(lost, batch(1))
    assert manager.fail_log(TopicPartition("t", 0), failure.value) == [TopicPartition("t", 0)]
    with pytest.raises(ApiError) as refused:
        manager.get(TopicPartition("t", 0))
    assert refused.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert not manager.all_offline
    other = manager.get(TopicPartition("t", 1))
    assert other is not None
    assert append(other, batch(1)) == 1
    manager.create(TopicPartition("new", 0), TOPIC_ID, LogConfig(), 1000)
    manager.close_all(1000)
    assert disk.exists("/two/.kafka_cleanshutdown")


def test_a_disk_that_fails_at_the_start_leaves_the_others_working() -> None:
    disk = SimulatedDisk()
    opened(disk).close_all(1000)
    disk.fail("/one")
    manager = opened(disk)
    assert [directory.online for directory in manager.directories] == [False, True]


def test_a_checkpoint_that_cannot_be_written_takes_the_directory_offline() -> None:
    disk = SimulatedDisk()
    manager = opened(disk)
    manager.create(TRUCKS, TOPIC_ID, LogConfig(), 1000)
    disk.fail("/one", errno.ENOSPC)
    tick(manager, 61_000)
    assert [directory.online for directory in manager.directories] == [False, True]


def test_rolled_segments_are_flushed_and_the_recovery_point_follows() -> None:
    manager = opened(SimulatedDisk(), "/one")
    log = manager.create(TRUCKS, TOPIC_ID, LogConfig(segment_bytes=200), 1000)
    for _ in range(7):
        append(log, batch(1))
    assert log.recovery_point == 0
    assert manager.upkeep.next_tick_ms(1001) == 1001
    tick(manager, 1001)
    assert log.recovery_point == log.active.base_offset > 0
    assert manager.upkeep.next_tick_ms(1001) > 1001


def test_retention_runs_at_its_interval() -> None:
    disk = SimulatedDisk()
    manager = opened(disk, "/one")
    log = manager.create(TRUCKS, TOPIC_ID, LogConfig(segment_bytes=100, retention_ms=10), 1000)
    for _ in range(3):
        append(log, batch(1))
    log.update_high_watermark(3)
    tick(manager, 300_999)
    assert log.log_start_offset == 0
    tick(manager, 301_000)
    assert log.log_start_offset == 3
    tick(manager, 361_000)
    assert not [name for name in disk.list("/one/trucks-0") if name.endswith(".deleted")]


def test_the_log_start_is_checkpointed_when_no_file_name_tells_it() -> None:
    disk = SimulatedDisk()
    manager = opened(disk, "/one")
    log = manager.create(TRUCKS, TOPIC_ID, LogConfig(), 1000)
    append(log, batch(5))
    log.update_high_watermark(5)
    log.delete_records_before(3)
    tick(manager, 61_000)
    assert disk.read_bytes("/one/log-start-offset-checkpoint") == b"0\n1\ntrucks 0 3\n"
    disk.crash(SeededRandom(0), CrashMode.KEEP)
    assert opened(disk, "/one").logs[TRUCKS].log_start_offset == 3


def test_a_log_made_while_a_disk_is_away_is_later_than_the_one_that_disk_comes_back_with() -> None:
    """A replica went elsewhere and came again meanwhile: nobody else remembers the old one."""
    disk = SimulatedDisk()
    manager = opened(disk)
    append(manager.create(TRUCKS, TOPIC_ID, LogConfig(), 1000), batch(1))
    manager.close_all(1000)
    disk.fail("/one")
    manager = opened(disk, now_ms=2000)
    log = manager.create(TRUCKS, TOPIC_ID, LogConfig(), 2000)
    assert log.directory == f"/two/{TRUCKS}"
    append(log, batch(3))
    manager.close_all(2000)
    disk.heal()
    manager = opened(disk, now_ms=3000)
    assert manager.logs[TRUCKS].directory == f"/two/{TRUCKS}"
    assert manager.logs[TRUCKS].log_end_offset == 3
