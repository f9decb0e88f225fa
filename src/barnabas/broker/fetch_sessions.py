"""Incremental fetch sessions (KIP-227): a consumer says once what it reads, then only what changed.

The cache is bounded (`max.incremental.fetch.session.cache.slots`); a client without a place in it sends and
gets everything each time, which is slower and just as right.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.ports import Random
from barnabas.protocol.messages.fetch import FetchPartition, FetchRequest, PartitionData

if TYPE_CHECKING:
    from barnabas.broker.replication.standing import Standing

NO_SESSION = 0
INITIAL_EPOCH = 0
FINAL_EPOCH = -1
_EPOCH_MAX = 2**31 - 1

TopicKey: TypeAlias = str | bytes  # a name up to v12, an id since v13
Entry: TypeAlias = tuple[TopicKey, FetchPartition]


class _Sent:
    """What the client last asked of a partition and last heard about it."""

    __slots__ = ("_settled", "_settled_epoch", "asked", "high_watermark", "log_start_offset")

    def __init__(self, asked: FetchPartition) -> None:
        self.asked = asked
        self.high_watermark = -1
        self.log_start_offset = -1
        self._settled: FetchPartition | None = None
        self._settled_epoch = -1

    def settle(self, leader_epoch: int) -> None:
        """What it asks was found to agree with our log."""
        self._settled, self._settled_epoch = self.asked, leader_epoch

    def is_settled(self, leader_epoch: int) -> bool:
        """Whether it asks just that again, of the same leader, so that it cannot have diverged since."""
        return self._settled is self.asked and self._settled_epoch == leader_epoch


class FetchSession:
    def __init__(self, session_id: int, by_id: bool, is_replica: bool, now_ms: int) -> None:
        self.id = session_id
        self.by_id = by_id
        self.is_replica = is_replica
        self.epoch = 1
        self.created_ms = now_ms
        self.last_used_ms = now_ms
        self.partitions: dict[tuple[TopicKey, int], _Sent] = {}
        self.standing: Standing | None = None  # of a follower

    def close(self) -> None:
        if self.standing is not None:
            self.standing.close()

    def entries(self) -> Iterator[Entry]:
        return ((key[0], sent.asked) for key, sent in self.partitions.items())

    def update(self, request: FetchRequest) -> None:
        self.add(request)
        for forgotten in request.forgotten_topics_data:
            key = forgotten.topic_id if self.by_id else forgotten.topic
            for index in forgotten.partitions:
                self.partitions.pop((key, index), None)

    def add(self, request: FetchRequest) -> None:
        for topic in request.topics:
            key = topic.topic_id if self.by_id else topic.topic
            for asked in topic.partitions:
                sent = self.partitions.get((key, asked.partition))
                if sent is None:
                    self.partitions[key, asked.partition] = _Sent(asked)
                else:
                    sent.asked = asked

    def has_answered(self, key: TopicKey, index: int) -> bool:
        """Whether the partition was there once, so that its topic must have gone meanwhile."""
        sent = self.partitions.get((key, index))
        return sent is not None and sent.log_start_offset >= 0

    def is_news(self, key: TopicKey, data: PartitionData, *, incremental: bool = True) -> bool:
        """Whether an incremental reply must mention the partition; remembers what was said. One that gave
        data to an incremental fetch goes to the end of the line: a small `max_bytes` starves none."""
        place = (key, data.partition_index)
        sent = self.partitions.get(place)
        if sent is None:
            return True
        has_data = data.records is not None and len(data.records) > 0
        news = (
            has_data
            or data.error_code != 0
            or data.high_watermark != sent.high_watermark
            or data.log_start_offset != sent.log_start_offset
            or data.preferred_read_replica >= 0
            or data.diverging_epoch is not None
        )
        # After an error the next good answer is news, whatever its offsets.
        sent.high_watermark = -1 if data.error_code else data.high_watermark
        if not data.error_code:
            sent.log_start_offset = data.log_start_offset
        if has_data and incremental:
            self.partitions[place] = self.partitions.pop(place)
        return news


class FetchSessions:
    def __init__(self, slots: int, eviction_ms: int, random: Random) -> None:
        self.slots = slots
        self.eviction_ms = eviction_ms
        self._random = random
        self._sessions: dict[int, FetchSession] = {}  # least recently used first

    def __len__(self) -> int:
        return len(self._sessions)

    def __iter__(self) -> Iterator[FetchSession]:
        return iter(self._sessions.values())

    def begin(
        self, request: FetchRequest, by_id: bool, is_replica: bool, now_ms: int
    ) -> tuple[FetchSession | None, bool]:
        """The session of this request, and whether it is incremental. ApiError if it names a wrong one."""
        if request.session_epoch in {INITIAL_EPOCH, FINAL_EPOCH}:
            if request.session_id != NO_SESSION:
                self._forget(request.session_id)
            if request.session_epoch == FINAL_EPOCH:
                return None, False
            return self._create(request, by_id, is_replica, now_ms), False
        session = self._continue(request, by_id, is_replica, now_ms)
        return session, session is not None

    def _forget(self, session_id: int) -> None:
        session = self._sessions.pop(session_id, None)
        if session is not None:
            session.close()

    def _continue(
        self, request: FetchRequest, by_id: bool, is_replica: bool, now_ms: int
    ) -> FetchSession | None:
        """None when nothing is left to fetch: that closes the session."""
        session = self._sessions.get(request.session_id)
        if session is None or session.is_replica != is_replica:
            raise ApiError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        self._sessions[session.id] = self._sessions.pop(session.id)  # the most recently used
        if session.epoch != request.session_epoch:
            raise ApiError(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        if session.by_id != by_id:
            raise ApiError(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        session.epoch = 1 if session.epoch == _EPOCH_MAX else session.epoch + 1
        session.last_used_ms = now_ms
        session.update(request)
        if not session.partitions:
            self._forget(session.id)
            return None
        return session

    def _create(
        self, request: FetchRequest, by_id: bool, is_replica: bool, now_ms: int
    ) -> FetchSession | None:
        size = sum(len(topic.partitions) for topic in request.topics)
        if not self._make_room(size, is_replica, now_ms):
            return None
        session_id = NO_SESSION
        while session_id == NO_SESSION or session_id in self._sessions:
            session_id = 1 + self._random.below(2**31 - 1)
        session = FetchSession(session_id, by_id, is_replica, now_ms)
        session.add(request)  # a new session has nothing to forget
        self._sessions[session_id] = session
        return session

    def _make_room(self, size: int, is_replica: bool, now_ms: int) -> bool:
        """KIP-227: a stale session goes first; else, for a replica, any consumer's; else one that is smaller
        and has had its time."""
        if len(self._sessions) < self.slots:
            return True
        for session in self._sessions.values():
            stale = now_ms - session.last_used_ms > self.eviction_ms
            outranked = is_replica and not session.is_replica
            had_its_time = now_ms - session.created_ms > self.eviction_ms
            smaller = had_its_time and size > len(session.partitions) and is_replica == session.is_replica
            if stale or outranked or smaller:
                self._forget(session.id)
                return True
        return False
