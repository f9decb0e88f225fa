"""One coordinator shard on the partition that remembers it: append, replay, answer when committed."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Generic, TypeVar

from barnabas.broker.coordinators.coordinator_loading import Loading
from barnabas.broker.replication.leadership import leads_since
from barnabas.broker.replication.partition import ACKS_ALL, Partition
from barnabas.broker.timers import Timer
from barnabas.coordination.outcome import Entry, Outcome, Producer, Shard
from barnabas.log.producer_entry import Origin
from barnabas.log.verification import Guard
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.image import ClusterImage
from barnabas.model.settings.broker import BrokerSettings
from barnabas.protocol.internal.entries import encode_entry
from barnabas.records.batch import NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from barnabas.records.build import build_batch
from barnabas.records.walk import Record

if TYPE_CHECKING:
    from barnabas.broker.node import Node

log = logging.getLogger("kafka.coordinator")

S = TypeVar("S", bound=Shard)

# What the error of an append, or of a transaction's coordinator, means to the client of this one.
_MEANING = {
    ErrorCode.NETWORK_EXCEPTION: ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
}

# What is due and cannot be written, for want of replicas say, is tried again, after Kafka's backoff: a member
# whose time was up would otherwise stay for good, with all that it owns.
_AGAIN_MS = 500


def meaning_of(code: ErrorCode) -> ErrorCode:
    return _MEANING.get(code, code)


class _Uncommitted:
    """Appended and replayed; its answers wait for the replicas or the disk."""

    __slots__ = ("deadline_ms", "last_offset", "outcome")

    def __init__(self, outcome: Outcome, last_offset: int, deadline_ms: int) -> None:
        self.outcome = outcome
        self.last_offset = last_offset
        self.deadline_ms = deadline_ms


class HostedTimers:
    """The shard's operations to come; none outlives it."""

    def __init__(self, hosted: HostedShard[Shard]) -> None:
        self._hosted = hosted
        self._timers: dict[Hashable, Timer] = {}

    def schedule(self, key: Hashable, delay_ms: int, operation: Callable[[], Outcome]) -> None:
        self.cancel(key)

        def due() -> None:
            del self._timers[key]
            self._hosted.run(operation, refused=again)

        def again() -> None:
            if not self.is_scheduled(key):
                self.schedule(key, _AGAIN_MS, operation)

        node = self._hosted.node
        self._timers[key] = node.timers.at(node.now_ms + delay_ms, due)

    def cancel(self, key: Hashable) -> None:
        timer = self._timers.pop(key, None)
        if timer is not None:
            self._hosted.node.timers.cancel(timer)

    def is_scheduled(self, key: Hashable) -> bool:
        return key in self._timers

    def cancel_all(self) -> None:
        for key in list(self._timers):
            self.cancel(key)


class HostedShard(Generic[S]):
    """What `ShardHost` promises, and the way of an outcome through the log."""

    def __init__(self, node: Node, partition: Partition, make: Callable[[HostedShard[S]], S]) -> None:
        self.node = node
        self.partition = partition
        self.broker_id = node.broker_id
        self.leader_epoch = partition.image.leader_epoch
        self.timers = HostedTimers(self)  # type: ignore[arg-type]  # it only runs what the shard gave it
        self.shard = make(self)
        self.is_active = False
        self.is_closed = False
        self._uncommitted: deque[_Uncommitted] = deque()
        self._timeout: Timer | None = None
        self._loading: Loading | None = None
        partition.waiting[self] = None

    # --- ShardHost -----------------------------------------------------------------------------------------

    @property
    def now_ms(self) -> int:
        return self.node.now_ms

    @property
    def wall_ms(self) -> int:
        return self.node.wall_ms

    @property
    def image(self) -> ClusterImage:
        return self.node.image

    @property
    def settings(self) -> BrokerSettings:
        return self.node.settings

    def random_bytes(self, count: int) -> bytes:
        return self.node.random.bytes(count)

    def run(self, operation: Callable[[], Outcome], refused: Callable[[], None] = lambda: None) -> None:
        """`refused`: the log does not take it now. Nothing has changed, and nobody else sees to it."""
        if not self.is_active:
            return
        outcome = operation()
        is_ours = outcome.replays and outcome.refused is None and not outcome.answers
        if not self.apply(outcome) and is_ours and self.is_active:
            refused()

    # --- from birth to death -------------------------------------------------------------------------------

    def load(self) -> None:
        self._loading = Loading(self, self._loaded)
        self._loading.begin()

    def _loaded(self) -> None:
        self._loading = None
        self.is_active = True
        for outcome in self.shard.loaded():
            self.apply(outcome)

    def close(self) -> None:
        """Somebody else coordinates now, or nobody can: what was not committed may never be."""
        if self.is_closed:
            return
        self.is_closed, self.is_active = True, False
        self.timers.cancel_all()
        self._stop_waiting()
        self.partition.waiting.pop(self, None)
        abandoned, self._uncommitted = self._uncommitted, deque()
        for item in abandoned:
            _refuse_all(item.outcome, ErrorCode.NOT_COORDINATOR)
        self.shard.unloaded()

    # --- an outcome's way ----------------------------------------------------------------------------------

    def apply(self, outcome: Outcome, guard: Guard | None = None) -> bool:
        """Whether the log took it."""
        if outcome.entries:
            try:
                first_offset = self._append(outcome, guard)
            except ApiError as error:
                self._refused(outcome, meaning_of(error.code))
                return False
            if outcome.replays:
                replay, producer = self.shard.replay, outcome.producer
                for offset, entry in enumerate(outcome.entries, first_offset):
                    replay(entry, offset, producer)
        end_offset = self.partition.log.log_end_offset if self.partition.log else 0
        if not self._uncommitted and self.partition.is_committed(end_offset - 1, ACKS_ALL):
            _finish(outcome)
        elif outcome.answers or outcome.committed is not None:
            self._wait(outcome, end_offset - 1)
        return True

    def _append(self, outcome: Outcome, guard: Guard | None) -> int:
        node = self.node
        producer = outcome.producer
        batch = build_batch(
            _records(outcome.entries, node.wall_ms),
            codec=self._codec(),
            producer_id=producer.id if producer else NO_PRODUCER_ID,
            producer_epoch=producer.epoch if producer else NO_PRODUCER_EPOCH,
            base_sequence=0 if producer else -1,
            transactional=producer is not None,
        )
        if producer is None:
            appended = self.partition.append_own(batch, len(outcome.entries), node.wall_ms)
        else:
            appended = self.partition.append(
                memoryview(batch), ACKS_ALL, node.wall_ms, origin=Origin.COORDINATOR, guard=guard
            )
        return appended.first_offset

    def _codec(self) -> int:
        """Only offsets may be compressed; Kafka never does so with the transactions' topic."""
        is_offsets = self.partition.topic == "__consumer_offsets"
        return self.node.settings.integer("offsets.topic.compression.codec") if is_offsets else 0

    def _refused(self, outcome: Outcome, code: ErrorCode) -> None:
        if outcome.refused is None:
            _refuse_all(outcome, code)
        else:
            self.apply(outcome.refused(code))

    # --- commitment ----------------------------------------------------------------------------------------

    def _wait(self, outcome: Outcome, last_offset: int) -> None:
        deadline_ms = self.node.now_ms + self.node.settings.integer("offsets.commit.timeout.ms")
        self._uncommitted.append(_Uncommitted(outcome, last_offset, deadline_ms))
        if self._timeout is None:
            self._timeout = self.node.timers.at(deadline_ms, self._overdue)

    def moved(self, partition: Partition) -> None:
        """The partition's high watermark rose, or its disk is gone, or it has another leader."""
        if partition.log is None or not leads_since(partition, self.leader_epoch):
            self.close()  # before anything that the next leader wrote could pass for ours
            return
        if self._loading is not None:
            self._loading.moved()
        waiting = self._uncommitted
        while waiting and partition.is_committed(waiting[0].last_offset, ACKS_ALL):
            _finish(waiting.popleft().outcome)
        if not waiting:
            self._stop_waiting()

    def _overdue(self) -> None:
        """The clients stop waiting; the records stay, and count as soon as they are committed."""
        self._timeout = None
        for item in self._uncommitted:
            if item.deadline_ms > self.node.now_ms:
                self._timeout = self.node.timers.at(item.deadline_ms, self._overdue)
                return
            answers, item.outcome.answers = item.outcome.answers, []
            for ticket, _ in answers:
                ticket.refuse(ErrorCode.COORDINATOR_NOT_AVAILABLE)

    def _stop_waiting(self) -> None:
        if self._timeout is not None:
            self.node.timers.cancel(self._timeout)
            self._timeout = None

    def marker_appended(self, producer: Producer, committed: bool) -> None:
        """While loading, the marker is found in the log like everything else."""
        if self.is_active:
            self.shard.end_transaction(producer, committed)


def _records(entries: list[Entry], timestamp_ms: int) -> list[Record]:
    return [
        Record(delta, timestamp_ms, *encode_entry(entry.key, entry.value))
        for delta, entry in enumerate(entries)
    ]


def _finish(outcome: Outcome) -> None:
    for ticket, response in outcome.answers:
        ticket.answer(response)
    if outcome.committed is not None:
        outcome.committed()


def _refuse_all(outcome: Outcome, code: ErrorCode) -> None:
    for ticket, _ in outcome.answers:
        ticket.refuse(code)
