"""The file of the embedded home: every node of the tree as a row of one SQLite database."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable

from barnabas.ports import Delete
from barnabas.store.tree import ROOT, Node, Tree, parent_of

FORMAT = 1

_SCHEMA = """
CREATE TABLE IF NOT EXISTS node (
  path TEXT PRIMARY KEY,
  value BLOB NOT NULL,
  version INTEGER NOT NULL,
  czxid INTEGER NOT NULL,
  mzxid INTEGER NOT NULL,
  ephemeral_owner INTEGER NOT NULL,
  next_sequence INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
"""
_SAVE_NODE = "INSERT OR REPLACE INTO node VALUES (?, ?, ?, ?, ?, ?, ?)"
_SAVE_COUNTER = "INSERT OR REPLACE INTO counter VALUES (?, ?)"


class MetadataFileError(Exception):
    """The file cannot be used: held by another process, damaged, or written by a newer version."""


class TreeFile:
    """Opened for this process alone. Write-ahead log with full syncs: one sync per commit, and what was
    committed survives a power loss."""

    def __init__(self, path: str) -> None:
        self._path = path
        try:
            # The tree will hold credentials: for the owner's eyes. SQLite's side files take the same mode.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            self._database = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
        except (OSError, sqlite3.Error) as problem:
            raise MetadataFileError(f"{path} cannot be opened: {problem}") from problem
        try:
            self._prepare()
        except sqlite3.Error as problem:
            self._database.close()
            raise MetadataFileError(f"{path} cannot be used: {problem}") from problem
        except MetadataFileError:
            self._database.close()
            raise

    def _prepare(self) -> None:
        for setting in ("locking_mode=EXCLUSIVE", "journal_mode=WAL", "synchronous=FULL"):
            self._database.execute(f"PRAGMA {setting}")
        (found,) = self._database.execute("PRAGMA user_version").fetchone()
        if found > FORMAT:
            message = f"{self._path} has format {found}; this Barnabas knows formats up to {FORMAT}"
            raise MetadataFileError(message)
        self._database.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version={FORMAT}; COMMIT;")
        _sync_directory(os.path.dirname(self._path) or ".")

    def begin_session(self, tree: Tree) -> int:
        """A new session id; the ephemeral nodes of earlier sessions, which ended with their process, go."""
        session_id = self._counter("session") + 1
        self._remove_ephemerals(tree, {"session": session_id})
        return session_id

    def end_session(self, tree: Tree) -> None:
        self._remove_ephemerals(tree, {})

    def load(self) -> Tree:
        tree = Tree()
        tree.zxid = self._counter("zxid")
        for path, *columns in self._database.execute("SELECT * FROM node"):
            tree.nodes[path] = Node(*columns)
        for path in tree.nodes:
            if path != ROOT:
                parent = tree.nodes.get(parent_of(path))
                if parent is None:
                    raise MetadataFileError(f"{self._path} is damaged: the parent of {path} is missing")
                parent.children.add(path.rpartition("/")[2])
        return tree

    def save(self, tree: Tree, touched: Iterable[str], counters: dict[str, int] | None = None) -> None:
        """Durable when it returns."""
        present = [(path, tree.nodes[path]) for path in touched if path in tree.nodes]
        gone = [(path,) for path in touched if path not in tree.nodes]
        self._database.execute("BEGIN IMMEDIATE")
        self._database.executemany("DELETE FROM node WHERE path = ?", gone)
        self._database.executemany(_SAVE_NODE, (_row(path, node) for path, node in present))
        self._database.executemany(_SAVE_COUNTER, [("zxid", tree.zxid), *(counters or {}).items()])
        self._database.execute("COMMIT")

    def rollback(self) -> None:
        if self._database.in_transaction:
            self._database.execute("ROLLBACK")

    def close(self) -> None:
        self._database.close()

    def _counter(self, name: str) -> int:
        row = self._database.execute("SELECT value FROM counter WHERE name = ?", (name,)).fetchone()
        return 0 if row is None else int(row[0])

    def _remove_ephemerals(self, tree: Tree, counters: dict[str, int]) -> None:
        touched: set[str] = set()
        paths = tree.ephemerals()
        if paths:
            _, changes = tree.write([Delete(path) for path in paths], 0)
            touched = changes.touched
        if touched or counters:
            self.save(tree, touched, counters)


def _row(path: str, node: Node) -> tuple[str, bytes, int, int, int, int, int]:
    return (
        path,
        node.value,
        node.version,
        node.czxid,
        node.mzxid,
        node.ephemeral_owner,
        node.next_sequence,
    )


def _sync_directory(path: str) -> None:
    """The file's name must survive too."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
