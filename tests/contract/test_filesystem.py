"""What every `ports.Filesystem` promises: the real one and the simulated one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from barnabas.ports import Filesystem
from barnabas.runtime.files import RealFilesystem
from barnabas.sim.disk import SimulatedDisk


@pytest.fixture(params=["real", "simulated"])
def fs(request: pytest.FixtureRequest) -> Filesystem:
    return RealFilesystem() if request.param == "real" else SimulatedDisk()


@pytest.fixture
def room(fs: Filesystem, tmp_path: Path) -> str:
    fs.make_directories(f"{tmp_path}/room")
    return f"{tmp_path}/room"


def test_a_missing_file_is_not_created_by_looking(fs: Filesystem, room: str) -> None:
    with pytest.raises(FileNotFoundError):
        fs.open(f"{room}/a")
    assert not fs.exists(f"{room}/a")


def test_a_file_in_a_missing_directory_cannot_be_created(fs: Filesystem, room: str) -> None:
    with pytest.raises(FileNotFoundError):
        fs.open(f"{room}/no/a", create=True)


def test_appended_parts_are_read_back_as_one_run(fs: Filesystem, room: str) -> None:
    file = fs.open(f"{room}/a", create=True)
    assert file.append([b"ab", bytearray(b"cd"), memoryview(b"ef")]) == 6
    assert file.append([b"gh"]) == 2
    assert (file.size(), file.read(1, 6)) == (8, b"bcdefg")
    file.close()


def test_more_parts_than_one_system_call_takes_are_all_written(fs: Filesystem, room: str) -> None:
    file = fs.open(f"{room}/a", create=True)
    assert file.append([b"xy"] * 3000) == 6000
    assert file.read(0, 10_000) == b"xy" * 3000
    file.close()


def test_reading_past_the_end_returns_what_is_there(fs: Filesystem, room: str) -> None:
    file = fs.open(f"{room}/a", create=True)
    file.append([b"abc"])
    assert (file.read(2, 10), file.read(3, 10), file.read(50, 1)) == (b"c", b"", b"")
    file.close()


def test_reopening_appends_after_what_was_written(fs: Filesystem, room: str) -> None:
    file = fs.open(f"{room}/a", create=True)
    file.append([b"abc"])
    file.close()
    again = fs.open(f"{room}/a", create=True)
    again.append([b"def"])
    assert (again.size(), again.read(0, 9)) == (6, b"abcdef")
    again.close()


def test_write_at_changes_the_middle_and_may_extend(fs: Filesystem, room: str) -> None:
    file = fs.open(f"{room}/a", create=True)
    file.append([b"abcdef"])
    file.write_at(2, b"XY")
    file.write_at(5, b"123")
    file.append([b"!"])
    assert file.read(0, 20) == b"abXYe123!"
    file.close()


def test_truncate_cuts_and_the_next_append_follows_the_cut(fs: Filesystem, room: str) -> None:
    file = fs.open(f"{room}/a", create=True)
    file.append([b"abcdef"])
    file.truncate(2)
    file.append([b"Z"])
    assert (file.size(), file.read(0, 9)) == (3, b"abZ")
    file.truncate(5)
    assert file.read(0, 9) == b"abZ\0\0"
    file.close()


def test_a_closed_file_refuses_and_closing_twice_is_harmless(fs: Filesystem, room: str) -> None:
    file = fs.open(f"{room}/a", create=True)
    file.close()
    file.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        file.append([b"x"])
    with pytest.raises(OSError, match="Bad file descriptor"):
        file.read(0, 1)


def test_a_file_that_nobody_holds_any_more_frees_its_descriptor(tmp_path: Path) -> None:
    file = RealFilesystem().open(f"{tmp_path}/a", create=True)
    number = file.fd
    os.fstat(number)
    del file
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(number)


def test_rename_replaces_the_target_and_an_open_file_follows(fs: Filesystem, room: str) -> None:
    file = fs.open(f"{room}/a", create=True)
    file.append([b"new"])
    fs.write_bytes_durably(f"{room}/b", b"old")
    fs.rename(f"{room}/a", f"{room}/b")
    file.append([b"er"])
    assert fs.read_bytes(f"{room}/b") == b"newer"
    assert fs.list(room) == ["b"]
    file.close()
    with pytest.raises(FileNotFoundError):
        fs.rename(f"{room}/a", f"{room}/c")


def test_a_removed_file_can_still_be_read_by_who_holds_it(fs: Filesystem, room: str) -> None:
    file = fs.open(f"{room}/a", create=True)
    file.append([b"abc"])
    fs.remove(f"{room}/a")
    assert file.read(0, 3) == b"abc"
    assert not fs.exists(f"{room}/a")
    file.close()
    with pytest.raises(FileNotFoundError):
        fs.remove(f"{room}/a")


def test_names_are_listed_sorted_and_directories_are_known(fs: Filesystem, room: str) -> None:
    fs.make_directories(f"{room}/z/y")
    fs.make_directories(f"{room}/z/y")
    for name in ("c", "a", "b"):
        fs.write_bytes_durably(f"{room}/{name}", b"")
    assert fs.list(room) == ["a", "b", "c", "z"]
    assert fs.is_directory(f"{room}/z")
    assert not fs.is_directory(f"{room}/a")
    with pytest.raises(FileNotFoundError):
        fs.list(f"{room}/nowhere")


def test_a_tree_is_removed_with_everything_in_it(fs: Filesystem, room: str) -> None:
    fs.make_directories(f"{room}/z/y")
    fs.write_bytes_durably(f"{room}/z/y/a", b"x")
    fs.remove_tree(f"{room}/z")
    assert fs.list(room) == []
    with pytest.raises(FileNotFoundError):
        fs.remove_tree(f"{room}/z")


def test_durable_bytes_replace_the_old_content_and_leave_no_leftover(fs: Filesystem, room: str) -> None:
    fs.write_bytes_durably(f"{room}/a", b"a long first content")
    fs.write_bytes_durably(f"{room}/a", b"short")
    assert fs.read_bytes(f"{room}/a") == b"short"
    assert fs.list(room) == ["a"]
    with pytest.raises(FileNotFoundError):
        fs.read_bytes(f"{room}/b")


def test_syncing_and_asking_about_files_works(fs: Filesystem, room: str) -> None:
    file = fs.open(f"{room}/a", create=True)
    file.append([b"abc"])
    file.sync()
    fs.sync_directory(room)
    assert file.path == f"{room}/a"
    assert fs.modified_ms(f"{room}/a") >= 0
    total, usable = fs.space(room)
    assert total >= usable > 0
    file.close()
    with pytest.raises(FileNotFoundError):
        fs.modified_ms(f"{room}/b")
