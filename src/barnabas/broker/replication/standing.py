"""A follower's fetch session at its leader, where it costs what changes and not what there is.

A follower asks for hundreds of partitions many times a second, and few of them have anything to say. Those
that have not sleep: no fetch looks at them until they move, and the session stands among those who are told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from barnabas.broker.replication.partition import Partition
from barnabas.replication.leader import Position

if TYPE_CHECKING:
    from barnabas.broker.fetch_sessions import Entry, FetchSession, TopicKey
    from barnabas.broker.fetching import Fetch
    from barnabas.protocol.messages.fetch import FetchRequest

_Place: TypeAlias = "tuple[TopicKey, int]"


class Standing:
    """`Watcher` of the partitions that sleep."""

    __slots__ = ("_asleep", "_awake", "_broker_epoch", "_broker_id", "_session", "parked")

    def __init__(self, session: FetchSession, broker_id: int, broker_epoch: int) -> None:
        self._session = session
        self._broker_id = broker_id
        self._broker_epoch = broker_epoch
        self._awake: dict[_Place, None] = dict.fromkeys(session.partitions)
        self._asleep: dict[_Place, Partition] = {}
        self.parked: Fetch | None = None  # the fetch that waits, while one does

    def __len__(self) -> int:
        """How many sleep."""
        return len(self._asleep)

    def take(self, request: FetchRequest, broker_epoch: int) -> None:
        """What a fetch mentions is looked at; in another life of the follower, everything is."""
        by_id = self._session.by_id
        if broker_epoch != self._broker_epoch:
            self._broker_epoch = broker_epoch
            for place in list(self._asleep):
                self._rouse(place)
        for topic in request.topics:
            key = topic.topic_id if by_id else topic.topic
            for asked in topic.partitions:
                self._rouse((key, asked.partition))
        for forgotten in request.forgotten_topics_data:
            key = forgotten.topic_id if by_id else forgotten.topic
            for index in forgotten.partitions:
                self._rouse((key, index))
                del self._awake[key, index]

    def entries(self) -> list[Entry]:
        """What a fetch has to look at."""
        partitions = self._session.partitions
        return [(place[0], partitions[place].asked) for place in self._awake if place in partitions]

    def to_the_end(self, place: _Place) -> None:
        """It was given records: next time others come first, or a small `max_bytes` would starve them."""
        if place in self._awake:
            del self._awake[place]
            self._awake[place] = None

    def sleep(self, place: _Place, partition: Partition) -> bool:
        """Nothing to read and nothing to say. Who is not in sync stays awake: each of its fetches may be the
        one that lets it join."""
        if self._broker_id not in partition.image.isr:
            return False
        self._awake.pop(place, None)
        self._asleep[place] = partition
        partition.following[self] = None
        return True

    def _rouse(self, place: _Place) -> None:
        partition = self._asleep.pop(place, None)
        if partition is not None:
            partition.following.pop(self, None)
        self._awake[place] = None

    def moved(self, partition: Partition) -> None:
        """Its log has grown, its high watermark has risen, somebody else leads it: whatever it is."""
        for place, asleep in self._places_of(partition):
            if asleep is partition:
                self._rouse(place)
                self._was_there(place, partition)
                if self.parked is not None:
                    self.parked.woken(place, partition)
                return
        partition.following.pop(self, None)

    def _places_of(self, partition: Partition) -> list[tuple[_Place, Partition | None]]:
        keys: tuple[TopicKey, TopicKey] = (partition.topic_id, partition.topic)
        return [((key, partition.index), self._asleep.get((key, partition.index))) for key in keys]

    def _was_there(self, place: _Place, partition: Partition) -> None:
        """Until its last fetch the follower had all there was, though nobody wrote it down."""
        sent = self._session.partitions.get(place)
        if sent is not None and sent.asked.current_leader_epoch == partition.image.leader_epoch:
            position = Position(sent.asked.fetch_offset, sent.asked.log_start_offset, self._broker_epoch)
            partition.follower_stood(self._broker_id, position, self._session.last_used_ms)

    def close(self) -> None:
        for place in list(self._asleep):
            self._rouse(place)
