"""A bounded number of open segment files, shared by every log of a broker.

A segment that loses its place only forgets its `File`: a slice of it may still be on its way to a socket, so
the descriptor closes when the last reference goes, never under the reader.
"""

from __future__ import annotations

from typing import Protocol

from barnabas.ports import File, Filesystem


class Holder(Protocol):
    """Something that keeps an open file and can let go of it."""

    recently_used: bool

    def let_go(self) -> None: ...


class OpenFiles:
    """Second chance: who was used since the last round stays for one more."""

    __slots__ = ("_filesystem", "_holders", "_limit")

    def __init__(self, filesystem: Filesystem, limit: int = 4096) -> None:
        self._filesystem = filesystem
        self._limit = limit
        self._holders: dict[Holder, None] = {}

    def __len__(self) -> int:
        return len(self._holders)

    @property
    def filesystem(self) -> Filesystem:
        return self._filesystem

    def open(self, holder: Holder, path: str, *, create: bool = False) -> File:
        file = self._filesystem.open(path, create=create)
        while len(self._holders) >= self._limit:
            self._evict_one()
        holder.recently_used = True
        self._holders[holder] = None
        return file

    def forget(self, holder: Holder) -> None:
        self._holders.pop(holder, None)

    def _evict_one(self) -> None:
        for _ in range(len(self._holders)):
            oldest = next(iter(self._holders))
            del self._holders[oldest]
            if not oldest.recently_used:
                oldest.let_go()
                return
            oldest.recently_used = False
            self._holders[oldest] = None
        oldest = next(iter(self._holders))
        del self._holders[oldest]
        oldest.let_go()
