"""Data that is not in memory is read by a worker, never by the loop."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from barnabas.ports import FileSlice
from barnabas.runtime.cold import ColdReads
from barnabas.runtime.files import RealFile, RealFilesystem
from barnabas.runtime.page_cache import PageCache

MEBIBYTE = 1 << 20


class StoppedClock:
    now_ms = 0

    def wall_ms(self) -> int:
        return self.now_ms

    def monotonic_ms(self) -> int:
        return self.now_ms


class AtOnce:
    def submit(
        self, work: Callable[[], object], done: Callable[[object, BaseException | None], None]
    ) -> None:
        done(work(), None)


@pytest.fixture
def old_file(tmp_path: Path) -> str:
    path = tmp_path / "old.log"
    path.write_bytes(os.urandom(8 * MEBIBYTE))
    forget(str(path))
    return str(path)


def forget(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        try:
            os.preadv(descriptor, [bytearray(1)], 4 * MEBIBYTE, os.RWF_NOWAIT)
        except BlockingIOError:
            return
        except OSError as error:
            pytest.skip(f"this filesystem cannot tell what is in memory: {error}")
        pytest.skip("this filesystem keeps everything in memory")
    finally:
        os.close(descriptor)


def test_what_was_just_written_is_warm(tmp_path: Path) -> None:
    path = tmp_path / "new.log"
    path.write_bytes(os.urandom(2 * MEBIBYTE))
    file = RealFilesystem().open(str(path))
    assert not ColdReads(AtOnce(), StoppedClock()).is_cold(FileSlice(file, 0, 2 * MEBIBYTE))


def test_what_the_kernel_forgot_is_cold_until_a_worker_read_it(old_file: str) -> None:
    reads = ColdReads(AtOnce(), StoppedClock())
    part = FileSlice(RealFilesystem().open(old_file), MEBIBYTE, MEBIBYTE)
    assert reads.is_cold(part)
    told: list[bool] = []
    reads.warm(part, lambda: told.append(True))
    assert told == [True]
    assert not reads.is_cold(part)


def test_a_gap_in_the_middle_is_found(old_file: str) -> None:
    reads = ColdReads(AtOnce(), StoppedClock())
    file = RealFilesystem().open(old_file)
    assert reads.is_cold(FileSlice(file, 0, MEBIBYTE))
    descriptor = os.open(old_file, os.O_RDONLY)
    try:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_RANDOM)  # no read-ahead: only these pages
        for position in (4 * MEBIBYTE, 4 * MEBIBYTE + (1 << 18) - 1):
            os.pread(descriptor, 1, position)
    finally:
        os.close(descriptor)
    assert reads.is_cold(FileSlice(file, 4 * MEBIBYTE, 1 << 18))


def test_whether_a_file_is_in_memory_is_asked_without_bringing_it_there(old_file: str) -> None:
    reads = ColdReads(AtOnce(), StoppedClock())
    part = FileSlice(RealFilesystem().open(old_file), MEBIBYTE, 4 * MEBIBYTE)
    assert all(reads.is_cold(part) for _ in range(20))


class Later:
    """Workers that wait to be told."""

    def __init__(self) -> None:
        self.jobs: list[tuple[Callable[[], object], Callable[[object, BaseException | None], None]]] = []

    def submit(
        self, work: Callable[[], object], done: Callable[[object, BaseException | None], None]
    ) -> None:
        self.jobs.append((work, done))

    def run(self) -> None:
        work, done = self.jobs.pop(0)
        done(work(), None)


def test_a_reader_finds_the_next_stretch_read_before_it_gets_there(old_file: str) -> None:
    workers = Later()
    reads = ColdReads(workers, StoppedClock())
    file = RealFilesystem().open(old_file)
    piece = 1 << 18
    assert reads.is_cold(FileSlice(file, 0, piece))
    reads.warm(FileSlice(file, 0, piece), lambda: None)
    workers.run()
    for position in range(0, 8 * MEBIBYTE, piece):
        assert not reads.is_cold(FileSlice(file, position, piece)), position
        if workers.jobs:
            workers.run()


def test_a_reader_who_is_faster_than_the_worker_waits_for_it(old_file: str) -> None:
    workers = Later()
    reads = ColdReads(workers, StoppedClock())
    file = RealFilesystem().open(old_file)
    told: list[int] = []
    for position in (0, MEBIBYTE, 2 * MEBIBYTE):
        part = FileSlice(file, position, MEBIBYTE)
        assert reads.is_cold(part)
        reads.warm(part, lambda at=position: told.append(at))  # type: ignore[misc]
    assert len(workers.jobs) == 1, "the same bytes are read once"
    assert told == []
    workers.run()
    assert told == [0, MEBIBYTE, 2 * MEBIBYTE]
    assert not reads.is_cold(FileSlice(file, 2 * MEBIBYTE, MEBIBYTE))


def test_a_worker_who_fails_does_not_keep_the_reader_waiting(old_file: str) -> None:
    workers = Later()
    reads = ColdReads(workers, StoppedClock())
    part = FileSlice(RealFilesystem().open(old_file), 0, MEBIBYTE)
    told: list[bool] = []
    reads.warm(part, lambda: told.append(True))
    _, done = workers.jobs.pop()
    done(None, OSError("the disk is gone"))
    assert told == [True]
    assert not reads.is_cold(part)


def test_a_file_that_was_read_ahead_leaves_no_descriptor_behind(old_file: str) -> None:
    file = RealFilesystem().open(old_file)
    ColdReads(AtOnce(), StoppedClock()).warm(FileSlice(file, 0, MEBIBYTE), lambda: None)
    ahead = file.fd_ahead
    assert os.path.samestat(os.fstat(ahead), os.fstat(file.fd))
    file.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(ahead)


def test_a_kernel_that_cannot_say_it_at_once_is_asked_page_by_page(
    old_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PageCache, "holds", lambda *_: None)
    reads = ColdReads(AtOnce(), StoppedClock())
    part = FileSlice(RealFilesystem().open(old_file), MEBIBYTE, MEBIBYTE)
    assert reads.is_cold(part)
    reads.warm(part, lambda: None)
    assert not reads.is_cold(part)


def test_a_worker_steps_aside_after_every_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "any.log"
    path.write_bytes(bytes(MEBIBYTE))
    stepped_aside: list[int] = []
    monkeypatch.setattr(os, "sched_yield", lambda: stepped_aside.append(1))
    file = RealFilesystem().open(str(path))
    ColdReads(AtOnce(), StoppedClock()).warm(FileSlice(file, 0, MEBIBYTE), lambda: None)
    assert len(stepped_aside) >= 8


# --- memory that is dear -------------------------------------------------------------------------------


@pytest.fixture
def large_file(tmp_path: Path) -> str:
    path = tmp_path / "large.log"
    path.write_bytes(bytes(96 * MEBIBYTE))
    forget(str(path))
    return str(path)


@pytest.fixture
def dear_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker needs a second of CPU for whatever it reads."""
    seconds = itertools.count()
    monkeypatch.setattr("barnabas.runtime.cold.time.thread_time_ns", lambda: next(seconds) * 1_000_000_000)


@pytest.fixture
def cheap_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("barnabas.runtime.cold.time.thread_time_ns", lambda: 0)


def read_through(reads: ColdReads, file: RealFile, start: int = 0, end: int = 96) -> None:
    for position in range(start * MEBIBYTE, end * MEBIBYTE, MEBIBYTE):
        part = FileSlice(file, position, MEBIBYTE)
        if reads.is_cold(part):
            reads.warm(part, lambda: None)


def is_in_memory(file: RealFile, start: int, end: int) -> bool:
    held = PageCache().holds(file.fd, start * MEBIBYTE, end * MEBIBYTE)
    if held is None:
        pytest.skip("this kernel does not say what is in memory")
    return held


def holds_something(file: RealFile, start: int, end: int) -> bool:
    return any(is_in_memory(file, at, at + 1) for at in range(start, end))


@pytest.mark.usefixtures("dear_memory")
def test_where_memory_is_dear_a_reader_gives_back_what_it_has_passed(large_file: str) -> None:
    reads, file = ColdReads(AtOnce(), StoppedClock()), RealFilesystem().open(large_file)
    read_through(reads, file)
    assert not holds_something(file, 1, 56)
    assert is_in_memory(file, 84, 96), "what is close behind it stays"


@pytest.mark.usefixtures("cheap_memory")
def test_where_memory_is_at_hand_everything_stays_for_the_next_reader(large_file: str) -> None:
    reads, file = ColdReads(AtOnce(), StoppedClock()), RealFilesystem().open(large_file)
    read_through(reads, file)
    assert is_in_memory(file, 0, 96)


@pytest.mark.usefixtures("dear_memory")
def test_what_was_given_back_is_cold_again(large_file: str) -> None:
    reads, file = ColdReads(AtOnce(), StoppedClock()), RealFilesystem().open(large_file)
    read_through(reads, file)
    assert reads.is_cold(FileSlice(file, 30 * MEBIBYTE, MEBIBYTE)), "the loop would wait for the disk"


@pytest.mark.usefixtures("dear_memory")
def test_what_somebody_else_brought_into_memory_is_not_given_back(large_file: str) -> None:
    reads, file = ColdReads(AtOnce(), StoppedClock()), RealFilesystem().open(large_file)
    file.read(40 * MEBIBYTE, 56 * MEBIBYTE)  # as the end of a log is that was just written
    read_through(reads, file)
    assert is_in_memory(file, 41, 96)


@pytest.mark.usefixtures("dear_memory")
def test_a_reader_behind_finds_what_the_one_ahead_has_read(large_file: str) -> None:
    reads, file = ColdReads(AtOnce(), StoppedClock()), RealFilesystem().open(large_file)
    read_through(reads, file, 0, 8)
    for position in range(8, 96):
        read_through(reads, file, position, position + 1)
        read_through(reads, file, position // 4, position // 4 + 1)
    assert is_in_memory(file, 24, 96)
