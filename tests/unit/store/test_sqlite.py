"""The embedded home's file: what a crash, another process, a full disk or damage does to it."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path

import pytest

from barnabas.ports import (
    Changed,
    Completed,
    Create,
    Get,
    Read,
    StoreEvent,
    StoreLostError,
    Subtree,
    Value,
    Values,
    Write,
)
from barnabas.store.sqlite import FILE_NAME, SqliteStore
from barnabas.store.sqlite_file import FORMAT, MetadataFileError, TreeFile
from barnabas.store.tree import Tree

# Writes pairs of nodes, one multi each, several in flight; prints a number once its pair is acknowledged.
WRITER = """
import sys, threading
from barnabas.ports import Completed, Create
from barnabas.store.sqlite import SqliteStore
signal = threading.Event()
store = SqliteStore(sys.argv[1])
store.start(signal.set)
store.submit([Create("/e", ephemeral=True)])
pairs, number = {}, int(sys.argv[2])
while True:
    while len(pairs) < 8:
        ticket = store.submit([Create(f"/a{number}"), Create(f"/b{number}", str(number).encode())])
        pairs[ticket] = number
        number += 1
    signal.wait()
    signal.clear()
    for event in store.events():
        if isinstance(event, Completed) and event.ticket in pairs:
            assert event.error is None
            print(pairs.pop(event.ticket), flush=True)
"""


def run(store: SqliteStore, signal: threading.Event, *operations: Read | Write) -> Completed:
    ticket = store.submit(operations)  # type: ignore[arg-type]
    while True:
        signal.clear()
        for event in store.events():
            if isinstance(event, Completed) and event.ticket == ticket:
                return event
        assert signal.wait(30)


def whole_tree(directory: Path) -> dict[str, Value]:
    signal = threading.Event()
    store = SqliteStore(str(directory))
    store.start(signal.set)
    (values,) = run(store, signal, Subtree("/")).answers
    store.close()
    assert isinstance(values, Values)
    return {value.path: value for value in values.values}


def test_what_was_acknowledged_survives_kill_nine_and_no_multi_is_halved(tmp_path: Path) -> None:
    acknowledged: set[int] = set()
    for first in (0, 10_000_000, 20_000_000):
        command = [sys.executable, "-c", WRITER, str(tmp_path), str(first)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            lines = [int(writer.stdout.readline()) for _ in range(50)]
            writer.send_signal(signal.SIGKILL)
            lines.extend(int(line) for line in writer.stdout if line.endswith("\n"))
        acknowledged.update(lines)
        tree = whole_tree(tmp_path)
        assert {f"/{letter}{number}" for number in acknowledged for letter in "ab"} <= set(tree)
        assert sum(path.startswith("/a") for path in tree) == sum(path.startswith("/b") for path in tree)
        assert "/e" not in tree


def test_nothing_is_answered_before_it_is_committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    committing, proceed, signal = threading.Event(), threading.Event(), threading.Event()
    save = TreeFile.save
    store = SqliteStore(str(tmp_path))
    store.start(signal.set)
    run(store, signal, Get("/a", watch=True))

    def slow_save(file: TreeFile, tree: Tree, touched: Iterable[str]) -> None:
        committing.set()
        assert proceed.wait(30)
        save(file, tree, touched)

    monkeypatch.setattr(TreeFile, "save", slow_save)
    store.submit([Create("/a")])
    assert committing.wait(30)
    assert store.events() == []
    proceed.set()
    store.close()
    assert [type(event) for event in store.events()] == [Changed, Completed]


def test_commits_are_synced(tmp_path: Path) -> None:
    file = TreeFile(str(tmp_path / FILE_NAME))
    full = 2
    assert file._database.execute("PRAGMA synchronous").fetchone() == (full,)
    file.close()


def test_a_clean_close_leaves_one_file_for_its_owner_alone(tmp_path: Path) -> None:
    whole_tree(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]
    assert (tmp_path / FILE_NAME).stat().st_mode & 0o777 == 0o600


def test_a_second_process_is_refused_with_a_sentence(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path))
    store.start(lambda: None)
    with pytest.raises(MetadataFileError, match=rf"{FILE_NAME} cannot be used: database is locked"):
        SqliteStore(str(tmp_path)).start(lambda: None)
    store.close()


def test_a_missing_directory_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(MetadataFileError, match="cannot be opened"):
        SqliteStore(str(tmp_path / "no")).start(lambda: None)


def test_a_file_that_is_no_database_is_refused_and_kept(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"x" * 5000)
    with pytest.raises(MetadataFileError, match="not a database"):
        SqliteStore(str(tmp_path)).start(lambda: None)
    assert (tmp_path / FILE_NAME).read_bytes() == b"x" * 5000


def test_a_file_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    whole_tree(tmp_path)
    database = sqlite3.connect(tmp_path / FILE_NAME)
    database.execute(f"PRAGMA user_version={FORMAT + 1}")
    database.close()
    with pytest.raises(MetadataFileError, match=f"knows formats up to {FORMAT}"):
        SqliteStore(str(tmp_path)).start(lambda: None)


def test_a_node_without_parent_is_damage(tmp_path: Path) -> None:
    whole_tree(tmp_path)
    database = sqlite3.connect(tmp_path / FILE_NAME)
    with database:
        database.execute("INSERT INTO node VALUES ('/a/b', x'', 0, 1, 1, 0, 0)")
    database.close()
    with pytest.raises(MetadataFileError, match="the parent of /a/b is missing"):
        SqliteStore(str(tmp_path)).start(lambda: None)


def test_a_failed_commit_loses_its_group_and_nothing_else(tmp_path: Path) -> None:
    whole_tree(tmp_path)
    database = sqlite3.connect(tmp_path / FILE_NAME)
    database.execute(
        "CREATE TRIGGER full BEFORE INSERT ON node WHEN NEW.path = '/full' "
        "BEGIN SELECT RAISE(ABORT, 'disk full'); END"
    )
    database.close()
    signal = threading.Event()
    store = SqliteStore(str(tmp_path))
    store.start(signal.set)
    run(store, signal, Create("/before"))
    run(store, signal, Get("/full", watch=True))
    lost = store.submit([Create("/full")])
    events: list[StoreEvent] = []
    while not events or not isinstance(events[-1], Completed):
        assert signal.wait(30)
        signal.clear()
        events.extend(store.events())
    # The watch was used up by the attempt: it tells, rather than stay silent for ever.
    assert events[0] == Changed("/full")
    assert isinstance(events[-1], Completed)
    assert events[-1].ticket == lost
    assert isinstance(events[-1].error, StoreLostError)
    assert run(store, signal, Create("/after")).error is None
    assert run(store, signal, Get("/full")).answers == (None,)
    store.close()
    assert {"/before", "/after"} <= set(whole_tree(tmp_path))


def test_the_thread_ends_with_the_store(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path))
    store.start(lambda: None)
    thread = store._thread
    assert thread is not None
    assert thread.is_alive()
    store.close()
    assert not thread.is_alive()
    assert os.path.exists(tmp_path / FILE_NAME)
