"""One partition on this broker: its log, its place in the cluster, and who waits for it.

A partition that this broker leads alone (one replica) is committed as it is written. One that it leads with
others is committed as far as `replication.leader` says; one that it follows, as far as its leader says.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from barnabas.broker.replication.following import NO_EPOCH, FollowingPartition
from barnabas.broker.replication.held_log import Host, Watcher
from barnabas.log.config import LogConfig
from barnabas.log.inspection import LongLook
from barnabas.log.log import Log
from barnabas.log.producer_entry import Origin
from barnabas.log.results import Appended, PlainBatch
from barnabas.log.verification import Guard
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.image import PartitionImage
from barnabas.replication.leader import Committed, Leading, Position

__all__ = ["ACKS_ALL", "NO_EPOCH", "Partition", "Watcher"]

ACKS_ALL = -1

_LOG = logging.getLogger("kafka.cluster.Partition")


class Partition(FollowingPartition):
    __slots__ = ("leading", "reign")

    def __init__(self, topic: str, topic_id: bytes, image: PartitionImage, host: Host) -> None:
        super().__init__(topic, topic_id, image, host)
        self.leading: Leading | None = None  # None where we follow, and where nobody follows us
        self.reign = 0  # goes up when leadership is lost: what was appended before is not ours to promise

    # --- roles ---------------------------------------------------------------------------------------------

    def open(self, log: Log) -> None:
        """Begin to serve a log that was just loaded, with the high watermark that was written down. What its
        only replica holds is committed, all of it."""
        self.log = log
        self.flushed_offset = self._flush_wanted = log.log_end_offset
        self._take_role(log)

    def move_into(self, log: Log) -> None:
        """The same records in another directory. What the disk was asked for is asked of the new one."""
        wanted = self._flush_wanted
        self.log = log
        self.flushed_offset = self._flush_wanted = min(log.recovery_point, log.log_end_offset)
        self._take_role(log)
        if wanted > self.flushed_offset and log.flush_is_due(self._host.wall_ms):
            self.flush()
        self.progressed()

    def adopt(self, image: PartitionImage) -> None:
        """The cluster has changed: lead, follow or wait, as the image says."""
        before = self.image
        if image == before:
            return  # a new controller tells everything again
        if (image.leader_epoch, image.partition_epoch) < (before.leader_epoch, before.partition_epoch):
            _LOG.warning("Ignoring an older image of %r: %s after %s", self, image, before)
            return
        led, self.image = self.is_leader, image
        if led and not self.is_leader:
            self.reign += 1
        if self.log is not None:
            self._take_role(self.log)
        self.progressed()

    def _take_role(self, log: Log) -> None:
        image = self.image
        if image.leader != self.broker_id:
            self.leading = None
            return
        # A leader notes where its epoch begins before it writes anything: followers and clients ask.
        log.begin_leader_epoch(image.leader_epoch)
        if len(image.replicas) == 1:
            self.leading = None
            log.update_high_watermark(max(log.high_watermark, self._safe_offset(log)))
            return
        if self.leading is None or self.leading.leader_epoch != image.leader_epoch:
            self.leading = Leading(image, self.broker_id, log.log_end_offset, self._host.now_ms)
        elif self.leading.adopt(image, self._host.now_ms):
            isr, version = _listed(image.isr), image.partition_epoch
            self._say("ISR updated to %s and version updated to %d", isr, version)
        self._raise_high_watermark(log, self.leading)

    def close(self) -> None:
        """Its disk failed: tell those who wait."""
        self.log = self.leading = None
        self.progressed()

    def leave(self) -> None:
        """The partition is not here any more, whatever its disk can do."""
        self.reign += 1
        self.close()

    def update_config(self, config: LogConfig) -> None:
        super().update_config(config)
        self.review()

    def review(self) -> None:
        """Something beside the log has changed that decides who may be in sync, or what is committed."""
        if self.log is not None and self.leading is not None:
            for broker_id in self.leading.followers:
                self._take_in(self.log, self.leading, broker_id)
            self.recount()

    def recount(self) -> None:
        """Others are waited for than before."""
        if self.log is not None and self.leading is not None:
            self._raise_high_watermark(self.log, self.leading)
            self.progressed()

    # --- who may ask ---------------------------------------------------------------------------------------

    def leader_log(self, current_leader_epoch: int = NO_EPOCH) -> Log:
        """The log, if this broker leads the partition and its disk works. An epoch that is not ours comes
        first: who knows of another leader learns that, and not who leads here."""
        log = self.log
        if log is None:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR)
        self.check_epoch(current_leader_epoch)
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
        look: LongLook | None = None,
    ) -> Appended:
        """`look`: what a worker has made of the records."""
        log = self.leader_log()
        self._check_acks(log, acks)
        if look is not None:
            records = look.result()
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
                is_inspected=look is not None,
            )
        except OSError as error:
            raise self._disk_failed(error) from error
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
            raise self._disk_failed(error) from error
        if appended is not None:
            self._has_appended(log, now_ms)
        return appended

    def append_own(self, batch: bytearray, records: int, now_ms: int) -> Appended:
        """What a coordinator of this broker made of that many records, with acks=all."""
        log = self.leader_log()
        self._check_acks(log, ACKS_ALL)
        try:
            appended = log.append_own(batch, records, leader_epoch=self.image.leader_epoch, now_ms=now_ms)
        except OSError as error:
            raise self._disk_failed(error) from error
        if appended is None:
            return self.append(memoryview(batch), ACKS_ALL, now_ms, origin=Origin.COORDINATOR)
        self._has_appended(log, now_ms)
        return appended

    def _has_appended(self, log: Log, now_ms: int) -> None:
        if log.flush_is_due(now_ms):
            self.flush()
        elif not self._flush_running:
            self._advance(log, log.log_end_offset)
            return
        self._wake_followers()  # they need not wait for our disk

    def _check_acks(self, log: Log, acks: int) -> None:
        if acks == ACKS_ALL:
            needed = self._insync_needed(log)
            in_sync = len(self.image.isr)
            if in_sync < needed:
                raise ApiError(
                    ErrorCode.NOT_ENOUGH_REPLICAS,
                    f"The size of the current ISR {in_sync} is insufficient to satisfy the min.isr "
                    f"requirement of {needed} for partition {log.topic_partition}",
                )
        elif acks not in {0, 1}:
            raise ApiError(ErrorCode.INVALID_REQUIRED_ACKS)

    def _insync_needed(self, log: Log) -> int:
        """Kafka asks no partition for more replicas than it has."""
        return min(log.config.min_insync_replicas, len(self.image.replicas))

    def is_committed(self, last_offset: int, acks: int) -> bool:
        """Whether an append up to `last_offset` may be acknowledged now. Where a flush was asked for, even
        acks=1 waits for the disk: a crash between the two would lose an acknowledged record."""
        log = self.log
        if log is None or self.flushed_offset <= last_offset < self._flush_wanted:
            return False
        return acks != ACKS_ALL or log.high_watermark > last_offset

    def fate(self, last_offset: int, acks: int, reign: int) -> ErrorCode | None:
        """What became of an append of that reign: NONE when it is committed, None while that is open. After
        its leader lost the office, another's records may stand at its offset: it is never acknowledged.

        While too few are in sync the high watermark stands still, and the append waits, as in Kafka: the
        others may be back before its producer's time is over."""
        if reign != self.reign:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        log = self.log
        if log is None:
            return ErrorCode.KAFKA_STORAGE_ERROR
        if not self.is_committed(last_offset, acks):
            return None
        in_sync = self.image.isr if self.leading is None else self.leading.in_sync.maximal
        if acks == ACKS_ALL and len(in_sync) < self._insync_needed(log):
            return ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
        return ErrorCode.NONE

    # --- lead ----------------------------------------------------------------------------------------------

    def check_follower(self, broker_id: int, broker_epoch: int, current_leader_epoch: int) -> None:
        """Refuse a fetch of a replica that we do not know as such, or of an earlier life of one."""
        follower = None if self.leading is None else self.leading.followers.get(broker_id)
        if follower is None:
            # It may know of a reassignment that we have not heard of; if it names an epoch, it tries again.
            knows_epoch = current_leader_epoch != NO_EPOCH
            raise ApiError(
                ErrorCode.UNKNOWN_LEADER_EPOCH if knows_epoch else ErrorCode.NOT_LEADER_OR_FOLLOWER
            )
        if NO_EPOCH != broker_epoch < follower.broker_epoch:
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)

    def follower_fetched(self, broker_id: int, position: Position) -> None:
        """A follower whose fetch was checked stands there."""
        leading, log, host = self.leading, self.log, self._host
        follower = None if leading is None else leading.followers.get(broker_id)
        if leading is None or follower is None or log is None:
            return
        has_moved = follower.log_end_offset != position.log_end_offset
        start_moved = follower.log_start_offset != position.log_start_offset
        follower.fetched(position, log.log_end_offset, host.now_ms)
        self._take_in(log, leading, broker_id)
        if (has_moved and self._raise_high_watermark(log, leading)) or start_moved:
            self.progressed()

    def _take_in(self, log: Log, leading: Leading, broker_id: int) -> None:
        """Propose a follower that has caught up."""
        if leading.may_propose(broker_id, log.high_watermark):
            epoch = leading.followers[broker_id].broker_epoch
            if self._host.isr.may_join(broker_id, epoch):
                leading.expand(broker_id)
                self._propose(leading, "Expanding")

    def follower_stood(self, broker_id: int, position: Position, until_ms: int) -> None:
        """A follower had all there was up to then, by its fetches: nobody looked at them one by one."""
        follower = None if self.leading is None else self.leading.followers.get(broker_id)
        if follower is not None and follower.stands_at(position):
            follower.fetched(position, position.log_end_offset, until_ms)

    def drop_laggards(self) -> None:
        """Propose to go on without followers that have not caught up for too long."""
        leading, log, host = self.leading, self.log, self._host
        if leading is None or log is None:
            return
        if leading.shrink(log.log_end_offset, host.now_ms, host.isr.lag_ms_max):
            self._propose(leading, "Shrinking")
        if self._raise_high_watermark(log, leading):
            self.progressed()

    def _propose(self, leading: Leading, how: str) -> None:
        in_sync = leading.in_sync
        assert not isinstance(in_sync, Committed)
        self._say("%s ISR from %s to %s", how, _listed(in_sync.isr), _listed(in_sync.proposed))
        self._host.isr.propose(self)

    def _say(self, text: str, *values: object) -> None:
        _LOG.info(f"[Partition %s-%d broker=%d] {text}", self.topic, self.index, self.broker_id, *values)

    @property
    def knows_what_is_committed(self) -> bool:
        """Not so at first: what earlier leaders committed may be more than we have heard of."""
        leading, log = self.leading, self.log
        return leading is None or log is None or log.high_watermark >= leading.epoch_start_offset

    def low_watermark(self) -> int:
        """Below it no replica that is alive holds a record any more."""
        log = self.leader_log()
        if self.leading is None:
            return log.log_start_offset
        return self.leading.low_watermark(log.log_start_offset, self._host.image.brokers.keys())

    def start_has_moved(self) -> None:
        """Followers hear of it as they hear of a risen high watermark."""
        self._wake_followers()

    def _safe_offset(self, log: Log) -> int:
        """What our own disk holds, as far as that was asked for."""
        return self.flushed_offset if self._flush_running else log.log_end_offset

    def _raise_high_watermark(self, log: Log, leading: Leading, safe_offset: int | None = None) -> bool:
        """KIP-966: it stands still while too few are in sync, or the last of them could lose what counts as
        committed. It never goes back."""
        if len(self.image.isr) < self._insync_needed(log):
            return False
        host = self._host
        offset = leading.committed_offset(
            self._safe_offset(log) if safe_offset is None else safe_offset,
            log.log_end_offset,
            host.now_ms,
            host.isr.lag_ms_max,
            host.isr.may_join,
        )
        if offset <= log.high_watermark:
            return False
        log.high_watermark = offset
        return True

    # --- progress ------------------------------------------------------------------------------------------

    def _advance(self, log: Log, offset: int) -> None:
        """With one replica, what is written (and flushed, where asked) is committed."""
        if self.leading is None:
            log.high_watermark = offset
            if self.waiting:
                self.progressed()
        elif self._raise_high_watermark(log, self.leading, offset):
            self.progressed()
        else:
            self._wake_followers()

    def _has_flushed(self, log: Log, offset: int) -> None:
        if self.is_leader:
            self._advance(log, offset)
        else:
            self.progressed()  # our next fetch waited for this

    def _wake_followers(self) -> None:
        for waiting in tuple(self.following):
            waiting.moved(self)

    def progressed(self) -> None:
        """Something changed that a parked request may wait for."""
        for waiting in (*self.waiting, *self.following):
            waiting.moved(self)

    def _disk_failed(self, error: BaseException) -> ApiError:
        self._host.disk_failed(self, error)
        return ApiError(ErrorCode.KAFKA_STORAGE_ERROR)


def _listed(broker_ids: Iterable[int]) -> str:
    return ",".join(map(str, sorted(broker_ids)))
