"""What to ask a leader next: of which partitions, from where, and how long it may wait with its answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from barnabas.broker.replication.partition import Partition
from barnabas.broker.replication.replica_fetching.followed import Followed
from barnabas.broker.replication.throttles import ReplicationThrottle
from barnabas.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
)
from barnabas.replication.follower_session import Asked, FollowerSession, Place

if TYPE_CHECKING:
    from barnabas.broker.node import Node

VERSION = 18  # with our high watermark (KIP-1166): a leader that is ahead with its own answers at once
_UNKNOWN_BROKER_EPOCH = -1


class Questions:
    """`resumed` is called when a partition that had to wait can be asked for again."""

    def __init__(self, node: Node, throttle: ReplicationThrottle, resumed: Callable[[], None]) -> None:
        self.session = FollowerSession()
        self.followed: dict[Place, Followed] = {}
        self.news: dict[Place, None] = {}  # what the next question may have to mention
        self._waiting: dict[Place, Followed] = {}
        self._throttled: dict[Place, None] = {}
        self._node = node
        self._throttle = throttle
        self._resumed = resumed

    @property
    def has_news(self) -> bool:
        """Whether a partition waits to be asked for; one that is to be left out does not."""
        return any(place in self.followed and place not in self._waiting for place in self.news)

    # --- what is followed ----------------------------------------------------------------------------------

    def add(self, partition: Partition) -> bool:
        """False if that is so already."""
        place = (partition.topic_id, partition.index)
        known = self.followed.get(place)
        if known is not None and known.partition is partition and known.is_current:
            return False
        self.drop(place)
        self.followed[place] = Followed(partition)
        self._see_whether_throttled(self.followed[place])
        return True

    def drop(self, place: Place) -> None:
        followed = self.followed.pop(place, None)
        if followed is not None:
            followed.partition.waiting.pop(self, None)
        self._waiting.pop(place, None)
        self._throttled.pop(place, None)
        self.news[place] = None

    def clear(self) -> None:
        for place in list(self.followed):
            self.drop(place)

    # --- what waits ----------------------------------------------------------------------------------------

    def hold(self, followed: Followed, until_ms: int | None = None) -> None:
        """Leave the partition out until then, or until `release`."""
        self._waiting[followed.place] = followed
        self.news[followed.place] = None
        followed.held_until_ms = until_ms
        if until_ms is not None:
            self._node.timers.at(until_ms, lambda: self._wake(followed))

    def release(self, followed: Followed) -> bool:
        """False if the partition is no longer followed, or no longer in that epoch."""
        if self._waiting.get(followed.place) is not followed:
            return False
        del self._waiting[followed.place]
        self.news[followed.place] = None
        return followed.is_current

    def _wake(self, followed: Followed) -> None:
        if self.release(followed):
            self._resumed()

    def moved(self, partition: Partition) -> None:
        """The disk has caught up, perhaps."""
        if partition.fetch_position is not None or partition.log is None:
            partition.waiting.pop(self, None)
            followed = self._waiting.get((partition.topic_id, partition.index))
            if followed is not None and followed.partition is partition and followed.held_until_ms is None:
                self._wake(followed)

    # --- throttles -----------------------------------------------------------------------------------------

    def refresh_throttles(self) -> None:
        for followed in self.followed.values():
            self._see_whether_throttled(followed)

    def _see_whether_throttled(self, followed: Followed) -> None:
        followed.is_throttled = self._throttle.concerns(followed.partition)
        if followed.is_throttled:
            self._throttled[followed.place] = None
        else:
            self._throttled.pop(followed.place, None)
        self.news[followed.place] = None

    # --- the next question ---------------------------------------------------------------------------------

    def next(self) -> FetchRequest | None:
        """None while there is nothing to ask for."""
        session = self.session
        places = self._places()
        self.news = {}
        partition_bytes_max = self._node.settings.integer("replica.fetch.max.bytes")
        topics: dict[bytes, list[FetchPartition]] = {}
        left_out: dict[bytes, list[int]] = {}
        for place in places:
            topic_id, index = place
            asks = self._asks(place)
            if asks is None:
                if session.leave_out(place):
                    left_out.setdefault(topic_id, []).append(index)
            elif session.tell(place, asks):
                topics.setdefault(topic_id, []).append(_row(index, asks, partition_bytes_max))
        if not session.known:
            session.begin_again()
            return None
        return self._request(topics, left_out)

    def _places(self) -> list[Place]:
        """A throttle is looked at each time, since what it says changes by itself."""
        if self.session.is_incremental:
            return [*self.news, *(place for place in self._throttled if place not in self.news)]
        self.session.known.clear()
        return list(self.followed)

    def _asks(self, place: Place) -> Asked | None:
        followed = self.followed.get(place)
        if followed is None or place in self._waiting:
            return None
        if followed.is_throttled and not followed.is_in_sync and self._throttle.is_exceeded:
            self.hold(followed, self._throttle.next_look_ms)
            return None
        asks = followed.asks()
        if asks is None:
            self.hold(followed)
            followed.partition.waiting[self] = None
        return asks

    def _wait_ms(self) -> int:
        """No longer than until another partition can be asked for."""
        longest_ms = self._node.settings.integer("replica.fetch.wait.max.ms")
        due = [each.held_until_ms for each in self._waiting.values() if each.held_until_ms is not None]
        return max(0, min(longest_ms, min(due) - self._node.now_ms)) if due else longest_ms

    def _request(
        self, topics: dict[bytes, list[FetchPartition]], left_out: dict[bytes, list[int]]
    ) -> FetchRequest:
        node, settings = self._node, self._node.settings
        own = node.image.brokers.get(node.broker_id)
        return FetchRequest(
            replica_state=ReplicaState(node.broker_id, _UNKNOWN_BROKER_EPOCH if own is None else own.epoch),
            max_wait_ms=self._wait_ms(),
            min_bytes=settings.integer("replica.fetch.min.bytes"),
            max_bytes=settings.integer("replica.fetch.response.max.bytes"),
            session_id=self.session.id,
            session_epoch=self.session.epoch,
            topics=[FetchTopic(topic_id, partitions=rows) for topic_id, rows in topics.items()],
            forgotten_topics_data=[
                ForgottenTopic(topic_id, partitions=indexes) for topic_id, indexes in left_out.items()
            ],
        )


def _row(index: int, asks: Asked, partition_bytes_max: int) -> FetchPartition:
    return FetchPartition(
        index,
        asks.leader_epoch,
        asks.fetch_offset,
        asks.last_fetched_epoch,
        asks.log_start_offset,
        partition_bytes_max,
        high_watermark=asks.high_watermark,
    )
