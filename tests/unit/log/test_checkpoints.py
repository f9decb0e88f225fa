from __future__ import annotations

import errno

import pytest

from barnabas.log.checkpoints import (
    EpochEntry,
    read_epochs,
    read_offsets,
    write_epochs,
    write_offsets,
)
from barnabas.model.ids import TopicPartition
from barnabas.sim.disk import SimulatedDisk


def test_offsets_are_written_as_kafka_writes_them() -> None:
    disk = SimulatedDisk()
    write_offsets(
        disk, "/c", {TopicPartition("b", 1): 7, TopicPartition("a", 10): 2, TopicPartition("a", 2): 3}
    )
    assert disk.read_bytes("/c") == b"0\n3\na 2 3\na 10 2\nb 1 7\n"
    assert read_offsets(disk, "/c").offsets[TopicPartition("a", 10)] == 2


def test_epochs_are_written_as_kafka_writes_them() -> None:
    disk = SimulatedDisk()
    write_epochs(disk, "/c", [EpochEntry(0, 0), EpochEntry(3, 120)])
    assert disk.read_bytes("/c") == b"0\n2\n0 0\n3 120\n"
    assert read_epochs(disk, "/c").entries == (EpochEntry(0, 0), EpochEntry(3, 120))


@pytest.mark.parametrize("data", [None, b"", b"0\n0\n"])
def test_a_missing_or_empty_file_is_no_problem(data: bytes | None) -> None:
    disk = SimulatedDisk()
    if data is not None:
        disk.write_bytes_durably("/c", data)
    assert read_offsets(disk, "/c").offsets == {}
    assert read_offsets(disk, "/c").problem is None


@pytest.mark.parametrize(
    "data",
    [
        b"1\n0\n",
        b"0\n",
        b"0\n2\na 0 1\n",
        b"0\n1\na 0\n",
        b"0\n1\na 0 x\n",
        b"0\nx\na 0 1\n",
        b"\xff\xfe\x00\x01",
        bytes(4096),
    ],
)
def test_garbage_is_reported_and_read_as_empty(data: bytes) -> None:
    disk = SimulatedDisk()
    disk.write_bytes_durably("/c", data)
    checkpoint = read_offsets(disk, "/c")
    assert checkpoint.offsets == {}
    assert checkpoint.problem is not None
    assert "/c" in checkpoint.problem


def test_negative_epochs_are_garbage() -> None:
    disk = SimulatedDisk()
    disk.write_bytes_durably("/c", b"0\n1\n-1 5\n")
    assert read_epochs(disk, "/c").entries == ()
    assert read_epochs(disk, "/c").problem is not None


def test_a_broken_disk_is_not_mistaken_for_an_empty_file() -> None:
    disk = SimulatedDisk()
    write_offsets(disk, "/c", {TopicPartition("a", 0): 1})
    disk.fail("/c", errno.EIO)
    with pytest.raises(OSError, match="Input/output"):
        read_offsets(disk, "/c")
