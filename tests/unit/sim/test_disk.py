"""The simulated disk forgets exactly what was not synced."""

from __future__ import annotations

import errno

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.chance import SeededRandom

from barnabas.sim.disk import CrashMode, PowerLostError, SimulatedDisk
from barnabas.sim.inodes import PAGE_SIZE


def test_power_loss_drops_what_was_not_synced() -> None:
    disk = SimulatedDisk()
    file = disk.open("/a", create=True)
    file.append([b"synced"])
    file.sync()
    disk.sync_directory("/")
    file.append([b" lost"])
    disk.crash(SeededRandom(1), CrashMode.DROP)
    assert disk.read_bytes("/a") == b"synced"


def test_a_name_survives_only_if_its_directory_was_synced() -> None:
    disk = SimulatedDisk()
    file = disk.open("/a", create=True)
    file.append([b"x"])
    file.sync()
    disk.crash(SeededRandom(1), CrashMode.DROP)
    assert disk.list("/") == []


def test_an_unsynced_rename_is_undone() -> None:
    disk = SimulatedDisk()
    disk.write_bytes_durably("/a", b"1")
    disk.write_bytes_durably("/b", b"2")
    disk.rename("/a", "/b")
    disk.crash(SeededRandom(1), CrashMode.DROP)
    assert (disk.read_bytes("/a"), disk.read_bytes("/b")) == (b"1", b"2")


def test_a_killed_process_loses_nothing_but_its_open_files() -> None:
    disk = SimulatedDisk()
    file = disk.open("/a", create=True)
    file.append([b"x"])
    disk.crash(SeededRandom(1), CrashMode.KEEP)
    assert disk.read_bytes("/a") == b"x"
    with pytest.raises(OSError, match="Bad file descriptor"):
        file.append([b"y"])


@given(st.integers(0, 10_000), st.integers(0, 4 * PAGE_SIZE), st.integers(1, 4 * PAGE_SIZE))
def test_torn_pages_never_touch_what_was_synced(seed: int, synced: int, unsynced: int) -> None:
    disk = SimulatedDisk()
    file = disk.open("/a", create=True)
    file.append([b"s" * synced])
    file.sync()
    disk.sync_directory("/")
    file.append([b"u" * unsynced])
    disk.crash(SeededRandom(seed), CrashMode.TEAR)
    after = disk.read_bytes("/a")
    assert after[:synced] == b"s" * synced
    assert len(after) <= synced + unsynced
    assert set(after[synced:]) <= {ord("u"), 0}


def test_tearing_can_lose_an_early_page_and_keep_a_late_one() -> None:
    def hole(seed: int) -> bool:
        disk = SimulatedDisk()
        file = disk.open("/a", create=True)
        disk.sync_directory("/")
        file.append([b"u" * (2 * PAGE_SIZE)])
        disk.crash(SeededRandom(seed), CrashMode.TEAR)
        after = disk.read_bytes("/a")
        return after[:1] == b"\0" and b"u" in after[PAGE_SIZE:]

    assert any(hole(seed) for seed in range(100))


def test_durable_bytes_are_the_old_or_the_new_after_a_crash_at_any_step() -> None:
    seen = set()
    for seed in range(60):
        disk = SimulatedDisk()
        disk.write_bytes_durably("/a", b"old")
        disk.stop_after(seed % 7)
        try:
            disk.write_bytes_durably("/a", b"new")
            finished = True
        except PowerLostError:
            finished = False
        disk.crash(SeededRandom(seed), CrashMode.TEAR)
        seen.add(disk.read_bytes("/a"))
        assert not finished or disk.read_bytes("/a") == b"new"
    assert seen == {b"old", b"new"}


def test_after_the_power_is_lost_every_call_fails_until_the_crash() -> None:
    disk = SimulatedDisk()
    disk.stop_after(0)
    with pytest.raises(PowerLostError):
        disk.open("/a", create=True)
    with pytest.raises(PowerLostError):
        disk.exists("/a")
    disk.crash(SeededRandom(1))
    assert not disk.exists("/a")


def test_a_full_prefix_refuses_writes_and_still_reads() -> None:
    disk = SimulatedDisk()
    disk.make_directories("/one")
    disk.make_directories("/two")
    disk.write_bytes_durably("/one/a", b"x")
    disk.fail("/one", errno.ENOSPC)
    assert disk.read_bytes("/one/a") == b"x"
    with pytest.raises(OSError, match="No space left"):
        disk.write_bytes_durably("/one/a", b"y")
    disk.write_bytes_durably("/two/a", b"y")
    disk.heal()
    disk.write_bytes_durably("/one/a", b"y")


def test_a_broken_prefix_refuses_everything() -> None:
    disk = SimulatedDisk()
    disk.make_directories("/one")
    file = disk.open("/one/a", create=True)
    disk.fail("/one", errno.EIO)
    for call in (lambda: file.read(0, 1), file.sync, lambda: disk.list("/one"), lambda: file.append([b"x"])):
        with pytest.raises(OSError, match="Input/output error"):
            call()


def test_a_disk_that_is_full_refuses_the_whole_append() -> None:
    disk = SimulatedDisk(capacity=10)
    file = disk.open("/a", create=True)
    file.append([b"12345678"])
    with pytest.raises(OSError, match="No space left"):
        file.append([b"90", b"1"])
    assert disk.read_bytes("/a") == b"12345678"
    assert disk.space("/") == (10, 2)
    disk.remove("/a")
    assert disk.space("/") == (10, 10)
