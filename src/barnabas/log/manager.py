"""Every log of a broker, over several `log.dirs`.

`open_all` at the start, `close_all` at the end; between them `upkeep` says what is due. An OSError takes its
directory offline, with KAFKA_STORAGE_ERROR for its partitions; the others go on.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from barnabas.log import meta_properties
from barnabas.log.config import LogConfig
from barnabas.log.directory import Contents, LogDirectory
from barnabas.log.futures import Futures
from barnabas.log.loading import Opening, open_log
from barnabas.log.log import Log
from barnabas.log.names import delete_directory_name
from barnabas.log.open_files import OpenFiles
from barnabas.log.producer_state import ProducerSettings
from barnabas.log.results import Doomed
from barnabas.log.upkeep import ManagerSettings, Upkeep
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.ports import Filesystem, Random


class LogManager:
    def __init__(
        self,
        filesystem: Filesystem,
        paths: Sequence[str],
        random: Random,
        settings: ManagerSettings | None = None,
    ) -> None:
        self.settings = settings or ManagerSettings()
        self.directories = [LogDirectory(filesystem.absolute(path)) for path in paths]
        self.logs: dict[TopicPartition, Log] = {}
        self.was_clean = False  # whether every directory was closed in good order before it was opened
        self._filesystem = filesystem
        self.open_files = OpenFiles(filesystem, self.settings.open_files_max)
        self._random = random
        self._homes: dict[TopicPartition, LogDirectory] = {}
        self.futures = Futures(filesystem)
        self.upkeep = Upkeep(filesystem, self.directories, self.settings, self.fail)

    # --- start and stop ----------------------------------------------------------------------------------

    def stored_cluster_id(self) -> str | None:
        """What the directories say, before anything is opened."""
        for directory in self.directories:
            with self._disk(directory):
                found = meta_properties.read(self._filesystem, directory.path)
                if found is not None and found.cluster_id is not None:
                    return found.cluster_id
        return None

    def has_logs(self) -> bool:
        """The same: whether there are any."""
        for directory in self.directories:
            with self._disk(directory):
                if directory.has_logs(self._filesystem):
                    return True
        return False

    def open_all(
        self, cluster_id: str, node_id: int, config_of: Callable[[str], LogConfig], now_ms: int
    ) -> None:
        """Load every log of every directory. InconsistentDirectoryError if one is not ours."""
        clean = 0
        for directory in self.directories:
            with self._disk(directory):
                directory.prepare(self._filesystem, cluster_id, node_id, self._random)
                contents = directory.read_contents(self._filesystem)
                clean += contents.clean
                for path in contents.leftovers:
                    self.upkeep.remove_later(directory, Doomed(path, now_ms))
                self.futures.found(directory, contents)
                for partition in contents.partitions:
                    self._open_existing(directory, contents, partition, config_of(partition.topic), now_ms)
        self.was_clean = clean == len(self.directories)
        self.upkeep.begin(now_ms)

    def _open_existing(
        self,
        directory: LogDirectory,
        contents: Contents,
        partition: TopicPartition,
        config: LogConfig,
        now_ms: int,
    ) -> None:
        if partition in self._homes and not self._is_later(directory, partition, now_ms):
            return
        opening = Opening(
            partition,
            f"{directory.path}/{partition}",
            config,
            now_ms,
            log_start_offset=contents.log_start_offsets.get(partition, 0),
            recovery_point=contents.recovery_points.get(partition, 0),
            clean=contents.clean,
            producer_settings=self.settings.producers,
            jitter=self._random.below,
            sync_soon=self.upkeep.sync_soon,
        )
        log = open_log(self.open_files, opening)
        if log.flush_is_due(now_ms):
            _make_durable(log, now_ms)
        log.update_high_watermark(contents.high_watermarks.get(partition, 0))
        self._adopt(directory, log)

    def _is_later(self, directory: LogDirectory, partition: TopicPartition, now_ms: int) -> bool:
        """Of a log that is found twice, the one that was moved here last counts: a crash came before the
        other could be put aside. If neither was moved, nobody can tell."""
        other = self._homes[partition]
        here = self.futures.moved_here_ms(f"{directory.path}/{partition}")
        there = self.futures.moved_here_ms(f"{other.path}/{partition}")
        if here == there:
            raise meta_properties.InconsistentDirectoryError(
                f"Duplicate log directories for {partition} are found in both {other.path} and "
                f"{directory.path}"
            )
        if here > there:
            self.delete(partition, now_ms)
            return True
        path = f"{directory.path}/{partition}"
        doomed = f"{directory.path}/{delete_directory_name(partition, self._random.bytes(16).hex())}"
        self._filesystem.rename(path, doomed)
        self.upkeep.remove_later(directory, Doomed(doomed, now_ms))
        return False

    def update_producer_settings(self, settings: ProducerSettings) -> None:
        """For the logs that are open, and those to come."""
        self.settings = replace(self.settings, producers=settings)
        for log in self.logs.values():
            log.producers.settings = settings

    def _adopt(self, directory: LogDirectory, log: Log) -> None:
        self.logs[log.topic_partition] = directory.logs[log.topic_partition] = log
        self._homes[log.topic_partition] = directory

    def close_all(self, now_ms: int, broker_epoch: int = -1) -> None:
        """Sync, checkpoint, and only then leave the mark that lets the next start skip recovery."""
        for directory in self.directories:
            if not directory.online:
                continue
            with self._disk(directory):
                for log in (*directory.logs.values(), *directory.coming.values()):
                    unflushed = log.close()
                    unflushed.sync()
                    log.mark_flushed(unflushed.offset, now_ms)
                self._filesystem.sync_directory(directory.path)
                directory.write_all_checkpoints(self._filesystem)
                directory.leave_clean_mark(self._filesystem, broker_epoch)

    # --- logs --------------------------------------------------------------------------------------------

    def get(self, partition: TopicPartition) -> Log | None:
        """None if there is no such log; KAFKA_STORAGE_ERROR if its disk has failed."""
        log = self.logs.get(partition)
        if log is None and partition in self._homes:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR)
        return log

    def create(
        self, partition: TopicPartition, topic_id: bytes | None, config: LogConfig, now_ms: int
    ) -> Log:
        """The existing log, or a new one in the directory that holds the fewest."""
        existing = self.get(partition)
        if existing is not None:
            return existing
        directory = self._make_home(partition)
        opening = Opening(
            partition,
            f"{directory.path}/{partition}",
            config,
            now_ms,
            clean=True,
            topic_id=topic_id,
            producer_settings=self.settings.producers,
            jitter=self._random.below,
            sync_soon=self.upkeep.sync_soon,
        )
        with self.storage_errors(directory):
            log = open_log(self.open_files, opening)
            if not all(each.online for each in self.directories):
                # The disk that failed may hold one that was here before, and may come back with it.
                self.futures.mark(log, now_ms)()
            self._adopt(directory, log)
        return log

    def _make_home(self, partition: TopicPartition) -> LogDirectory:
        """A folder where the fewest logs are. A disk that cannot even make it goes offline, and the next one
        takes the log."""
        online = [directory for directory in self.directories if directory.online]
        preferred = self.futures.preferred.pop(partition, None)
        for directory in sorted(online, key=lambda each: (each is not preferred, len(each.logs))):
            with self._disk(directory):
                self._filesystem.make_directories(f"{directory.path}/{partition}")
                return directory
        raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR)

    def presume_offline(self, expected: Iterable[TopicPartition]) -> None:
        """After `open_all`: what is expected and not found lies, for all we know, on a disk that failed. A
        new log elsewhere would hide it, and no broker could start once that disk is back."""
        failed = next((directory for directory in self.directories if not directory.online), None)
        if failed is not None:
            for partition in expected:
                self._homes.setdefault(partition, failed)

    def delete(self, partition: TopicPartition, now_ms: int) -> None:
        """Gone at once for everybody; its files follow after file.delete.delay.ms."""
        self._set_aside(partition, now_ms, "delete")

    def set_aside_stray(self, partition: TopicPartition, now_ms: int) -> None:
        """A log that the cluster knows nothing about is kept under another name, for a person to look at."""
        self._set_aside(partition, now_ms, "stray")

    def _set_aside(self, partition: TopicPartition, now_ms: int, why: str) -> None:
        directory = self._homes.pop(partition, None)
        log = self.logs.pop(partition, None)
        if directory is None or log is None:
            return
        del directory.logs[partition]
        unique = self._random.bytes(16).hex()
        target = f"{directory.path}/{delete_directory_name(partition, unique, why)}"
        with self.storage_errors(directory):
            log.move_to(target)
            log.abandon()
        # Another log of that name would be vouched for by what was known of this one.
        self.upkeep.checkpoint_soon(now_ms)
        if why == "delete":
            due_ms = now_ms + log.config.file_delete_delay_ms
            self.upkeep.remove_later(directory, Doomed(target, due_ms))

    def find_directory(self, path: str) -> LogDirectory | None:
        absolute = self._filesystem.absolute(path)
        return next((each for each in self.directories if each.path == absolute), None)

    # --- moves between directories -----------------------------------------------------------------------

    def begin_future(self, log: Log, directory: LogDirectory, now_ms: int) -> Log:
        """A log that is to become this one, in another directory: what an earlier life has copied of it, or
        an empty one."""
        partition = log.topic_partition
        self.drop_future(partition, now_ms)
        opening = Opening(
            partition,
            f"{directory.path}/{delete_directory_name(partition, self._random.bytes(16).hex(), 'future')}",
            log.config,
            now_ms,
            clean=True,
            topic_id=log.topic_id,
            producer_settings=self.settings.producers,
            jitter=self._random.below,
            sync_soon=self.upkeep.sync_soon,
        )
        with self.storage_errors(directory):
            left = self.futures.left_for(log, directory)
            if left is not None:
                opening = replace(
                    opening, directory=left.path, clean=left.clean, recovery_point=left.recovery_point
                )
            future = open_log(self.open_files, opening)
        self.futures.add(directory, future)
        # What is written down of this partition there may be of another log that it once had.
        self.upkeep.checkpoint_soon(now_ms)
        return future

    def forget_unfinished(self, now_ms: int) -> None:
        """What earlier lives have copied and nobody goes on with."""
        for directory, path in self.futures.take_left():
            self.upkeep.remove_later(directory, Doomed(path, now_ms))

    def drop_future(self, partition: TopicPartition, now_ms: int) -> None:
        future = self.futures.take(partition)
        if future is not None:
            future.log.abandon()
            self.upkeep.remove_later(future.directory, Doomed(future.log.directory, now_ms))

    def install_future(self, partition: TopicPartition, now_ms: int) -> Log:
        """The copy takes the log's place, here and on the disk. It is marked as the later one by now: a crash
        may leave both under the same name."""
        future = self.futures.take(partition)
        assert future is not None
        with self.storage_errors(future.directory):
            future.log.move_to(f"{future.directory.path}/{partition}")
        with contextlib.suppress(ApiError):  # its disk has failed: there is nothing left to delete
            self.delete(partition, now_ms)
        self._adopt(future.directory, future.log)
        self.upkeep.checkpoint_soon(now_ms)
        return future.log

    def directory_of(self, partition: TopicPartition) -> LogDirectory | None:
        return self._homes.get(partition)

    # --- failing disks -----------------------------------------------------------------------------------

    @property
    def all_offline(self) -> bool:
        return not any(directory.online for directory in self.directories)

    def fail(self, directory: LogDirectory, failure: OSError) -> list[TopicPartition]:
        """Take the directory offline. Returns the partitions that went with it."""
        directory.fail(failure)
        self.futures.failed(directory)
        lost = list(directory.logs)
        for partition in lost:
            self.logs.pop(partition, None)
        directory.logs.clear()
        return lost

    def fail_log(self, partition: TopicPartition, failure: OSError) -> list[TopicPartition]:
        """An append or a read of this partition met the failure."""
        directory = self._homes.get(partition)
        return [] if directory is None else self.fail(directory, failure)

    @contextlib.contextmanager
    def storage_errors(self, directory: LogDirectory) -> Iterator[None]:
        try:
            yield
        except OSError as failure:
            self.fail(directory, failure)
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR) from failure

    @contextlib.contextmanager
    def _disk(self, directory: LogDirectory) -> Iterator[None]:
        try:
            yield
        except OSError as failure:
            self.fail(directory, failure)


def _make_durable(log: Log, now_ms: int) -> None:
    """What a killed process left in the page cache was not synced, and nobody can tell: before it is served
    or a repeat of it acknowledged, it must be, where the topic asks for that."""
    unflushed = log.unflushed_files()
    unflushed.sync()
    log.mark_flushed(unflushed.offset, now_ms)
