"""Logs on their way to another directory of the same broker (KIP-113).

The copy grows in a folder `…-future` until it has everything; then it takes the log's name, and the old
folder goes. Between the two renames a crash may leave both: a mark says which of them is the later one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import NamedTuple

from barnabas.log.directory import Contents, LogDirectory
from barnabas.log.log import Log
from barnabas.log.partition_metadata import read_topic_id
from barnabas.model.ids import TopicPartition
from barnabas.ports import Filesystem

MOVED_HERE_FILE = "moved-here"


class Future(NamedTuple):
    directory: LogDirectory
    log: Log


class Unfinished(NamedTuple):
    """What an earlier life has copied, and what the directory's checkpoints say of it."""

    directory: LogDirectory
    path: str
    recovery_point: int
    clean: bool


class Futures:
    def __init__(self, filesystem: Filesystem) -> None:
        self._filesystem = filesystem
        self._futures: dict[TopicPartition, Future] = {}
        # Where logs that are to come were asked to be, and moves that an earlier life has not finished.
        self._left: list[tuple[LogDirectory, str]] = []
        self.preferred: dict[TopicPartition, LogDirectory] = {}
        self.unfinished: dict[TopicPartition, Unfinished] = {}

    def found(self, directory: LogDirectory, contents: Contents) -> None:
        """Copies that lie here. Of one partition at most one is gone on with; whatever nobody goes on with is
        removed by `LogManager.forget_unfinished`."""
        for partition, path in contents.unfinished.items():
            point = contents.recovery_points.get(partition, 0)
            self._left.append((directory, path))
            self.unfinished[partition] = Unfinished(directory, path, point, contents.clean)

    def left_for(self, log: Log, directory: LogDirectory) -> Unfinished | None:
        """A copy of this very log that can be gone on with. A topic that was deleted and made again has the
        same name, and other records."""
        left = self.unfinished.pop(log.topic_partition, None)
        if left is None or left.directory is not directory:
            return None
        if log.topic_id is None or read_topic_id(self._filesystem, left.path) != log.topic_id:
            return None
        self._left.remove((directory, left.path))
        return left

    def take_left(self) -> list[tuple[LogDirectory, str]]:
        """Folders of an earlier life that nobody wants."""
        left, self._left = self._left, []
        self.unfinished.clear()
        return left

    def get(self, partition: TopicPartition) -> Future | None:
        return self._futures.get(partition)

    def within(self, directory: LogDirectory) -> list[Log]:
        return [future.log for future in self._futures.values() if future.directory is directory]

    def add(self, directory: LogDirectory, log: Log) -> None:
        self._futures[log.topic_partition] = Future(directory, log)
        directory.coming[log.topic_partition] = log

    def take(self, partition: TopicPartition) -> Future | None:
        future = self._futures.pop(partition, None)
        if future is not None:
            future.directory.coming.pop(partition, None)
        return future

    def failed(self, directory: LogDirectory) -> None:
        """Its disk is gone, and what grew there with it."""
        for log in self.within(directory):
            self.take(log.topic_partition)
            log.is_open = False
            for segment in log.segments:
                with contextlib.suppress(OSError):
                    segment.drop()

    def mark(self, log: Log, now_ms: int) -> Callable[[], None]:
        """That this log is later than others of its name; for a worker, before a copy takes the name."""
        path = f"{log.directory}/{MOVED_HERE_FILE}"
        return lambda: self._filesystem.write_bytes_durably(path, b"%d\n" % now_ms)

    def moved_here_ms(self, directory: str) -> int:
        """When a log came into this folder from another directory, or in place of one; -1 if it did not."""
        path = f"{directory}/{MOVED_HERE_FILE}"
        if not self._filesystem.exists(path):
            return -1
        text = self._filesystem.read_bytes(path).strip()
        return int(text) if text.isdigit() else -1
