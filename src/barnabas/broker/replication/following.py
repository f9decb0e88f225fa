"""A partition that follows: it appends what its leader sends, and cuts what its leader does not have."""

from __future__ import annotations

import logging
from abc import abstractmethod

from barnabas.broker.replication.held_log import HeldLog
from barnabas.log.checks import UnexpectedOffsetError
from barnabas.log.log import Log
from barnabas.log.results import Appended
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.replication.follower import EpochEnd, cut_offset

NO_EPOCH = -1

_LOG = logging.getLogger("kafka.cluster.Partition")


class CutLaterError(Exception):
    """What is to be cut is vouched for on the disk. That is being taken back: ask again."""


class FollowingPartition(HeldLog):
    """The part of a `Partition` that its fetcher talks to."""

    __slots__ = ()

    @abstractmethod
    def progressed(self) -> None:
        """Something changed that a parked request may wait for."""

    @property
    def is_leader(self) -> bool:
        return self.image.leader == self.broker_id

    def held_log(self) -> Log:
        """The log, whoever leads, if its disk works."""
        if self.log is None:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR)
        return self.log

    @property
    def fetch_position(self) -> tuple[int, int] | None:
        """Where a follower reads on, and the epoch of its last record. None while what it has appended waits
        for the disk: a fetch behind it says that it is safe here; and while what it has cut does. Those in
        `waiting` hear when it is."""
        log = self.log
        if log is None or self.is_flushing or log.active.cut_waits:
            return None
        epoch = log.leader_epochs.latest_epoch
        return log.log_end_offset, NO_EPOCH if epoch is None else epoch

    def append_as_follower(self, buffer: bytearray | memoryview, start: int, end: int) -> Appended:
        """The leader's bytes, as they are."""
        log, now_ms = self._follower_log(), self._host.wall_ms
        try:
            try:
                appended = log.append_as_follower(buffer, start, end, now_ms=now_ms)
            except UnexpectedOffsetError as unexpected:
                self._make_room(log, unexpected)
                appended = log.append_as_follower(buffer, start, end, now_ms=now_ms)
        except OSError as error:
            raise self._disk_failed(error) from error
        if log.flush_is_due(now_ms):
            self.flush()
        return appended

    def _make_room(self, log: Log, unexpected: UnexpectedOffsetError) -> None:
        """The leader's log begins within a batch after DeleteRecords, and so does ours, which is still empty:
        the batch comes whole, and what is in front of its first valid offset stays out of sight."""
        log_start_offset = log.log_start_offset
        is_empty = log_start_offset == log.log_end_offset == unexpected.expected
        if not is_empty or not unexpected.found < log_start_offset <= unexpected.last:
            raise unexpected
        self._take_back_what_vouches(log, unexpected.found)
        log.truncate_fully_and_start_at(unexpected.found, self._host.wall_ms, log_start_offset)
        self._cut_at(unexpected.found)

    def heard_from_leader(self, high_watermark: int, log_start_offset: int) -> None:
        """What the leader has committed is committed here, as far as we have it. A new leader may know less
        of that than we do: nothing is taken back."""
        log = self._follower_log()
        before = log.high_watermark
        if high_watermark > before:
            log.update_high_watermark(high_watermark)
        if log_start_offset > log.log_start_offset:
            log.delete_records_before(min(log_start_offset, log.high_watermark))
        if log.high_watermark > before and self.waiting:
            self.progressed()

    def diverged(self, epoch: int, end_offset: int) -> None:
        """The leader's log left ours there: cut what it does not have."""
        log = self._follower_log()
        own = EpochEnd(*log.end_offset_for_epoch(epoch))
        self.cut_at(cut_offset(EpochEnd(epoch, end_offset), own, log.log_end_offset, log.high_watermark))

    def cut_at(self, offset: int) -> None:
        """Forget what lies behind the offset."""
        log = self._follower_log()
        if offset < log.log_end_offset:
            self._take_back_what_vouches(log, offset)
        if offset < log.high_watermark:
            _LOG.warning("Truncating %r to %d below high watermark %d", self, offset, log.high_watermark)
            self._host.cleaning.deleted(log)  # it may be at work on what goes
        try:
            log.truncate_to(offset, self._host.wall_ms)
        except OSError as error:
            raise self._disk_failed(error) from error
        self._cut_at(offset)
        if log.active.cut_waits:
            self.flush()  # before the leader's records take their place
        self.progressed()

    def start_over_at(self, offset: int) -> None:
        """Nothing of what we have is of use: begin anew with an empty log."""
        log = self._follower_log()
        self._take_back_what_vouches(log, log.segments.first.base_offset)
        self._host.cleaning.deleted(log)
        try:
            log.truncate_fully_and_start_at(offset, self._host.wall_ms)
        except OSError as error:
            raise self._disk_failed(error) from error
        self._cut_at(offset)
        self.progressed()

    def _take_back_what_vouches(self, log: Log, offset: int) -> None:
        if not self._host.upkeep.may_cut(log, offset):
            raise CutLaterError()

    def _follower_log(self) -> Log:
        """ApiError when we lead by now: a leader takes records from nobody."""
        if self.is_leader:
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return self.held_log()
