"""One partition on this broker: its log, its place in the cluster, and who waits for it.

Durability on request: when `flush.messages` or `flush.ms` ask for an fsync, the reply and the high watermark
wait for the worker's event; one fsync covers every append that arrived meanwhile.
"""

from __future__ import annotations

from typing import Protocol

from barnabas.log.config import LogConfig
from barnabas.log.log import Log
from barnabas.log.producer_entry import Origin
from barnabas.log.results import Appended, PlainBatch
from barnabas.log.verification import Guard
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.image import PartitionImage
from barnabas.ports import Workers

ACKS_ALL = -1
NO_EPOCH = -1


class Watcher(Protocol):
    """Whoever waits for this partition to move."""

    def moved(self, partition: Partition) -> None: ...


class Host(Protocol):
    """What a partition needs of the node it lives on."""

    broker_id: int
    wall_ms: int
    workers: Workers

    def disk_failed(self, partition: Partition, error: BaseException) -> None: ...


class Partition:
    __slots__ = (
        "_flush_running", "_flush_wanted", "_host", "broker_id", "flushed_offset", "image", "index", "log",
        "topic", "topic_id", "waiting",
    )  # fmt: skip

    def __init__(self, topic: str, topic_id: bytes, image: PartitionImage, host: Host) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.index = image.index
        self.image = image
        self.broker_id = host.broker_id
        self.log: Log | None = None  # None while its directory is offline
        self.waiting: dict[Watcher, None] = {}  # in the order they came
        self.flushed_offset = 0  # everything below is on the disk, as far as a flush was asked for
        self._flush_wanted = 0  # replies at or below wait until the disk has them
        self._flush_running = False
        self._host = host

    def __repr__(self) -> str:
        return f"Partition({self.topic}-{self.index})"

    def open(self, log: Log) -> None:
        """Begin to serve a log that was just loaded: we are its only replica, so all of it is committed."""
        self.log = log
        self.flushed_offset = self._flush_wanted = log.log_end_offset
        log.update_high_watermark(log.log_end_offset)

    def lead(self) -> None:
        """A leader notes where its epoch begins before it writes anything: followers and clients ask."""
        if self.log is not None and self.image.leader == self.broker_id:
            self.log.begin_leader_epoch(self.image.leader_epoch)

    def update_config(self, config: LogConfig) -> None:
        if self.log is not None:
            self.log.update_config(config)

    # --- who may ask ---------------------------------------------------------------------------------------

    def leader_log(self) -> Log:
        """The log, if this broker leads the partition and its disk works."""
        log = self.log
        if log is None:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR)
        if self.image.leader != self.broker_id:
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return log

    def check_epoch(self, current_leader_epoch: int) -> None:
        """A client that knows an older or newer leader than we do must refresh its metadata."""
        if current_leader_epoch in {NO_EPOCH, self.image.leader_epoch}:
            return
        older = current_leader_epoch < self.image.leader_epoch
        raise ApiError(ErrorCode.FENCED_LEADER_EPOCH if older else ErrorCode.UNKNOWN_LEADER_EPOCH)

    # --- append --------------------------------------------------------------------------------------------

    def append(
        self,
        records: memoryview,
        acks: int,
        now_ms: int,
        *,
        origin: Origin = Origin.CLIENT,
        guard: Guard | None = None,
        transaction_version: int = 0,
    ) -> Appended:
        log = self.leader_log()
        self._check_acks(log, acks)
        try:
            appended = log.append_as_leader(
                records,
                0,
                len(records),
                leader_epoch=self.image.leader_epoch,
                now_ms=now_ms,
                origin=origin,
                guard=guard,
                transaction_version=transaction_version,
            )
        except OSError as error:
            self._host.disk_failed(self, error)
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR) from error
        self._has_appended(log, now_ms)
        return appended

    def append_plain(self, frame: memoryview, batch: PlainBatch, acks: int, now_ms: int) -> Appended | None:
        """The same for the usual case; None where `append` must look closer, and nothing has happened yet."""
        log = self.log
        if log is None or self.image.leader != self.broker_id:
            return None
        if acks != 1:
            self._check_acks(log, acks)
        try:
            appended = log.append_plain(frame, batch, leader_epoch=self.image.leader_epoch, now_ms=now_ms)
        except OSError as error:
            self._host.disk_failed(self, error)
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR) from error
        if appended is not None:
            self._has_appended(log, now_ms)
        return appended

    def _has_appended(self, log: Log, now_ms: int) -> None:
        if log.flush_is_due(now_ms):
            self.flush()
        elif not self._flush_running:
            self._advance(log, log.log_end_offset)

    def _check_acks(self, log: Log, acks: int) -> None:
        if acks == ACKS_ALL:
            # Kafka asks no partition for more replicas than it has.
            needed = min(log.config.min_insync_replicas, len(self.image.replicas))
            in_sync = len(self.image.isr)
            if in_sync < needed:
                raise ApiError(
                    ErrorCode.NOT_ENOUGH_REPLICAS,
                    f"The size of the current ISR {in_sync} is insufficient to satisfy the min.isr "
                    f"requirement of {needed} for partition {log.topic_partition}",
                )
        elif acks not in {0, 1}:
            raise ApiError(ErrorCode.INVALID_REQUIRED_ACKS)

    def is_committed(self, last_offset: int, acks: int) -> bool:
        """Whether an append up to `last_offset` may be acknowledged now. Where a flush was asked for, even
        acks=1 waits for the disk: a crash between the two would lose an acknowledged record."""
        log = self.log
        if log is None or self.flushed_offset <= last_offset < self._flush_wanted:
            return False
        return acks != ACKS_ALL or log.high_watermark > last_offset

    # --- flush ---------------------------------------------------------------------------------------------

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
            self._host.disk_failed(self, error)
            return
        self._flush_running = True

        def flushed(_result: object, error: BaseException | None) -> None:
            self._flush_running = False
            if self.log is not log:
                return  # the directory went offline, or the partition was deleted, meanwhile
            if error is not None:
                self._host.disk_failed(self, error)
                return
            log.mark_flushed(unflushed.offset, self._host.wall_ms)
            self.flushed_offset = unflushed.offset
            if self.flushed_offset < self._flush_wanted:
                self._advance(log, self.flushed_offset)
                self._start_flush(log)
            else:
                self._advance(log, log.log_end_offset)

        self._host.workers.submit(unflushed.sync, flushed)

    # --- progress ------------------------------------------------------------------------------------------

    def _advance(self, log: Log, offset: int) -> None:
        """With one replica, what is written (and flushed, where asked) is committed."""
        log.high_watermark = offset
        if self.waiting:
            self.progressed()

    def progressed(self) -> None:
        """Something changed that a parked request may wait for."""
        for waiting in tuple(self.waiting):
            waiting.moved(self)
