"""What of a log is not durable yet, and how it becomes so: gathered on the loop, synced on any thread."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from barnabas.log.leader_epochs import EpochsWrite
from barnabas.log.segment import Segment
from barnabas.ports import File, Filesystem


@dataclass(slots=True, eq=False)
class Unflushed:
    """What must reach the disk before the log is durable up to `offset`. Only `sync` runs elsewhere; several
    may be under way at once, and each vouches for exactly what it holds."""

    filesystem: Filesystem
    offset: int
    files: tuple[File, ...]
    paths: tuple[str, ...]
    directories: tuple[str, ...]
    epochs: EpochsWrite | None
    rolled: tuple[Segment, ...]  # whose files are among the paths
    active_base_offset: int
    cut: Segment | None = None  # which was made shorter before this began, and not since
    done: bool = False

    def sync(self) -> None:
        for file in self.files:
            file.sync()
        # A path may be gone by now, with its segment or its whole log: then nobody needs it any more.
        for path in self.paths:
            with contextlib.suppress(FileNotFoundError):
                self._sync_path(path)
        if self.epochs is not None:
            with contextlib.suppress(FileNotFoundError):
                self.filesystem.write_bytes_durably(self.epochs.path, self.epochs.content)
        # Names last: a name that survives a crash must not lead to bytes that did not.
        for directory in self.directories:
            with contextlib.suppress(FileNotFoundError):
                self.filesystem.sync_directory(directory)
        self.done = True

    def _sync_path(self, path: str) -> None:
        opened = self.filesystem.open(path)
        try:
            opened.sync()
        finally:
            opened.close()
