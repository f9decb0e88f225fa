"""A disk in memory that forgets what was not synced.

The same contract as `runtime/files.py` (one suite, `tests/contract/test_filesystem.py`, runs over both), plus
power loss and faults:

- `crash(random, mode)` cuts the power. What was synced stays. Of the rest, `CrashMode` says what survives:
  everything (only the process died), nothing, or any mixture of pages and half pages in any order.
  A created, renamed or removed name survives only if its directory was synced, or by luck, in order.
- `stop_after(n)` lets n more changes through and then raises `PowerLostError` from every call, so that a test
  can crash between any two steps of a procedure.
- `fail(prefix, errno)` breaks every path below a prefix: ENOSPC refuses to write, EIO refuses everything.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from barnabas.ports import Buffer, Random
from barnabas.sim.inodes import Directory, Inode

_TERABYTE = 1 << 40


class CrashMode(Enum):
    KEEP = "the process died; the machine did not"
    DROP = "power loss: nothing unsynced survives"
    TEAR = "power loss: of what was not synced, any pages and half pages survive"


class PowerLostError(Exception):
    """The machine is off until `crash` brings it back. Not an OSError: nobody may handle it."""


@dataclass(frozen=True, slots=True)
class _Fault:
    prefix: str
    code: int

    def hits(self, path: str, writing: bool) -> bool:
        return (writing or self.code != errno.ENOSPC) and (path + "/").startswith(self.prefix)


class SimulatedFile:
    """A handle. It dies with the crash; the inode behind it may live on."""

    def __init__(self, disk: SimulatedDisk, path: str, inode: Inode) -> None:
        self._disk = disk
        self._path = path
        self._inode = inode
        self._generation = disk.generation
        self._open = True

    @property
    def path(self) -> str:
        return self._path

    def size(self) -> int:
        return len(self._inode.content)

    def append(self, parts: Sequence[Buffer]) -> int:
        data = b"".join(parts)
        self._change(len(data))
        self._inode.write(len(self._inode.content), data, self._disk.now_ms())
        return len(data)

    def read(self, position: int, size: int) -> bytes:
        self._check(writing=False)
        return bytes(self._inode.content[position : position + size])

    def write_at(self, position: int, data: Buffer) -> None:
        raw = bytes(data)
        self._change(max(0, position + len(raw) - len(self._inode.content)))
        self._inode.write(position, raw, self._disk.now_ms())

    def truncate(self, size: int) -> None:
        self._change(size - len(self._inode.content))
        self._inode.truncate(size, self._disk.now_ms())

    def sync(self) -> None:
        self._change(0)
        self._inode.sync()

    def close(self) -> None:
        self._open = False

    def _change(self, growth: int) -> None:
        self._check(writing=True)
        self._disk.spend(growth, self._path)
        self._disk.count_change()

    def _check(self, *, writing: bool) -> None:
        self._disk.check(self._path, writing=writing)
        if not self._open or self._generation != self._disk.generation:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF), self._path)


class SimulatedDisk:
    """`ports.Filesystem` in memory. Paths are absolute."""

    def __init__(self, *, capacity: int = _TERABYTE, now_ms: Callable[[], int] = lambda: 0) -> None:
        self.generation = 0
        self.now_ms = now_ms
        self.changes = 0
        self._root = Directory()
        self._capacity = capacity
        self._used = 0
        self._faults: list[_Fault] = []
        self._changes_left: int | None = None

    # --- faults ------------------------------------------------------------------------------------------

    def crash(self, random: Random, mode: CrashMode = CrashMode.TEAR) -> None:
        """Cut the power and bring the machine back: every open file is dead, the disk holds what survived."""
        self.generation += 1
        self._changes_left = None
        if mode is not CrashMode.KEEP:
            self._root.crash(random if mode is CrashMode.TEAR else None)
        self._used = self._root.byte_count()

    def stop_after(self, changes: int) -> None:
        self._changes_left = changes

    def call_off(self) -> None:
        """Forget a `stop_after` that has not come true."""
        if self._changes_left is not None and self._changes_left >= 0:
            self._changes_left = None

    def fail(self, prefix: str, code: int = errno.EIO) -> None:
        self._faults.append(_Fault(prefix.rstrip("/") + "/", code))

    def heal(self) -> None:
        self._faults.clear()

    @property
    def is_failing(self) -> bool:
        return bool(self._faults)

    def check(self, path: str, *, writing: bool) -> None:
        if self._changes_left is not None and self._changes_left < 0:
            raise PowerLostError(path)
        for fault in self._faults:
            if fault.hits(path, writing):
                raise OSError(fault.code, os.strerror(fault.code), path)

    def count_change(self) -> None:
        self.changes += 1
        if self._changes_left is not None:
            self._changes_left -= 1
            if self._changes_left < 0:
                raise PowerLostError

    def spend(self, growth: int, path: str) -> None:
        if growth > 0 and self._used + growth > self._capacity:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
        self._used += growth

    # --- ports.Filesystem --------------------------------------------------------------------------------

    def open(self, path: str, *, create: bool = False) -> SimulatedFile:
        self.check(path, writing=False)
        parent, name = self._parent(path)
        node = parent.children.get(name)
        if isinstance(node, Directory):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if node is None:
            if not create:
                raise _missing(path)
            self.check(path, writing=True)
            self.count_change()
            node = Inode(self.now_ms())
            parent.put(name, node)
        return SimulatedFile(self, path, node)

    def absolute(self, path: str) -> str:
        return path.rstrip("/")

    def exists(self, path: str) -> bool:
        return self._look(path) is not None

    def is_directory(self, path: str) -> bool:
        return isinstance(self._look(path), Directory)

    def _look(self, path: str) -> Directory | Inode | None:
        """A broken disk has nothing to show, as for `os.path.exists`."""
        try:
            return self._find(path)
        except OSError:
            return None

    def list(self, path: str) -> list[str]:
        self.check(path, writing=False)
        return sorted(self._directory(path).children)

    def make_directories(self, path: str) -> None:
        self.check(path, writing=True)
        directory = self._root
        for name in _parts(path):
            node = directory.children.get(name)
            if node is None:
                self.count_change()
                node = Directory()
                directory.put(name, node)
            if not isinstance(node, Directory):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
            directory = node

    def rename(self, source: str, target: str) -> None:
        self.check(source, writing=True)
        parent, name = self._parent(source)
        target_parent, target_name = self._parent(target)
        if name not in parent.children:
            raise _missing(source)
        if parent is not target_parent:
            # A log never moves a name between directories, so this disk does not model half of it.
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), target)
        self.count_change()
        replaced = parent.children.get(target_name)
        if isinstance(replaced, Inode) and target_name != name:
            self._used -= len(replaced.content)
        parent.move(name, target_name)

    def remove(self, path: str) -> None:
        self.check(path, writing=False)
        parent, name = self._parent(path)
        node = parent.children.get(name)
        if node is None:
            raise _missing(path)
        if isinstance(node, Directory):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        self.count_change()
        self._used -= len(node.content)
        parent.discard(name)

    def remove_tree(self, path: str) -> None:
        self.check(path, writing=False)
        directory = self._directory(path)
        for name, node in sorted(directory.children.items()):
            child = f"{path.rstrip('/')}/{name}"
            if isinstance(node, Directory):
                self.remove_tree(child)
            else:
                self.remove(child)
        parent, name = self._parent(path)
        self.count_change()
        parent.discard(name)

    def read_bytes(self, path: str) -> bytes:
        file = self.open(path)
        return file.read(0, file.size())

    def write_bytes_durably(self, path: str, data: bytes) -> None:
        temporary = f"{path}.tmp"
        file = self.open(temporary, create=True)
        file.truncate(0)
        file.append([data])
        file.sync()
        self.rename(temporary, path)
        self.sync_directory(os.path.dirname(path))

    def sync_directory(self, path: str) -> None:
        self.check(path, writing=True)
        directory = self._directory(path)
        self.count_change()
        directory.sync()

    def modified_ms(self, path: str) -> int:
        self.check(path, writing=False)
        node = self._find(path)
        if node is None:
            raise _missing(path)
        return node.modified_ms if isinstance(node, Inode) else 0

    def space(self, path: str) -> tuple[int, int]:
        self.check(path, writing=False)
        return self._capacity, self._capacity - self._used

    # --- paths -------------------------------------------------------------------------------------------

    def _find(self, path: str) -> Directory | Inode | None:
        self.check(path, writing=False)
        node: Directory | Inode | None = self._root
        for name in _parts(path):
            if not isinstance(node, Directory):
                return None
            node = node.children.get(name)
        return node

    def _directory(self, path: str) -> Directory:
        node = self._find(path)
        if node is None:
            raise _missing(path)
        if not isinstance(node, Directory):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        return node

    def _parent(self, path: str) -> tuple[Directory, str]:
        return self._directory(os.path.dirname(path)), os.path.basename(path)


def _parts(path: str) -> list[str]:
    assert path.startswith("/"), f"the simulated disk knows absolute paths only: {path}"
    return [part for part in path.split("/") if part]


def _missing(path: str) -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
