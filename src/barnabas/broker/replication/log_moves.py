"""Replicas on their way from one log directory of this broker to another (KIP-113).

The copy follows the log as a replica follows its leader: batches as they are, cut where the two part, and
when it has caught up it takes the log's place between two events of the loop. Reading is a worker's; what
moves per second may be limited (`replica.alter.log.dirs.io.max.bytes.per.second`).
"""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING

from barnabas.broker.replication.partition import Partition
from barnabas.log.config import LONG_MAX
from barnabas.log.directory import LogDirectory
from barnabas.log.log import Log
from barnabas.model.errors import ApiError
from barnabas.model.ids import TopicPartition
from barnabas.replication.follower import EpochEnd, cut_offset
from barnabas.replication.throttle import ThrottleWindow

if TYPE_CHECKING:
    from barnabas.broker.node import Node

log = logging.getLogger("kafka.server.ReplicaAlterLogDirsThread")

_RATE = "replica.alter.log.dirs.io.max.bytes.per.second"
_STEP_BYTES = 1 << 20
_RETRY_MS = 5


class LogMoves:
    def __init__(self, node: Node) -> None:
        self._node = node
        settings = node.settings
        self._window = ThrottleWindow(
            settings.integer("alter.log.dirs.replication.quota.window.num"),
            settings.integer("alter.log.dirs.replication.quota.window.size.seconds") * 1000,
        )
        self._moves: dict[Partition, Move] = {}

    def __len__(self) -> int:
        return len(self._moves)

    def begin(self, partition: Partition, directory: LogDirectory) -> None:
        """ApiError if it cannot. Nothing to do if it is there, or on its way there; another way ends."""
        source = partition.held_log()
        place = TopicPartition(partition.topic, partition.index)
        future = self._node.logs.futures.get(place)
        if future is not None and future.directory is directory and partition in self._moves:
            return
        self.give_up(partition)
        if self._node.logs.directory_of(place) is directory:
            return
        future_log = self._node.logs.begin_future(source, directory, self._node.wall_ms)
        log.info("Moving %s to %s from offset %d", place, directory.path, future_log.log_end_offset)
        self._moves[partition] = move = Move(self._node, self, partition, source, future_log)
        move.go_on()

    def give_up(self, partition: Partition) -> None:
        if self._moves.pop(partition, None) is not None:
            place = TopicPartition(partition.topic, partition.index)
            self._node.logs.drop_future(place, self._node.wall_ms)

    def is_current(self, move: Move) -> bool:
        return self._moves.get(move.partition) is move

    def ended(self, partition: Partition) -> None:
        self._moves.pop(partition, None)

    def resume(self) -> None:
        """What an earlier life began, from where it came to."""
        node = self._node
        for place, left in list(node.logs.futures.unfinished.items()):
            partition = node.replicas.find(*place)
            if partition is not None and partition.log is not None and left.directory.online:
                with contextlib.suppress(ApiError):  # that disk has failed; the log is where it was
                    self.begin(partition, left.directory)
        node.logs.forget_unfinished(node.wall_ms)
        node.upkeep.notice_failures()

    # --- how fast ------------------------------------------------------------------------------------------

    def record(self, size: int) -> None:
        self._window.record(size, self._node.now_ms)

    def next_step_ms(self) -> int:
        node = self._node
        if self._window.exceeds(node.settings.optional_integer(_RATE), node.now_ms):
            return self._window.next_look_ms(node.now_ms)
        return node.now_ms


class Move:
    """One replica."""

    def __init__(self, node: Node, moves: LogMoves, partition: Partition, source: Log, future: Log) -> None:
        self.partition = partition
        self._node = node
        self._moves = moves
        self._source = source
        self._future = future
        self._is_marked = False

    def go_on(self) -> None:
        """When the rate allows it."""
        self._node.timers.at(self._moves.next_step_ms(), self._next)

    def _next(self) -> None:
        if self._moves.next_step_ms() > self._node.now_ms:
            self.go_on()
        else:
            self._step()

    def _step(self) -> None:
        if not self._is_on():
            return
        try:
            if not self._agree():
                self._node.timers.at(self._node.now_ms + _RETRY_MS, self._next)
            elif self._future.log_end_offset == self._source.log_end_offset:
                self._caught_up()
            else:
                self._copy()
        except OSError as error:
            self._failed(error)

    def _is_on(self) -> bool:
        """Whether both logs are still there. A partition that has gone, or has another log, is not moved."""
        if not self._moves.is_current(self):
            return False
        if self.partition.log is self._source and self._future.is_open:
            return True
        self._moves.give_up(self.partition)
        return False

    def _agree(self) -> bool:
        """Cut what the log has cut meanwhile; leave out what it has deleted. False if that has to wait."""
        source, future, now_ms = self._source, self._future, self._node.wall_ms
        latest = future.leader_epochs.latest_epoch
        if latest is not None:
            theirs = EpochEnd(*source.end_offset_for_epoch(latest))
            if theirs.epoch != latest or theirs.end_offset < future.log_end_offset:
                own = EpochEnd(*future.end_offset_for_epoch(theirs.epoch))
                offset = cut_offset(theirs, own, future.log_end_offset, 0)
                if not self._node.upkeep.may_cut(future, offset):
                    return False
                future.truncate_to(offset, now_ms)
        if future.log_end_offset < source.log_start_offset:
            first = source.segments.floor(source.log_start_offset) or source.segments.first
            if not self._node.upkeep.may_cut(future, future.segments.first.base_offset):
                return False
            future.truncate_fully_and_start_at(first.base_offset, now_ms)
        return True

    # --- copying -------------------------------------------------------------------------------------------

    def _copy(self) -> None:
        source, offset = self._source, self._future.log_end_offset
        segment = source.segments.floor(offset) or source.segments.first
        found = segment.locate(offset)
        while found is None:
            following = source.segments.after(segment)
            if following is None:
                # What the log ends with was compacted away: there is nothing to copy of it.
                self._future.truncate_fully_and_start_at(source.log_end_offset, self._node.wall_ms)
                self.go_on()
                return
            segment, found = following, following.locate(offset)
        position, first_size = found
        size = min(max(first_size, _STEP_BYTES), segment.size - position)
        file = segment.file
        self._node.workers.submit(lambda: file.read(position, size), self._read)

    def _read(self, data: object, error: BaseException | None) -> None:
        if not self._is_on():
            return
        if isinstance(error, OSError):
            self._node.disk_failed(self.partition, error)
            return
        assert isinstance(data, bytes), error
        try:
            self._agree()
            self._future.append_as_follower(memoryview(data), 0, len(data), now_ms=self._node.wall_ms)
        except OSError as failure:
            self._failed(failure)
            return
        self._moves.record(len(data))
        if self._future.log_end_offset == self._source.log_end_offset:
            self._step()  # now or never, if more is written all the time
        else:
            self.go_on()

    # --- taking the log's place ----------------------------------------------------------------------------

    def _caught_up(self) -> None:
        """Durable and marked first: from the moment it has the log's name, nothing else is looked at."""
        future = self._future
        config = self._source.config
        must_be_synced = config.flush_messages < LONG_MAX or config.flush_ms < LONG_MAX
        if self._is_marked and not (must_be_synced and future.recovery_point < future.log_end_offset):
            self._take_over()
            return
        unflushed = future.unflushed_files()
        mark = self._node.logs.futures.mark(future, self._node.wall_ms)

        def work() -> None:
            unflushed.sync()
            mark()

        def done(_result: object, error: BaseException | None) -> None:
            if isinstance(error, OSError):
                self._failed(error)
            elif self._is_on():
                assert error is None, error
                future.mark_flushed(unflushed.offset, self._node.wall_ms)
                self._is_marked = True
                self._step()

        self._node.workers.submit(work, done)

    def _take_over(self) -> None:
        node, partition, source, future = self._node, self.partition, self._source, self._future
        if partition.is_flushing:
            node.timers.at(node.now_ms + _RETRY_MS, self._step)
            return
        place = source.topic_partition
        node.cleaning.deleted(source)
        future.update_config(source.config)
        future.update_high_watermark(source.high_watermark)
        if source.log_start_offset > future.log_start_offset:
            future.delete_records_before(source.log_start_offset)
        try:
            installed = node.logs.install_future(place, node.wall_ms)
        except ApiError:
            self._moves.ended(partition)
            node.upkeep.notice_failures()
            return
        self._moves.ended(partition)
        partition.move_into(installed)
        log.info("Moved %s to %s", place, installed.directory.rpartition("/")[0])

    def _failed(self, error: OSError) -> None:
        """The other directory's disk. The log itself goes on where it is."""
        node = self._node
        future = node.logs.futures.get(self._source.topic_partition)
        self._moves.ended(self.partition)
        if future is not None:
            node.logs.fail(future.directory, error)
        node.upkeep.notice_failures()
