"""What a log answers."""

from __future__ import annotations

import contextlib
from typing import NamedTuple

from barnabas.ports import File, FileSlice, Filesystem


class Appended(NamedTuple):
    first_offset: int
    last_offset: int
    log_append_time_ms: int  # -1 unless the topic stamps LogAppendTime (or the batch was a duplicate)
    log_start_offset: int
    duplicate: bool = False
    size: int = 0

    @property
    def records(self) -> int:
        return self.last_offset - self.first_offset + 1


class OffsetMetadata(NamedTuple):
    """Where an offset lies: enough to count bytes between two of them without reading."""

    offset: int
    segment_base_offset: int
    position: int


class Read(NamedTuple):
    slice: FileSlice | None
    metadata: OffsetMetadata | None = None  # of the first batch in the slice
    first_batch_incomplete: bool = False  # it exceeds max_bytes, and not even one batch was demanded


NOTHING = Read(None)


class TimestampOffset(NamedTuple):
    timestamp: int
    offset: int
    leader_epoch: int


class Doomed(NamedTuple):
    """A file, already renamed out of the way, that its owner removes when `due_ms` comes."""

    path: str
    due_ms: int


class Unflushed:
    """What must reach the disk before the log is durable up to `offset`. `sync` may run on any thread."""

    __slots__ = ("_directories", "_files", "_filesystem", "_writes", "offset", "paths")

    def __init__(
        self,
        filesystem: Filesystem,
        offset: int,
        files: tuple[File, ...],
        paths: tuple[str, ...] = (),
        directories: tuple[str, ...] = (),
        writes: tuple[tuple[str, bytes], ...] = (),
    ) -> None:
        self.offset = offset
        self._filesystem = filesystem
        self._files = files
        self.paths = paths
        self._directories = directories
        self._writes = writes

    def extended(self, offset: int, paths: tuple[str, ...], directories: tuple[str, ...]) -> Unflushed:
        return Unflushed(self._filesystem, offset, self._files, paths, directories, self._writes)

    def sync(self) -> None:
        for file in self._files:
            file.sync()
        # A path may be gone by now, with its segment or its whole log: then nobody needs it any more.
        for path in self.paths:
            with contextlib.suppress(FileNotFoundError):
                self._sync_path(path)
        for path, content in self._writes:
            with contextlib.suppress(FileNotFoundError):
                self._filesystem.write_bytes_durably(path, content)
        # Names last: a name that survives a crash must not lead to bytes that did not.
        for directory in self._directories:
            with contextlib.suppress(FileNotFoundError):
                self._filesystem.sync_directory(directory)

    def _sync_path(self, path: str) -> None:
        opened = self._filesystem.open(path)
        try:
            opened.sync()
        finally:
            opened.close()
