"""The tree of the metadata store, without threads or files: what each operation does, and what it refuses.

The homes that we keep ourselves share it: `memory` is this tree and nothing else, `sqlite` writes down what
each multi changed. A multi that is refused leaves no trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from barnabas.ports import (
    Answer,
    BadVersionError,
    Check,
    ChildNames,
    Children,
    Create,
    Delete,
    EphemeralParentError,
    Get,
    NodeExistsError,
    NoNodeError,
    NotEmptyError,
    Put,
    Read,
    Set,
    Stat,
    Subtree,
    Value,
    Values,
    Write,
)

ROOT = "/"


@dataclass(slots=True)
class Node:
    value: bytes
    version: int
    czxid: int
    mzxid: int
    ephemeral_owner: int
    next_sequence: int = 0
    children: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Changes:
    """What one multi did. `touched` needs writing down again, or removing if the tree no longer has it."""

    values: set[str] = field(default_factory=set)  # nodes that came, went, or have another value
    children: set[str] = field(default_factory=set)  # nodes whose children came or went, and nodes that went
    touched: set[str] = field(default_factory=set)


def check_path(path: str) -> None:
    """Paths are ours, so a bad one is our fault."""
    if path == ROOT:
        return
    parts = path.split("/")
    if len(parts) < 2 or parts[0] != "" or any(part in {"", ".", ".."} or "\0" in part for part in parts[1:]):
        raise ValueError(f"not a path: {path!r}")


def parent_of(path: str) -> str:
    return path.rpartition("/")[0] or ROOT


class Tree:
    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {ROOT: Node(b"", 0, 0, 0, 0)}
        self.zxid = 0  # one per multi that was carried out

    # --- reading ---

    def read(self, operation: Read) -> Answer:
        check_path(operation.path)
        match operation:
            case Get(path):
                return self._value(path) if path in self.nodes else None
            case Children(path):
                found = self.nodes.get(path)
                return None if found is None else ChildNames(path, tuple(sorted(found.children)))
            case Subtree(path):
                paths = sorted(self.walk(path)) if path in self.nodes else ()
                return Values(path, tuple(self._value(below) for below in paths))

    def _value(self, path: str) -> Value:
        node = self.nodes[path]
        return Value(path, node.value, Stat(node.version, node.czxid, node.mzxid, node.ephemeral_owner))

    def walk(self, path: str) -> Iterator[str]:
        """The node and all below it, parents first."""
        waiting = [path]
        while waiting:
            current = waiting.pop()
            yield current
            prefix = "" if current == ROOT else current
            waiting.extend(f"{prefix}/{name}" for name in self.nodes[current].children)

    def ephemerals(self, session_id: int | None = None) -> list[str]:
        """Of one session, or of all."""
        return [
            path
            for path, node in self.nodes.items()
            if node.ephemeral_owner and session_id in {None, node.ephemeral_owner}
        ]

    # --- writing ---

    def write(self, operations: Sequence[Write], session_id: int) -> tuple[tuple[Answer, ...], Changes]:
        """All of it, or StoreError and none of it."""
        multi = _Multi(self, session_id)
        try:
            answers = tuple(multi.run(operation) for operation in operations)
        except BaseException:
            multi.undo()
            raise
        self.zxid = multi.zxid
        return answers, multi.changes


class _Multi:
    def __init__(self, tree: Tree, session_id: int) -> None:
        self._tree = tree
        self._session_id = session_id
        self._undo: list[Callable[[], object]] = []
        self.zxid = tree.zxid + 1
        self.changes = Changes()

    def undo(self) -> None:
        for step in reversed(self._undo):
            step()

    def run(self, operation: Write) -> Answer:
        check_path(operation.path)
        match operation:
            case Create():
                return self._create(operation)
            case Set(path, value, version):
                return self._set(path, value, version)
            case Put(path, value):
                if path in self._tree.nodes:
                    return self._set(path, value, -1)
                return self._create(Create(path, value, make_parents=True))
            case Delete():
                self._delete(operation)
                return None
            case Check(path, version):
                self._expect(path, version)
                return None

    def _expect(self, path: str, version: int) -> Node:
        node = self._tree.nodes.get(path)
        if node is None:
            raise NoNodeError(path)
        if version not in {-1, node.version}:
            raise BadVersionError(path)
        return node

    def _create(self, operation: Create) -> Answer:
        parent_path = parent_of(operation.path)
        if operation.make_parents and parent_path not in self._tree.nodes:
            self._create(Create(parent_path, make_parents=True))
        parent = self._tree.nodes.get(parent_path)
        if parent is None:
            raise NoNodeError(operation.path)
        if parent.ephemeral_owner:
            raise EphemeralParentError(operation.path)
        path = self._numbered(operation.path, parent) if operation.sequential else operation.path
        if path in self._tree.nodes:
            raise NodeExistsError(path)
        owner = self._session_id if operation.ephemeral else 0
        self._add(path, Node(operation.value, 0, self.zxid, self.zxid, owner))
        return self._tree.read(Get(path))

    def _numbered(self, path: str, parent: Node) -> str:
        number = parent.next_sequence
        parent.next_sequence = number + 1
        self._undo.append(lambda: setattr(parent, "next_sequence", number))
        self.changes.touched.add(parent_of(path))
        return f"{path}{number:010d}"

    def _set(self, path: str, value: bytes, version: int) -> Answer:
        node = self._expect(path, version)
        before = (node.value, node.version, node.mzxid)

        def restore() -> None:
            node.value, node.version, node.mzxid = before

        self._undo.append(restore)
        node.value, node.version, node.mzxid = value, node.version + 1, self.zxid
        self.changes.values.add(path)
        self.changes.touched.add(path)
        return self._tree.read(Get(path))

    def _delete(self, operation: Delete) -> None:
        path = operation.path
        assert path != ROOT, "the root cannot be deleted"
        if operation.missing_ok and path not in self._tree.nodes:
            return
        node = self._expect(path, operation.version)
        if node.children and not operation.recursive:
            raise NotEmptyError(path)
        for below in reversed(list(self._tree.walk(path))):
            self._remove(below)

    def _add(self, path: str, node: Node) -> None:
        self._undo.append(lambda: self._detach(path))
        self._attach(path, node)
        self._note(path)

    def _remove(self, path: str) -> None:
        node = self._tree.nodes[path]
        self._undo.append(lambda: self._attach(path, node))
        self._detach(path)
        self._note(path)
        self.changes.children.add(path)

    def _note(self, path: str) -> None:
        self.changes.values.add(path)
        self.changes.touched.add(path)
        self.changes.children.add(parent_of(path))

    def _attach(self, path: str, node: Node) -> None:
        self._tree.nodes[path] = node
        self._tree.nodes[parent_of(path)].children.add(path.rpartition("/")[2])

    def _detach(self, path: str) -> None:
        del self._tree.nodes[path]
        self._tree.nodes[parent_of(path)].children.discard(path.rpartition("/")[2])
