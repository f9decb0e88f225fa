"""What a log answers."""

from __future__ import annotations

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

    __slots__ = ("_directories", "_files", "_filesystem", "offset", "paths")

    def __init__(
        self,
        filesystem: Filesystem,
        offset: int,
        files: tuple[File, ...],
        paths: tuple[str, ...] = (),
        directories: tuple[str, ...] = (),
    ) -> None:
        self.offset = offset
        self._filesystem = filesystem
        self._files = files
        self.paths = paths
        self._directories = directories

    def sync(self) -> None:
        for file in self._files:
            file.sync()
        for path in self.paths:
            opened = self._filesystem.open(path)
            try:
                opened.sync()
            finally:
                opened.close()
        # Names last: a name that survives a crash must not lead to bytes that did not.
        for directory in self._directories:
            self._filesystem.sync_directory(directory)
