"""One partition that follows a leader, during one leader epoch."""

from __future__ import annotations

import logging

from barnabas.broker.replication.partition import Partition
from barnabas.replication.follower_session import Asked, Place

log = logging.getLogger("kafka.server.ReplicaFetcherThread")

NO_EPOCH = -1
_FIRST_PAUSE_MS = 10


class Followed:
    __slots__ = (
        "_complaint", "_pause_ms", "held_until_ms", "is_in_sync", "is_throttled", "leader_epoch",
        "partition", "place",
    )  # fmt: skip

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.place: Place = (partition.topic_id, partition.index)
        self.leader_epoch = partition.image.leader_epoch
        self.held_until_ms: int | None = None  # None: until something happens
        self.is_throttled = False  # a throttle means this replica
        self.is_in_sync = False  # as far as the leader's last answer tells: throttles leave it alone
        self._pause_ms = 0
        self._complaint = ""

    @property
    def is_current(self) -> bool:
        """Whether the partition still is where it was when this began: in the epoch, and on a disk."""
        return self.partition.image.leader_epoch == self.leader_epoch and self.partition.log is not None

    def asks(self) -> Asked | None:
        """None while what we have is not on the disk, and when there is no disk any more."""
        log, position = self.partition.log, self.partition.fetch_position
        if log is None or position is None:
            return None
        return Asked(self.leader_epoch, *position, log.log_start_offset, log.high_watermark)

    def next_pause_ms(self, longest_ms: int) -> int:
        """Short at first: brokers learn of a new leader one after the other, within milliseconds."""
        self._pause_ms = min(max(2 * self._pause_ms, _FIRST_PAUSE_MS), longest_ms)
        return self._pause_ms

    def went_well(self) -> None:
        self._pause_ms = 0
        self._complaint = ""

    def complain(self, level: int, sentence: str) -> None:
        """Once, until something else is wrong or it went well: the same is tried again every second."""
        if sentence != self._complaint:
            self._complaint = sentence
            log.log(level, "%s-%d: %s", self.partition.topic, self.partition.index, sentence)
