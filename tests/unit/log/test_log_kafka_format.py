"""Byte for byte Kafka's disk: its files open here, and what we write from the same batches is the same."""

from __future__ import annotations

import struct

import pytest
from tests.unit.log.kafka_written import FILES, FIRST_TIMESTAMP
from tests.unit.log.log_support import DIRECTORY, append, batch, open_test_log, read_all

from barnabas.log.config import LogConfig
from barnabas.log.log import Log
from barnabas.sim.disk import SimulatedDisk

CONFIG = LogConfig(index_interval_bytes=100)
NOW_MS = FIRST_TIMESTAMP + 1000


def disk_with(*suffixes: str) -> SimulatedDisk:
    disk = SimulatedDisk()
    disk.make_directories(DIRECTORY)
    for name, data in FILES.items():
        if name.endswith(suffixes):
            disk.open(f"{DIRECTORY}/{name}", create=True).append([data])
    return disk


def opened(disk: SimulatedDisk, *, clean: bool) -> Log:
    return open_test_log(disk, CONFIG, clean=clean, now_ms=NOW_MS)


@pytest.mark.parametrize("clean", [True, False])
def test_a_log_written_by_kafka_opens(clean: bool) -> None:
    log = opened(disk_with(".log", ".index", ".timeindex", ".txnindex", ".snapshot"), clean=clean)
    assert (log.log_start_offset, log.log_end_offset) == (0, 24)
    assert log.segments.base_offsets == [0, 19]
    seen = [log.offset_for_timestamp(FIRST_TIMESTAMP + after_ms) for after_ms in (0, 4, 10, 31, 42)]
    assert [one.offset for one in seen if one is not None] == [0, 1, 8, 16, 19]
    log.update_high_watermark(24)
    assert log.last_stable_offset == 24
    for offset, expected in ((18, [(18, 19)]), (19, [(18, 19), (22, 23)]), (20, [(22, 23)])):
        read = log.read(offset, 1 << 20, upper_offset=24)
        found = log.aborted_transactions(read, 24)
        assert [(one.first_offset, one.last_offset) for one in found] == expected


def test_everything_beside_the_records_can_be_rebuilt_as_kafka_wrote_it() -> None:
    disk = disk_with(".log")
    opened(disk, clean=False).close()
    rebuilt = {name: disk.read_bytes(f"{DIRECTORY}/{name}") for name in FILES}
    assert rebuilt == FILES


def test_a_follower_of_kafka_writes_the_same_files() -> None:
    disk = SimulatedDisk()
    log = opened(disk, clean=True)
    for name in sorted(FILES):
        if name.endswith(".log"):
            if log.size:
                log.roll(NOW_MS)
            data = bytearray(FILES[name])
            log.append_as_follower(data, 0, len(data), now_ms=NOW_MS)
    log.close()
    written = {name: disk.read_bytes(f"{DIRECTORY}/{name}") for name in FILES}
    assert written == FILES


def test_the_files_of_a_partition_and_their_content() -> None:
    disk = SimulatedDisk()
    log = open_test_log(disk, LogConfig(index_interval_bytes=0))
    for timestamp in (1000, 1500, 1200):
        append(log, batch(2, timestamps=[timestamp, timestamp]), leader_epoch=4)
    log.close().sync()
    size = len(batch(2))
    content = {name: disk.read_bytes(f"{DIRECTORY}/{name}") for name in disk.list(DIRECTORY)}
    assert sorted(content) == [
        "00000000000000000000.index",
        "00000000000000000000.log",
        "00000000000000000000.timeindex",
        "00000000000000000006.snapshot",
        "leader-epoch-checkpoint",
    ]
    assert content["00000000000000000000.index"] == struct.pack(">iiii", 3, size, 5, 2 * size)
    assert content["00000000000000000000.timeindex"] == struct.pack(">qi", 1500, 3)
    assert content["leader-epoch-checkpoint"] == b"0\n1\n4 0\n"
    assert read_all(open_test_log(disk), 0) == [(0, 1), (2, 3), (4, 5)]
