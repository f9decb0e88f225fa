"""What a multi of ours becomes in ZooKeeper, whose own multi only creates, sets, deletes and checks one node.

Pure: `lookups` says what has to be known of the tree first, `plan` writes the steps from that. Somebody else
may change the tree between the two; each step says by which refusals that shows, so that a new plan is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from barnabas.ports import (
    Check,
    Create,
    Delete,
    NodeExistsError,
    NoNodeError,
    NotEmptyError,
    Put,
    Set,
    StoreError,
    Write,
)
from barnabas.store.tree import ROOT, parent_of

Refusals: TypeAlias = frozenset[type[StoreError]]
NEVER: Refusals = frozenset()


@dataclass(frozen=True, slots=True)
class Lookups:
    """Paths that may or may not exist, and those of which everything below must be known."""

    single: frozenset[str]
    whole: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.single or self.whole)


@dataclass(frozen=True, slots=True)
class Step:
    """One operation of ZooKeeper's multi: which operation of ours it belongs to, and the refusals which mean
    that the tree is no longer as it was when the plan was made."""

    operation: Create | Set | Delete | Check
    origin: int
    outdated_by: Refusals = NEVER


def lookups(operations: Iterable[Write]) -> Lookups:
    single: set[str] = set()
    whole: set[str] = set()
    for operation in operations:
        match operation:
            case Put(path):
                single.update((path, *_ancestors(path)))
            case Create(path, make_parents=True):
                single.update(_ancestors(path))
            case Delete(path, recursive=True):
                whole.add(path)
            case Delete(path, missing_ok=True):
                single.add(path)
    return Lookups(frozenset(single), frozenset(whole))


def plan(operations: Sequence[Write], present: Iterable[str]) -> list[Step]:
    """`present` holds those of the looked up paths that exist."""
    planning = _Planning({ROOT, *present})
    for origin, operation in enumerate(operations):
        planning.add(operation, origin)
    return planning.steps


def _ancestors(path: str) -> list[str]:
    """Without the root, which is always there; the highest first."""
    parent = parent_of(path)
    return [] if parent == ROOT else [*_ancestors(parent), parent]


@dataclass(slots=True)
class _Planning:
    """Operations see what those before them did, so the known part of the tree is kept up to date."""

    present: set[str]
    steps: list[Step] = field(default_factory=list)

    def add(self, operation: Write, origin: int) -> None:
        match operation:
            case Put(path, value) if path in self.present:
                self._step(Set(path, value), origin, NoNodeError)
            case Put(path, value):
                self._parents(path, origin)
                self._create(Create(path, value), origin, NodeExistsError, NoNodeError)
            case Create(path, make_parents=True):
                self._parents(path, origin)
                self._create(replace(operation, make_parents=False), origin, NoNodeError)
            case Create():
                self._create(operation, origin)
            case Delete():
                self._delete(operation, origin)
            case Set() | Check():
                self._step(operation, origin)

    def _parents(self, path: str, origin: int) -> None:
        for parent in _ancestors(path):
            if parent not in self.present:
                self._create(Create(parent), origin, NodeExistsError, NoNodeError)

    def _create(self, operation: Create, origin: int, *outdated_by: type[StoreError]) -> None:
        self._step(operation, origin, *outdated_by)
        if not operation.sequential:
            self.present.add(operation.path)

    def _delete(self, operation: Delete, origin: int) -> None:
        path = operation.path
        if operation.missing_ok and path not in self.present:
            return
        outdated_by: list[type[StoreError]] = [NoNodeError] if operation.missing_ok else []
        if operation.recursive:
            outdated_by.append(NotEmptyError)
            for below in sorted((p for p in self.present if p.startswith(f"{path}/")), reverse=True):
                self._step(Delete(below), origin, NoNodeError, NotEmptyError)
                self.present.discard(below)
        self._step(Delete(path, operation.version), origin, *outdated_by)
        self.present.discard(path)

    def _step(self, step: Create | Set | Delete | Check, origin: int, *outdated_by: type[StoreError]) -> None:
        self.steps.append(Step(step, origin, frozenset(outdated_by)))
