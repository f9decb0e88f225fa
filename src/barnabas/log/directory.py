"""One entry of `log.dirs`: its logs, its checkpoints, and whether its disk still answers."""

from __future__ import annotations

import contextlib
import json
import logging
from dataclasses import dataclass, field

from barnabas.log import meta_properties
from barnabas.log.checkpoints import (
    HIGH_WATERMARKS_FILE,
    LOG_START_OFFSETS_FILE,
    RECOVERY_POINTS_FILE,
    read_offsets,
    write_offsets,
)
from barnabas.log.log import Log
from barnabas.log.meta_properties import MetaProperties
from barnabas.log.names import (
    DeletedDirectory,
    FutureDirectory,
    PartitionDirectory,
    StrayDirectory,
    parse_directory,
)
from barnabas.model.ids import TopicPartition
from barnabas.ports import Filesystem, Random

_LOG = logging.getLogger(__name__)

CLEAN_SHUTDOWN_FILE = ".kafka_cleanshutdown"
_METADATA_TOPIC = "__cluster_metadata"


@dataclass(slots=True)
class Contents:
    """What a directory says about its logs before they are opened."""

    clean: bool
    partitions: list[TopicPartition]
    leftovers: list[str]  # folders to be removed
    unfinished: dict[TopicPartition, str]  # folders of logs on their way here when the broker stopped
    recovery_points: dict[TopicPartition, int]
    log_start_offsets: dict[TopicPartition, int]
    high_watermarks: dict[TopicPartition, int]


@dataclass(slots=True, eq=False)
class LogDirectory:
    path: str
    id: bytes = b""
    logs: dict[TopicPartition, Log] = field(default_factory=dict)
    coming: dict[TopicPartition, Log] = field(default_factory=dict)  # copies of logs of other directories
    # What the checkpoint on the disk vouches for, at most: after a crash nobody looks at what is below.
    points_on_disk: dict[TopicPartition, int] = field(default_factory=dict)
    failure: OSError | None = None

    @property
    def online(self) -> bool:
        return self.failure is None

    def prepare(self, filesystem: Filesystem, cluster_id: str, node_id: int, random: Random) -> None:
        """Format a fresh directory; refuse somebody else's."""
        filesystem.make_directories(self.path)
        found = meta_properties.read(filesystem, self.path)
        if found is not None:
            meta_properties.check(
                found, f"{self.path}/{meta_properties.META_PROPERTIES}", cluster_id, node_id
            )
            if found.directory_id is not None:
                self.id = found.directory_id
                return
        self.id = meta_properties.new_directory_id(random)
        meta_properties.write(filesystem, self.path, MetaProperties(cluster_id, node_id, self.id))

    def has_logs(self, filesystem: Filesystem) -> bool:
        return filesystem.is_directory(self.path) and bool(self._folders(filesystem)[0])

    def read_contents(self, filesystem: Filesystem) -> Contents:
        """Also takes the clean mark away: a crash from here on is a crash."""
        clean = filesystem.exists(f"{self.path}/{CLEAN_SHUTDOWN_FILE}")
        if clean:
            filesystem.remove(f"{self.path}/{CLEAN_SHUTDOWN_FILE}")
            filesystem.sync_directory(self.path)
        partitions, leftovers, unfinished = self._folders(filesystem)
        self.points_on_disk = self._offsets(filesystem, RECOVERY_POINTS_FILE)
        return Contents(
            clean,
            partitions,
            leftovers,
            unfinished,
            self.points_on_disk,
            self._offsets(filesystem, LOG_START_OFFSETS_FILE),
            self._offsets(filesystem, HIGH_WATERMARKS_FILE),
        )

    def _folders(
        self, filesystem: Filesystem
    ) -> tuple[list[TopicPartition], list[str], dict[TopicPartition, str]]:
        partitions: list[TopicPartition] = []
        leftovers: list[str] = []
        unfinished: dict[TopicPartition, str] = {}
        for name in filesystem.list(self.path):
            path = f"{self.path}/{name}"
            if not filesystem.is_directory(path):
                continue
            match parse_directory(name):
                case PartitionDirectory(topic_partition) if topic_partition.topic != _METADATA_TOPIC:
                    partitions.append(topic_partition)
                case DeletedDirectory():
                    leftovers.append(path)
                case FutureDirectory(topic_partition) if topic_partition not in unfinished:
                    unfinished[topic_partition] = path
                case FutureDirectory():
                    leftovers.append(path)
                case StrayDirectory():
                    _LOG.warning("Ignoring %s: it belongs to no topic of this broker", path)
                case None:
                    _LOG.warning("Ignoring %s: not a partition's directory", path)
                case PartitionDirectory():
                    pass  # the quorum's own log, if Apache Kafka ran here before
        return partitions, leftovers, unfinished

    def _offsets(self, filesystem: Filesystem, name: str) -> dict[TopicPartition, int]:
        checkpoint = read_offsets(filesystem, f"{self.path}/{name}")
        if checkpoint.problem is not None:
            _LOG.warning("%s", checkpoint.problem)
        return checkpoint.offsets

    # --- checkpoints: values are taken on the loop, written wherever --------------------------------------

    def checkpoint_values(self, name: str) -> dict[TopicPartition, int]:
        match name:
            case "recovery-point-offset-checkpoint":
                # A copy, too: a start that finds it unfinished need not look at all of it.
                return {
                    partition: log.recovery_point
                    for partition, log in (*self.coming.items(), *self.logs.items())
                }
            case "log-start-offset-checkpoint":
                # Only what the first segment's name does not already say.
                return {
                    partition: log.log_start_offset
                    for partition, log in self.logs.items()
                    if log.log_start_offset > log.segments.first.base_offset
                }
            case "replication-offset-checkpoint":
                return {partition: log.high_watermark for partition, log in self.logs.items()}
        raise AssertionError(name)

    def write_checkpoint(self, filesystem: Filesystem, name: str, values: dict[TopicPartition, int]) -> None:
        write_offsets(filesystem, f"{self.path}/{name}", values)

    def write_all_checkpoints(self, filesystem: Filesystem) -> None:
        for name in (RECOVERY_POINTS_FILE, LOG_START_OFFSETS_FILE, HIGH_WATERMARKS_FILE):
            self.write_checkpoint(filesystem, name, self.checkpoint_values(name))

    def leave_clean_mark(self, filesystem: Filesystem, broker_epoch: int) -> None:
        mark = json.dumps({"version": 0, "brokerEpoch": broker_epoch}, separators=(",", ":"))
        filesystem.write_bytes_durably(f"{self.path}/{CLEAN_SHUTDOWN_FILE}", mark.encode())

    def fail(self, failure: OSError) -> None:
        """From now on every partition here is offline. Files are let go without another word to the disk."""
        if self.failure is None:
            _LOG.error("Log directory %s is offline: %s", self.path, failure)
            self.failure = failure
        for log in self.logs.values():
            log.is_open = False
            for segment in log.segments:
                with contextlib.suppress(OSError):
                    segment.drop()
