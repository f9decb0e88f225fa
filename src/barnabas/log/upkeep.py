"""What the logs of a broker owe over time: retention, flushes, checkpoints, removal of files.

The owner calls `tick(now_ms)` when `next_tick_ms` has come, runs the returned chores wherever it likes, and
hands each outcome to `finish` on the loop's thread.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from barnabas.log.checkpoints import HIGH_WATERMARKS_FILE, LOG_START_OFFSETS_FILE, RECOVERY_POINTS_FILE
from barnabas.log.chores import Chore, Removals
from barnabas.log.config import LONG_MAX
from barnabas.log.core import LogCore
from barnabas.log.directory import LogDirectory
from barnabas.log.log import Log
from barnabas.log.producer_state import ProducerSettings
from barnabas.log.results import Doomed
from barnabas.model.ids import TopicPartition
from barnabas.ports import Filesystem

_RETENTION_LOGS_PER_TICK = 200  # so that a check of ten thousand logs does not hold up the loop
_CHECKPOINTS = (RECOVERY_POINTS_FILE, LOG_START_OFFSETS_FILE, HIGH_WATERMARKS_FILE)


@dataclass(frozen=True, slots=True)
class ManagerSettings:
    retention_check_interval_ms: int = 300_000
    flush_scheduler_interval_ms: int = LONG_MAX
    recovery_point_checkpoint_interval_ms: int = 60_000
    log_start_checkpoint_interval_ms: int = 60_000
    high_watermark_checkpoint_interval_ms: int = 5_000
    producer_expiration_check_interval_ms: int = 600_000
    open_files_max: int = 4096
    producers: ProducerSettings = field(default_factory=ProducerSettings)


class Upkeep:
    def __init__(
        self,
        filesystem: Filesystem,
        directories: Sequence[LogDirectory],
        settings: ManagerSettings,
        fail: Callable[[LogDirectory, OSError], list[TopicPartition]],
    ) -> None:
        self._filesystem = filesystem
        self._directories = directories
        self._settings = settings
        self._fail = fail
        self._removals = Removals()
        self._owing: dict[LogCore, None] = {}
        self._running: set[object] = set()
        self._retention: deque[tuple[LogDirectory, Log]] = deque()
        self._due_ms: dict[str, int] = {}
        self._shortened: list[TopicPartition] = []

    def begin(self, now_ms: int) -> None:
        for name, interval_ms in self._intervals().items():
            self._due_ms[name] = min(now_ms + interval_ms, LONG_MAX)

    def sync_soon(self, log: LogCore) -> None:
        """A log has a new active segment or a new leader epoch: what came before is to be made durable."""
        self._owing[log] = None

    def checkpoint_soon(self, now_ms: int) -> None:
        """A log is somewhere else now: where it begins must be known there, too."""
        self._due_ms.update(dict.fromkeys(_CHECKPOINTS, now_ms))

    def remove_later(self, directory: LogDirectory, doomed: Doomed) -> None:
        self._removals.add(directory, doomed)

    def _intervals(self) -> dict[str, int]:
        settings = self._settings
        return {
            "retention": settings.retention_check_interval_ms,
            "flush": settings.flush_scheduler_interval_ms,
            "producers": settings.producer_expiration_check_interval_ms,
            RECOVERY_POINTS_FILE: settings.recovery_point_checkpoint_interval_ms,
            LOG_START_OFFSETS_FILE: settings.log_start_checkpoint_interval_ms,
            HIGH_WATERMARKS_FILE: settings.high_watermark_checkpoint_interval_ms,
        }

    def next_tick_ms(self, now_ms: int) -> int:
        if self._retention or any(log not in self._running for log in self._owing):
            return now_ms
        removal_ms = self._removals.next_due_ms
        soonest_ms = min(self._due_ms.values(), default=LONG_MAX)
        return soonest_ms if removal_ms is None else min(soonest_ms, removal_ms)

    def tick(self, now_ms: int) -> list[Chore]:
        """Decide what is due. Everything slow is in the chores."""
        due = {name for name, at_ms in self._due_ms.items() if at_ms <= now_ms}
        for name in due:
            self._due_ms[name] = min(now_ms + self._intervals()[name], LONG_MAX)
        if "retention" in due:
            self._retention.extend(self._logs())
        if "producers" in due:
            for _, log in self._logs():
                log.producers.remove_expired(now_ms)
        self._check_retention(now_ms)
        chores = self._flushes_owed()
        if "flush" in due:
            chores += self._due_flushes(now_ms)
        for name in _CHECKPOINTS:
            if name in due:
                chores += self._checkpoints(name)
        return chores + self._due_removals(now_ms)

    def _logs(self) -> Iterable[tuple[LogDirectory, Log]]:
        return [(directory, log) for directory in self._directories for log in directory.logs.values()]

    def _check_retention(self, now_ms: int) -> None:
        for _ in range(min(_RETENTION_LOGS_PER_TICK, len(self._retention))):
            directory, log = self._retention.popleft()
            if log.is_open:
                self.collect(directory, log, now_ms)

    def collect(self, directory: LogDirectory, log: Log, now_ms: int) -> None:
        """Apply retention to one log and take charge of the files it lets go."""
        try:
            if log.delete_old_segments(now_ms):
                self._shortened.append(log.topic_partition)
        except OSError as failure:
            self._fail(directory, failure)
        for doomed in log.take_doomed():
            self._removals.add(directory, doomed)

    def take_shortened(self) -> list[TopicPartition]:
        """Logs that retention has made begin later since the last question: their followers want to know."""
        shortened, self._shortened = self._shortened, []
        return shortened

    def _flushes_owed(self) -> list[Chore]:
        ready = [log for log in self._owing if log not in self._running]
        if not ready:
            return []
        for log in ready:
            del self._owing[log]
        homes: dict[LogCore, LogDirectory] = {
            log: directory
            for directory in self._directories
            for log in (*directory.logs.values(), *directory.coming.values())
        }
        return [self.flush_chore(homes[log], log, rolled_only=True) for log in ready if log in homes]

    def _due_flushes(self, now_ms: int) -> list[Chore]:
        return [
            self.flush_chore(directory, log)
            for directory, log in self._logs()
            if log.flush_is_due(now_ms) and log not in self._running
        ]

    def flush_chore(
        self,
        directory: LogDirectory,
        log: LogCore,
        *,
        rolled_only: bool = False,
        then: Callable[[int], None] | None = None,
    ) -> Chore:
        """Sync one log. `then` runs after the log knows that it is durable."""
        unflushed = log.unflushed_files(rolled_only=rolled_only)
        self._running.add(log)

        def finish(now_ms: int) -> None:
            log.mark_flushed(unflushed.offset, now_ms)
            if then is not None:
                then(now_ms)

        return Chore(directory, unflushed.sync, finish, log)

    def _checkpoints(self, name: str) -> list[Chore]:
        chores = []
        for directory in self._directories:
            key = (directory, name)
            if directory.online and key not in self._running:
                self._running.add(key)
                chores.append(self._checkpoint(directory, name, key))
        return chores

    def _checkpoint(self, directory: LogDirectory, name: str, key: object) -> Chore:
        if name == RECOVERY_POINTS_FILE:
            return self._recovery_points(directory, key, {})
        values = directory.checkpoint_values(name)
        filesystem = self._filesystem
        return Chore(directory, lambda: directory.write_checkpoint(filesystem, name, values), key=key)

    def lower_recovery_point(
        self, directory: LogDirectory, partition: TopicPartition, offset: int
    ) -> Chore | None:
        """Before what lies behind the offset is replaced: otherwise a crash could bring back some of it, and
        nobody would look. None while an earlier checkpoint is on its way: to be asked for again."""
        key = (directory, RECOVERY_POINTS_FILE)
        if key in self._running:
            return None
        self._running.add(key)
        return self._recovery_points(directory, key, {partition: offset})

    def _recovery_points(
        self, directory: LogDirectory, key: object, lowered: dict[TopicPartition, int]
    ) -> Chore:
        values = directory.checkpoint_values(RECOVERY_POINTS_FILE) | lowered
        before = directory.points_on_disk
        directory.points_on_disk = {
            partition: max(before.get(partition, 0), values.get(partition, 0))
            for partition in before.keys() | values.keys()
        }

        def write() -> None:
            directory.write_checkpoint(self._filesystem, RECOVERY_POINTS_FILE, values)

        def written(_now_ms: int) -> None:
            directory.points_on_disk = values

        return Chore(directory, write, written, key)

    def _due_removals(self, now_ms: int) -> list[Chore]:
        return [
            Chore(directory, _Removal(self._filesystem, path))
            for directory, path in self._removals.due(now_ms)
            if directory.online
        ]

    def finish(self, chore: Chore, error: BaseException | None, now_ms: int) -> list[TopicPartition]:
        """The outcome of a chore. Returns the partitions that went offline with it."""
        self._running.discard(chore.key)
        if error is None:
            chore.then(now_ms)
            return []
        if isinstance(error, OSError):
            return self._fail(chore.directory, error)
        raise error


@dataclass(frozen=True, slots=True)
class _Removal:
    filesystem: Filesystem
    path: str

    def __call__(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            if self.filesystem.is_directory(self.path):
                self.filesystem.remove_tree(self.path)
            else:
                self.filesystem.remove(self.path)
