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
    from barnabas.broker.partition import Partition
    from barnabas.broker.purgatory import Waiting

NO_SESSION = 0
INITIAL_EPOCH = 0
FINAL_EPOCH = -1
_EPOCH_MAX = 2**31 - 1

TopicKey: TypeAlias = str | bytes  # a name up to v12, an id since v13
Place: TypeAlias = tuple[TopicKey, int]
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
    is_replica = False

    def __init__(self, session_id: int, by_id: bool, now_ms: int) -> None:
        self.id = session_id
        self.by_id = by_id
        self.epoch = 1
        self.created_ms = now_ms
        self.last_used_ms = now_ms
        self.partitions: dict[Place, _Sent] = {}

    def end(self) -> None:
        """Nobody will ask in it again."""

    def entries(self) -> Iterator[Entry]:
        return ((key[0], sent.asked) for key, sent in self.partitions.items())

    def update(self, request: FetchRequest) -> None:
        self.add(request)
        for forgotten in request.forgotten_topics_data:
            key = forgotten.topic_id if self.by_id else forgotten.topic
            for index in forgotten.partitions:
                self._forget((key, index))

    def _forget(self, place: Place) -> None:
        self.partitions.pop(place, None)

    def add(self, request: FetchRequest) -> None:
        for topic in request.topics:
            key = topic.topic_id if self.by_id else topic.topic
            for asked in topic.partitions:
                self._add((key, asked.partition), asked)

    def _add(self, place: Place, asked: FetchPartition) -> None:
        sent = self.partitions.get(place)
        if sent is None:
            self.partitions[place] = _Sent(asked)
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


class ReplicaSession(FetchSession):
    """A follower's. Of its thousands of partitions most are quiet: each is watched, and only those that moved
    or are asked for anew are looked at."""

    is_replica = True

    def __init__(self, session_id: int, by_id: bool, now_ms: int) -> None:
        super().__init__(session_id, by_id, now_ms)
        self.parked: Waiting | None = None  # the fetch that waits, or waited last
        self._due: dict[Place, None] = {}
        self._watched: dict[Place, Partition] = {}

    def entries(self) -> Iterator[Entry]:
        return ((place[0], self.partitions[place].asked) for place in self._due)

    def _add(self, place: Place, asked: FetchPartition) -> None:
        super()._add(place, asked)
        # Behind the others: one that gives data each time starves none.
        self._due.pop(place, None)
        self._due[place] = None

    def _forget(self, place: Place) -> None:
        super()._forget(place)
        self._due.pop(place, None)
        self._unwatch(place)

    # --- watching ------------------------------------------------------------------------------------------

    def place_of(self, partition: Partition) -> Place:
        return (partition.topic_id if self.by_id else partition.topic, partition.index)

    def watch(self, place: Place, partition: Partition) -> None:
        """From now on it tells when it moves."""
        if self._watched.get(place) is not partition:
            self._unwatch(place)
            self._watched[place] = partition
            partition.following[self] = None

    def _unwatch(self, place: Place) -> None:
        partition = self._watched.pop(place, None)
        if partition is not None:
            partition.following.pop(self, None)

    def rest(self, place: Place) -> None:
        """There is nothing to say about it until it moves."""
        self._due.pop(place, None)

    def moved(self, partition: Partition) -> None:
        place = self.place_of(partition)
        if place in self.partitions:
            self._due[place] = None
            if self.parked is not None:
                self.parked.moved(partition)

    def due(self) -> list[Partition]:
        return [self._watched[place] for place in self._due if place in self._watched]

    def end(self) -> None:
        """Or its connection was lost: whoever asks in it again is told everything."""
        for place in tuple(self._watched):
            self._unwatch(place)
        self._due = dict.fromkeys(self.partitions)


class FetchSessions:
    def __init__(self, slots: int, eviction_ms: int, random: Random) -> None:
        self.slots = slots
        self.eviction_ms = eviction_ms
        self._random = random
        self._sessions: dict[int, FetchSession] = {}  # least recently used first

    def __len__(self) -> int:
        return len(self._sessions)

    def begin(
        self, request: FetchRequest, by_id: bool, is_replica: bool, now_ms: int
    ) -> tuple[FetchSession | None, bool]:
        """The session of this request, and whether it is incremental. ApiError if it names a wrong one."""
        if request.session_epoch in {INITIAL_EPOCH, FINAL_EPOCH}:
            if request.session_id != NO_SESSION:
                self._end(request.session_id)
            if request.session_epoch == FINAL_EPOCH:
                return None, False
            return self._create(request, by_id, is_replica, now_ms), False
        session = self._continue(request, by_id, is_replica, now_ms)
        return session, session is not None

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
            self._end(session.id)
            return None
        return session

    def _end(self, session_id: int) -> None:
        session = self._sessions.pop(session_id, None)
        if session is not None:
            session.end()

    def _create(
        self, request: FetchRequest, by_id: bool, is_replica: bool, now_ms: int
    ) -> FetchSession | None:
        size = sum(len(topic.partitions) for topic in request.topics)
        if not self._make_room(size, is_replica, now_ms):
            return None
        session_id = NO_SESSION
        while session_id == NO_SESSION or session_id in self._sessions:
            session_id = 1 + self._random.below(2**31 - 1)
        kind = ReplicaSession if is_replica else FetchSession
        session = kind(session_id, by_id, now_ms)
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
                self._end(session.id)
                return True
        return False
