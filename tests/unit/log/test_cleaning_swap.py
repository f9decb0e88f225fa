"""A crash at any step of a cleaning leaves the old segments or the new ones, never neither."""

from __future__ import annotations

import pytest
from tests.support.chance import SeededRandom
from tests.unit.log.compaction import Partition

from barnabas.log.cleaning.cleaned_segment import segment_path
from barnabas.log.cleaning.rewrite import batches_of, run
from barnabas.log.cleaning.swap import discard_cleaned, swap_in
from barnabas.log.leftovers import settle
from barnabas.sim.disk import CrashMode, PowerLostError, SimulatedDisk, SimulatedFile


def dirty_partition() -> tuple[SimulatedDisk, Partition]:
    """Two groups of two segments, with an aborted transaction in the first."""
    disk = SimulatedDisk()
    partition = Partition(disk)
    first = partition.write(
        (b"a", b"x" * 300), producer_id=7, producer_epoch=0, base_sequence=0, transactional=1
    )
    partition.write((b"a", b"1"), (b"b", b"1"))
    partition.roll()
    partition.end_transaction(7, first_offset=first, committed=False)
    partition.write((b"a", b"2"), (b"c", b"1" * 300))
    partition.roll()
    partition.write((b"d", b"y" * 400), (b"b", b"2"))
    partition.roll()
    partition.write((b"d", None), (b"c", b"2"))
    partition.roll()
    partition.write((b"e", b"1"))
    partition.segment_bytes = 1200
    partition.store()
    return disk, partition


def names(partition: Partition) -> set[str]:
    return {name.rpartition(".")[2] for name in partition.fs.list("/t-0")}


def changes_of_one_cleaning() -> int:
    disk, partition = dirty_partition()
    before = disk.changes
    partition.compact()
    return disk.changes - before


# Aborted records are no part of what a reader of committed data sees.
TABLE = {b"a": b"2", b"b": b"2", b"c": b"2", b"e": b"1"}


def test_the_scenario_has_two_groups() -> None:
    _, partition = dirty_partition()
    assert len(partition.compact()) == 3
    assert partition.table() == TABLE
    assert names(partition) == {"log", "index", "timeindex", "txnindex"}


@pytest.mark.parametrize("mode", [CrashMode.DROP, CrashMode.TEAR, CrashMode.KEEP])
def test_a_crash_at_any_step_loses_nothing_and_the_next_cleaning_finishes(mode: CrashMode) -> None:
    steps = changes_of_one_cleaning()
    assert steps > 40
    for step in range(steps):
        disk, partition = dirty_partition()
        disk.stop_after(step)
        with pytest.raises(PowerLostError):
            partition.compact()
        disk.crash(SeededRandom(step), mode)
        settle(disk, "/t-0")
        assert names(partition) <= {"log", "index", "timeindex", "txnindex"}, step
        assert all(
            disk.exists(segment_path("/t-0", base, suffix))
            for base in partition.bases()
            for suffix in (".index", ".timeindex")
        ), step
        offsets = [header.base_offset for _, header in partition.batches()]
        assert offsets == sorted(set(offsets)), step
        assert partition.batches()[-1][1].next_offset == partition.next_offset
        assert partition.table() == TABLE, step
        partition.clean_offset = 0
        partition.compact_fully()
        assert partition.table() == TABLE, step


def test_a_crash_during_recovery_is_recovered_too() -> None:
    for step in range(changes_of_one_cleaning()):
        for second in range(6):
            disk, partition = dirty_partition()
            disk.stop_after(step)
            with pytest.raises(PowerLostError):
                partition.compact()
            disk.crash(SeededRandom(step), CrashMode.TEAR)
            disk.stop_after(second)
            try:
                settle(disk, "/t-0")
            except PowerLostError:
                disk.crash(SeededRandom(second), CrashMode.TEAR)
                settle(disk, "/t-0")
            disk.stop_after(1 << 30)
            assert partition.table() == TABLE, (step, second)


class ForgetfulDisk(SimulatedDisk):
    """A cleaner that forgets to sync what it writes."""

    def open(self, path: str, *, create: bool = False) -> SimulatedFile:
        file = super().open(path, create=create)
        if path.endswith(".cleaned"):
            file.sync = lambda: None  # type: ignore[method-assign]
        return file


def test_a_cleaner_that_does_not_sync_is_caught_by_the_crash() -> None:
    _, partition = dirty_partition()
    disk = partition.fs = ForgetfulDisk()
    partition.store()
    partition.compact()
    assert partition.table() == TABLE
    disk.crash(SeededRandom(1), CrashMode.DROP)
    settle(disk, "/t-0")
    assert partition.table() != TABLE


def test_old_segments_that_are_gone_already_are_passed_over() -> None:
    disk, partition = dirty_partition()
    (group, *_) = run(disk, partition.job())
    disk.remove("/t-0/00000000000000000000.log")
    deleted = swap_in(disk, "/t-0", group.base_offset, group.old_segments)  # type: ignore[union-attr]
    assert not any(path.startswith("/t-0/00000000000000000000.log") for path in deleted)
    assert all(path.endswith(".deleted") for path in deleted)
    list(batches_of(disk, "/t-0/00000000000000000000.log", lambda _: None))


def test_an_abandoned_cleaning_can_be_discarded() -> None:
    disk, partition = dirty_partition()
    before = disk.list("/t-0")
    next(iter(run(disk, partition.job())))
    assert disk.list("/t-0") != before
    discard_cleaned(disk, "/t-0")
    assert disk.list("/t-0") == before


def test_recovery_leaves_a_healthy_directory_and_other_files_alone() -> None:
    disk, _partition = dirty_partition()
    for name in ("leader-epoch-checkpoint", "partition.metadata", "00000000000000000003.snapshot"):
        disk.write_bytes_durably(f"/t-0/{name}", b"x")
    before = disk.list("/t-0")
    settle(disk, "/t-0")
    assert disk.list("/t-0") == before
