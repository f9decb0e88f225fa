"""One fetch, whoever sends it: read, answer, or wait and read again."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.broker.fetch_sessions import Entry, FetchSession, TopicKey
from barnabas.broker.purgatory import Waiting
from barnabas.broker.readers import Reader
from barnabas.broker.replication.leader_hints import leader_nodes
from barnabas.broker.replication.partition import NO_EPOCH, Partition
from barnabas.broker.replication.replica_choice import NO_REPLICA
from barnabas.broker.session import Part
from barnabas.log.log import Log
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.protocol import codec
from barnabas.protocol.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node

_LENGTH = struct.Struct(">i")
_LEADERS_SINCE = 16
# How long a follower's parked fetch keeps a risen high watermark to itself, in case records come by then.
_HIGH_WATERMARK_NEWS_MS = 5
_ELSEWHERE = frozenset({ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH})


class Fetch:
    """One fetch, which may have to be read twice: at once, and again when it is woken."""

    __slots__ = (
        "asked", "context", "enough", "entries", "has_news", "incremental", "node", "parked", "reader",
        "request", "session", "standing", "told",
    )  # fmt: skip

    def __init__(
        self,
        node: Node,
        context: Context,
        request: FetchRequest,
        reader: Reader,
        session: FetchSession | None,
        incremental: bool,
        entries: list[Entry],
    ) -> None:
        self.node = node
        self.context = context
        self.request = request
        self.reader = reader
        self.session = session
        self.standing = None if session is None else session.standing
        self.incremental = incremental
        self.entries = entries
        self.enough = False
        self.asked: dict[Partition, FetchPartition] = {}  # of the partitions that exist
        self.told: dict[Partition, tuple[int, int]] = {}  # the high watermark and start a follower knows
        self.has_news = False  # of one of them
        self.parked: Waiting | None = None

    # --- reading -------------------------------------------------------------------------------------------

    def read(self) -> list[tuple[TopicKey, PartitionData]]:
        """An answer per partition; `enough` says whether they need not wait for more."""
        request, is_replica = self.request, self.reader.is_replica
        remaining = min(request.max_bytes, self.node.fetch_max_bytes)
        collected = 0
        answers = []
        self.enough = False
        self.asked = {}
        unknown = []
        entries = self.entries if self.standing is None else self.standing.entries()
        for key, asked in entries:
            try:
                partition = self._find(key, asked.partition)
            except ApiError as error:
                # Answered last, and nobody is woken for it.
                unknown.append((key, self._unfound(key, asked.partition, error.code)))
                continue
            self.asked[partition] = asked
            if self.incremental and self._stays_quiet(key, partition, asked):
                continue
            try:
                data = self._read_one(partition, asked, remaining, collected == 0)
            except ApiError as error:
                data = self._failed(partition, error.code)
                self.enough = True
            if is_replica:
                self._note_told(key, partition, asked, data)
            if data.records:
                collected += len(data.records)
                remaining -= len(data.records)
                if self.standing is not None:
                    self.standing.to_the_end((key, asked.partition))
            elif data.diverging_epoch is not None:
                self.enough = True
            answers.append((key, data))
        if collected >= request.min_bytes:
            self.enough = True
        return answers + unknown

    def _stays_quiet(self, key: TopicKey, partition: Partition, asked: FetchPartition) -> bool:
        """A follower says where it stands even then, and this very fetch may make news."""
        if not self._is_quiet(key, partition, asked):
            return False
        if self.reader.is_replica:
            self.reader.stands_at(partition, asked)
            if not self._is_quiet(key, partition, asked):
                return False
            self._note_told(key, partition, asked)
            if self.standing is not None and self.standing.sleep((key, partition.index), partition):
                del self.asked[partition]
        return True

    def _failed(self, partition: Partition, code: ErrorCode) -> PartitionData:
        data = PartitionData(partition.index, code, -1, aborted_transactions=None, records=b"")
        if self.context.version >= _LEADERS_SINCE and code in _ELSEWHERE:
            data.current_leader = LeaderIdAndEpoch(partition.image.leader, partition.image.leader_epoch)
        return data

    def _unfound(self, key: TopicKey, index: int, code: ErrorCode) -> PartitionData:
        data = PartitionData(index, code, -1, records=b"")
        name = self.node.image.topic_names.get(key) if isinstance(key, bytes) else key
        image = None if name is None else self.node.image.partition(name, index)
        # Another broker has it, or we have not heard of it yet: neither is worth waiting for.
        self.enough = self.enough or image is not None or self.standing is not None
        if image is not None and self.context.version >= _LEADERS_SINCE:
            data.current_leader = LeaderIdAndEpoch(image.leader, image.leader_epoch)
        return data

    def _note_told(
        self, key: TopicKey, partition: Partition, asked: FetchPartition, data: PartitionData | None = None
    ) -> None:
        """What a follower knows of its leader; that may have changed just now, by this very fetch."""
        log = partition.log
        if log is None:
            return
        sent = None if self.session is None else self.session.partitions.get((key, asked.partition))
        if sent is None:
            self.told[partition] = asked.high_watermark, log.log_start_offset
        else:
            self.told[partition] = sent.high_watermark, sent.log_start_offset
            if data is not None and not data.error_code and data.diverging_epoch is None:
                sent.settle(partition.image.leader_epoch)
        self.has_news = self.has_news or self._is_news(partition, log)

    def _is_news(self, partition: Partition, log: Log) -> bool:
        told = self.told.get(partition)
        return told is not None and (log.high_watermark > told[0] or log.log_start_offset > told[1])

    def _is_quiet(self, key: TopicKey, partition: Partition, asked: FetchPartition) -> bool:
        """Nothing to read and nothing to say since the last answer: most partitions of a wide consumer, and
        of a follower."""
        assert self.session is not None
        sent = self.session.partitions.get((key, asked.partition))
        log, image = partition.log, partition.image
        if sent is None or log is None:
            return False
        end_offset = log.log_end_offset if self.reader.is_replica else log.high_watermark
        return (
            end_offset == asked.fetch_offset
            and log.high_watermark == sent.high_watermark
            and log.log_start_offset == sent.log_start_offset
            and image.leader == partition.broker_id
            and asked.current_leader_epoch in {NO_EPOCH, image.leader_epoch}
            and (
                asked.last_fetched_epoch in {NO_EPOCH, image.leader_epoch}
                or sent.is_settled(image.leader_epoch)
            )
        )

    def _read_one(
        self, partition: Partition, asked: FetchPartition, remaining: int, first: bool
    ) -> PartitionData:
        reader = self.reader
        log = reader.log_of(partition, asked)
        data = PartitionData(
            asked.partition, 0, log.high_watermark, log.last_stable_offset, log.log_start_offset,
            aborted_transactions=None, records=b"",
        )  # fmt: skip
        better = reader.better_replica(partition, asked)
        if better != NO_REPLICA:
            data.preferred_read_replica, self.enough = better, True
            return data
        if asked.last_fetched_epoch >= 0 and _diverges(log, asked, data):
            return data
        offset = asked.fetch_offset
        upper = reader.upper_offset(log)
        limit = min(asked.partition_max_bytes, remaining)
        if reader.is_replica and reader.is_held_back(partition):
            limit, first = 0, False
        try:
            found = log.read(offset, max(limit, 0), upper_offset=upper, minimum_one_batch=first)
            too_large = found.slice is None and offset < upper and limit > 0  # Kafka looks no further then
            if reader.reads_committed and not too_large:
                aborted = log.aborted_transactions(found, upper)
                data.aborted_transactions = [
                    AbortedTransaction(each.producer_id, each.first_offset) for each in aborted
                ]
        except OSError as error:
            self.node.disk_failed(partition, error)
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR) from error
        if found.slice is not None:
            data.records = found.slice
        if reader.is_replica:
            reader.was_given(partition, len(data.records or b""))
            reader.stands_at(partition, asked)
            data.high_watermark, data.last_stable_offset = log.high_watermark, log.last_stable_offset
        return data

    def _find(self, key: TopicKey, index: int) -> Partition:
        if isinstance(key, bytes):
            name = self.node.image.topic_names.get(key)
            if name is None:
                gone = self.session is not None and self.session.has_answered(key, index)
                raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if gone else ErrorCode.UNKNOWN_TOPIC_ID)
        else:
            name = key
        return self.node.replicas.get(name, index)

    # --- answering -----------------------------------------------------------------------------------------

    def reply(self, answers: list[tuple[TopicKey, PartitionData]]) -> list[Part]:
        session = self.session
        topics: list[FetchableTopicResponse] = []
        leaders = {data.current_leader.leader_id for _, data in answers if data.current_leader is not None}
        last: TopicKey | None = None
        partitions: list[PartitionData] = []
        for key, data in answers:
            if session is not None:
                news = session.is_news(key, data, incremental=self.incremental)
                if self.incremental and not news:
                    continue
            if key != last:
                partitions = []
                topics.append(_topic(key, partitions))
                last = key
            partitions.append(data)
        session_id = 0 if session is None else session.id
        response = FetchResponse(session_id=session_id, responses=topics)
        if leaders and not self.reader.is_replica:  # brokers know where brokers are
            nodes = leader_nodes(self.node, self.context.session.listener, leaders)
            response.node_endpoints = [NodeEndpoint(*each) for each in nodes]
        version = self.context.version
        parts = codec.encode_parts(response, version)
        head = codec.response_head(self.context.api_key, version, self.context.correlation_id)
        size = len(head) + sum(map(len, parts))
        first = parts[0]
        assert isinstance(first, bytes)
        parts[0] = _LENGTH.pack(size) + head + first
        return parts

    # --- waiting -------------------------------------------------------------------------------------------

    @property
    def may_wait(self) -> bool:
        """Whether there is something that could happen."""
        return bool(self.asked) or (self.standing is not None and len(self.standing) > 0)

    def woken(self, place: tuple[TopicKey, int], partition: Partition) -> None:
        """A partition that slept has moved while this waits."""
        sent = None if self.session is None else self.session.partitions.get(place)
        if sent is None or self.parked is None:
            return
        self.asked[partition] = sent.asked
        self._note_told(place[0], partition, sent.asked)
        self.parked.also_for(partition)
        self.parked.moved(partition)

    def park(self) -> None:
        self.parked = self.node.purgatory.park(
            self.context.session,
            self.asked,
            self.node.now_ms + self.request.max_wait_ms,
            self._satisfied,
            self._finish,
            uncommitted=self.reader.is_replica,
        )
        if self.standing is not None:
            self.standing.parked = self
        if self.has_news:
            self._hasten()

    def _hasten(self) -> None:
        """A follower should know soon what is committed: its own readers wait for that, and it may have to
        lead."""
        if self.parked is not None:
            self.parked.hasten(self.node.now_ms + _HIGH_WATERMARK_NEWS_MS)

    def _satisfied(self, moved: Partition) -> bool:
        """Enough bytes have come, or something happened that the client should hear at once. Only the
        partition that moved is looked at first: a consumer may wait for thousands."""
        try:
            available = self._available(moved)
            if available == 0 and moved.log is not None and self._is_news(moved, moved.log):
                self._hasten()
            if available == 0 or self.request.min_bytes <= 1:
                return available > 0
            return sum(map(self._available, self.asked)) >= self.request.min_bytes
        except ApiError:
            return True

    def _available(self, partition: Partition) -> int:
        """Bytes that are there to fetch; ApiError where the answer is an error."""
        asked = self.asked[partition]
        log = self.reader.log_of(partition, asked)
        offset = asked.fetch_offset
        if not log.log_start_offset <= offset <= log.log_end_offset:
            raise ApiError(ErrorCode.OFFSET_OUT_OF_RANGE)
        upper = self.reader.upper_offset(log)
        if upper <= offset or self.reader.is_held_back(partition):
            return 0
        try:
            available = log.bytes_available(offset, upper)
        except OSError as error:  # the read that follows meets it too, and says so
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR) from error
        return min(max(available, 1), max(asked.partition_max_bytes, 1))

    def _finish(self) -> None:
        if self.standing is not None:
            self.standing.parked = None
        self.context.session.send(self.reply(self.read()))


def _topic(key: TopicKey, partitions: list[PartitionData]) -> FetchableTopicResponse:
    if isinstance(key, bytes):
        return FetchableTopicResponse(topic_id=key, partitions=partitions)
    return FetchableTopicResponse(topic=key, partitions=partitions)


def _diverges(log: Log, asked: FetchPartition, data: PartitionData) -> bool:
    """KIP-595: the client's last epoch ended earlier here than it thinks; tell it where."""
    end = log.end_offset_for_epoch(asked.last_fetched_epoch)
    if end.epoch < 0 or asked.fetch_offset < log.log_start_offset:
        raise ApiError(ErrorCode.OFFSET_OUT_OF_RANGE)  # an epoch that we never had, or have no more
    if end.epoch == asked.last_fetched_epoch and end.end_offset >= asked.fetch_offset:
        return False
    data.diverging_epoch = EpochEndOffset(end.epoch, end.end_offset)
    return True
