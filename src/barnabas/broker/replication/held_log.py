"""A partition's log on this broker: whether it is there, how far the disk has it, and who waits for it.

Durability on request: when `flush.messages` or `flush.ms` ask for an fsync, the reply, the high watermark and
a follower's next fetch wait for the worker's event; one fsync covers every append that arrived meanwhile.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Protocol

from barnabas.log.config import LogConfig
from barnabas.log.log import Log
from barnabas.model.errors import ApiError
from barnabas.model.image import ClusterImage, PartitionImage
from barnabas.ports import Workers

if TYPE_CHECKING:
    from barnabas.broker.replication.partition import Partition


class Watcher(Protocol):
    """Whoever waits for this partition to move."""

    def moved(self, partition: Partition) -> None: ...


class IsrOffice(Protocol):
    """Where a leader's proposals go."""

    lag_ms_max: int

    def may_join(self, broker_id: int, broker_epoch: int) -> bool: ...

    def propose(self, partition: Partition) -> None: ...


class Cleaning(Protocol):
    def deleted(self, log: Log) -> None: ...


class Upkeep(Protocol):
    def may_cut(self, cut: Log, offset: int) -> bool: ...


class Host(Protocol):
    """What a partition needs of the node it lives on."""

    broker_id: int
    now_ms: int
    wall_ms: int
    workers: Workers
    image: ClusterImage

    @property
    def isr(self) -> IsrOffice: ...

    @property
    def cleaning(self) -> Cleaning: ...

    @property
    def upkeep(self) -> Upkeep: ...

    def disk_failed(self, partition: Partition, error: BaseException) -> None: ...


class HeldLog(ABC):
    """The part of a `Partition` that does not care who leads."""

    __slots__ = (
        "_flush_running", "_flush_wanted", "_host", "broker_id", "flushed_offset", "following", "image",
        "index", "log", "topic", "topic_id", "waiting",
    )  # fmt: skip

    def __init__(self, topic: str, topic_id: bytes, image: PartitionImage, host: Host) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.index = image.index
        self.image = image
        self.broker_id = host.broker_id
        self.log: Log | None = None  # None while its directory is offline
        self.waiting: dict[Watcher, None] = {}  # in the order they came
        self.following: dict[Watcher, None] = {}  # those who also wait for what is not committed
        self.flushed_offset = 0  # everything below is on the disk, as far as a flush was asked for
        self._flush_wanted = 0  # replies at or below wait until the disk has them
        self._flush_running = False
        self._host = host

    def __repr__(self) -> str:
        return f"Partition({self.topic}-{self.index})"

    def update_config(self, config: LogConfig) -> None:
        if self.log is not None:
            self.log.update_config(config)

    @abstractmethod
    def _has_flushed(self, log: Log, offset: int) -> None:
        """Everything below the offset is here to stay."""

    @abstractmethod
    def _disk_failed(self, error: BaseException) -> ApiError: ...

    # --- flush ---------------------------------------------------------------------------------------------

    @property
    def is_flushing(self) -> bool:
        """Whether something was appended that a flush was asked for and has not reached the disk."""
        return self.flushed_offset < self._flush_wanted

    def flush(self) -> None:
        """Have a worker sync what is written so far; a flush under way is followed by one more."""
        log = self.log
        if log is None:
            return
        self._flush_wanted = log.log_end_offset
        if not self._flush_running:
            self._start_flush(log)

    def _start_flush(self, log: Log) -> None:
        try:
            unflushed = log.unflushed_files()
        except OSError as error:  # a segment's file had to be opened again
            self._disk_failed(error)
            return
        self._flush_running = True

        def flushed(_result: object, error: BaseException | None) -> None:
            if self.log is not log:
                self._flush_running = False
                return  # the directory went offline, or the partition was deleted, meanwhile
            if error is not None:
                self._flush_running = False
                self._disk_failed(error)
                return
            log.mark_flushed(unflushed.offset, self._host.wall_ms)
            self.flushed_offset = unflushed.offset
            if self.flushed_offset < self._flush_wanted or log.active.cut_waits:
                # Still running for those who append while they hear of it: the next one covers them.
                self._has_flushed(log, self.flushed_offset)
                self._start_flush(log)
            else:
                self._flush_running = False
                self._has_flushed(log, log.log_end_offset)

        self._host.workers.submit(unflushed.sync, flushed)

    def _cut_at(self, offset: int) -> None:
        """The log ends here now: nothing is owed to the disk beyond, and nothing was promised of it."""
        self.flushed_offset = min(self.flushed_offset, offset)
        self._flush_wanted = min(self._flush_wanted, offset)
