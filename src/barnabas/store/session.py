"""One session's view of a tree: its watches, and the events that wait to be taken."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from enum import Enum, auto

from barnabas.ports import (
    Answer,
    Changed,
    Children,
    Completed,
    Delete,
    Get,
    Read,
    StoreError,
    StoreEvent,
    StoreLostError,
    Subtree,
    Write,
)
from barnabas.store.tree import ROOT, Changes, Tree, check_path

Operations = Sequence[Read] | Sequence[Write]


class Kind(Enum):
    READS = auto()
    WRITES = auto()


def check(operations: Operations) -> Kind:
    """A submission that makes no sense is our own fault, and fails where it is made."""
    for operation in operations:
        check_path(operation.path)
        if isinstance(operation, Delete) and operation.path == ROOT:
            raise ValueError("the root cannot be deleted")
    reads = sum(isinstance(operation, Get | Children | Subtree) for operation in operations)
    if reads not in {0, len(operations)}:
        raise ValueError("a submission holds only reads or only writes")
    return Kind.READS if reads else Kind.WRITES


class Watches:
    """Each fires once. A node may be watched for its value, for its children, or for both."""

    def __init__(self) -> None:
        self._values: set[str] = set()
        self._children: set[str] = set()

    def add(self, operation: Read, answer: Answer) -> None:
        match operation:
            case Get(path, watch=True):
                self._values.add(path)
            case Children(path, watch=True) if answer is not None:
                self._children.add(path)

    def fire(self, changes: Changes) -> list[Changed]:
        values = self._values & changes.values
        children = self._children & changes.children
        self._values -= values
        self._children -= children
        return [Changed(path) for path in sorted(values | children)]

    def all(self) -> list[str]:
        return sorted(self._values | self._children)

    def clear(self) -> None:
        self._values.clear()
        self._children.clear()


class EventQueue:
    """Filled by one thread, emptied by another: a deque's ends are safe to use from two threads."""

    def __init__(self) -> None:
        self._waiting: deque[StoreEvent] = deque()

    def add(self, *events: StoreEvent) -> None:
        self._waiting.extend(events)

    def take(self) -> list[StoreEvent]:
        taken: list[StoreEvent] = []
        while self._waiting:
            taken.append(self._waiting.popleft())
        return taken


def read(tree: Tree, watches: Watches, ticket: int, operations: Sequence[Read]) -> Completed:
    answers = []
    for operation in operations:
        answer = tree.read(operation)
        watches.add(operation, answer)
        answers.append(answer)
    return Completed(ticket, tuple(answers))


def refused(ticket: int, error: StoreError) -> Completed:
    return Completed(ticket, error=error)


def lost(ticket: int) -> Completed:
    return Completed(ticket, error=StoreLostError())
