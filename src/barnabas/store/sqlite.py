"""The embedded home: one SQLite file, `metadata.db`, on a thread of its own.

The tree lives in memory; the file holds every node as a row. A submission is answered after its rows are
committed and synced, so an acknowledged write survives kill -9 and power loss. Whatever waits in the queue
meanwhile is committed together: one sync for all.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import cast

from barnabas.ports import (
    Changed,
    Completed,
    Read,
    SessionBegan,
    SessionEnded,
    StoreError,
    StoreEvent,
    Write,
)
from barnabas.store.session import EventQueue, Kind, Operations, Watches, check, lost, read, refused
from barnabas.store.sqlite_file import MetadataFileError, TreeFile
from barnabas.store.tree import Tree

FILE_NAME = "metadata.db"
SUBMISSIONS_PER_COMMIT_MAX = 256


@dataclass(frozen=True, slots=True)
class _Submission:
    ticket: int
    operations: Operations
    kind: Kind


_CLOSE = _Submission(0, (), Kind.WRITES)


class SqliteStore:
    def __init__(self, directory: str) -> None:
        self._path = os.path.join(directory, FILE_NAME)
        self._queue: SimpleQueue[_Submission] = SimpleQueue()
        self._events = EventQueue()
        self._last_ticket = 0
        self._closed = True
        self._thread: threading.Thread | None = None
        self._notify: Callable[[], None] = lambda: None

    def start(self, notify: Callable[[], None]) -> None:
        """Opens the file before it returns: MetadataFileError here stops the start with a sentence."""
        assert self._thread is None, "started twice"
        self._notify = notify
        file, tree, session_id = _open(self._path)
        self._closed = False
        self._add([SessionBegan(session_id)])
        worker = _Worker(file, tree, session_id, self._queue, self._add)
        self._thread = threading.Thread(target=worker.run, name="metadata-store", daemon=True)
        self._thread.start()

    def submit(self, operations: Sequence[Read] | Sequence[Write]) -> int:
        kind = check(operations)
        self._last_ticket += 1
        if self._closed:
            self._add([lost(self._last_ticket)])
        else:
            self._queue.put(_Submission(self._last_ticket, operations, kind))
        return self._last_ticket

    def events(self) -> list[StoreEvent]:
        return self._events.take()

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._queue.put(_CLOSE)
        assert self._thread is not None
        self._thread.join()

    def _add(self, events: Sequence[StoreEvent]) -> None:
        self._events.add(*events)
        self._notify()


def _open(path: str) -> tuple[TreeFile, Tree, int]:
    file = TreeFile(path)
    try:
        tree = file.load()
        return file, tree, file.begin_session(tree)
    except sqlite3.Error as problem:
        file.close()
        raise MetadataFileError(f"{path} cannot be used: {problem}") from problem
    except MetadataFileError:
        file.close()
        raise


class _Worker:
    """What the thread does. Events leave only after the commit that they tell of."""

    def __init__(
        self,
        file: TreeFile,
        tree: Tree,
        session_id: int,
        queue: SimpleQueue[_Submission],
        add: Callable[[Sequence[StoreEvent]], None],
    ) -> None:
        self._file = file
        self._tree: Tree | None = tree  # None once the file has failed for good
        self._session_id = session_id
        self._queue = queue
        self._add = add
        self._watches = Watches()

    def run(self) -> None:
        open_for_more = True
        while open_for_more:
            group = self._next_group()
            open_for_more = group[-1] is not _CLOSE
            submissions = group if open_for_more else group[:-1]
            if submissions:
                self._add(self._carry_out_or_lose(submissions))
        self._end()

    def _next_group(self) -> list[_Submission]:
        group = [self._queue.get()]
        while group[-1] is not _CLOSE and len(group) < SUBMISSIONS_PER_COMMIT_MAX:
            try:
                group.append(self._queue.get_nowait())
            except Empty:
                break
        return group

    def _carry_out_or_lose(self, submissions: list[_Submission]) -> list[StoreEvent]:
        """A full disk fails the group, not the store: what the file holds is the truth, so take it up again
        from there. If even that fails every later submission is lost, and the session with it."""
        answers: list[StoreEvent] = [lost(submission.ticket) for submission in submissions]
        if self._tree is None:
            return answers
        events: list[StoreEvent] = []
        try:
            self._carry_out(self._tree, submissions, events)
            return events
        except sqlite3.Error:
            # Watches that fired in vain are used up all the same: their owners read again.
            answers[:0] = [event for event in events if isinstance(event, Changed)]
        try:
            self._file.rollback()
            self._tree = self._file.load()
        except (sqlite3.Error, MetadataFileError):
            self._tree = None
            answers.append(SessionEnded())
        return answers

    def _carry_out(self, tree: Tree, submissions: list[_Submission], events: list[StoreEvent]) -> None:
        touched: set[str] = set()
        for submission in submissions:
            if submission.kind is Kind.READS:
                reads = cast(Sequence[Read], submission.operations)
                events.append(read(tree, self._watches, submission.ticket, reads))
                continue
            try:
                answers, changes = tree.write(cast(Sequence[Write], submission.operations), self._session_id)
            except StoreError as error:
                events.append(refused(submission.ticket, error))
                continue
            touched |= changes.touched
            events.extend(self._watches.fire(changes))
            events.append(Completed(submission.ticket, answers))
        if touched:
            self._file.save(tree, touched)

    def _end(self) -> None:
        try:
            if self._tree is not None:
                self._file.end_session(self._tree)
        except sqlite3.Error:
            pass  # they are removed when the file is opened again
        finally:
            self._file.close()
