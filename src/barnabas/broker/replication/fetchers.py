"""Which partitions this broker follows from whom, kept in step with the cluster image.

`num.replica.fetchers` lines to each leader; a partition keeps to one of them, so that its records come in
order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias
from zlib import crc32

from barnabas.broker.replication.partition import Partition
from barnabas.broker.replication.replica_fetching.line import LeaderLine
from barnabas.broker.replication.throttles import FOLLOWER, ReplicationThrottle
from barnabas.model.image import BrokerImage, ClusterImage, TopicImage
from barnabas.model.settings.broker import BrokerSettings
from barnabas.replication.follower_session import Place

if TYPE_CHECKING:
    from barnabas.broker.node import Node

_LineKey: TypeAlias = tuple[int, int]  # the leader's id, and which of our lines to it


class ReplicaFetchers:
    def __init__(self, node: Node) -> None:
        self._node = node
        self._throttle = ReplicationThrottle(node, FOLLOWER)
        self._lines: dict[_LineKey, LeaderLine] = {}
        self._places: dict[Place, _LineKey] = {}  # where each partition is followed
        self._lines_per_leader = node.settings.integer("num.replica.fetchers")
        node.on_settings.append(self._adopt)

    def __len__(self) -> int:
        """How many partitions follow somebody."""
        return len(self._places)

    def apply(self, old: ClusterImage, new: ClusterImage) -> None:
        """After the partitions have taken their places in the new image."""
        if old.topics is not new.topics:
            self._apply_topics(old, new)
        if old.brokers is not new.brokers:
            self._apply_brokers(old, new)
        if old.configs is not new.configs:
            for line in self._lines.values():
                line.refresh_throttles()
        self._hang_up_unused()

    def opened(self, partition: Partition) -> None:
        """Its log was not there yet when the image told of it."""
        self._follow_as_told(partition)

    def close(self) -> None:
        """Ask nobody any more."""
        for line in self._lines.values():
            line.close()
        self._lines.clear()
        self._places.clear()

    # --- what has changed ----------------------------------------------------------------------------------

    def _apply_topics(self, old: ClusterImage, new: ClusterImage) -> None:
        for name, topic in old.topics.items():
            current = new.topics.get(name)
            if current is None or current.id != topic.id:
                for partition in topic.partitions:
                    self._move((topic.id, partition.index), None)
        for name, topic in new.topics.items():
            before = old.topics.get(name)
            if before is not topic:
                self._apply_topic(before, topic)

    def _apply_topic(self, before: TopicImage | None, topic: TopicImage) -> None:
        known = () if before is None or before.id != topic.id else before.partitions
        for image in topic.partitions:
            if image.index < len(known) and known[image.index] is image:
                continue  # an election of one partition must not cost a look at ten thousand
            partition = self._node.replicas.find(topic.name, image.index)
            if partition is None:
                self._move((topic.id, image.index), None)
            else:
                self._follow_as_told(partition)

    def _apply_brokers(self, old: ClusterImage, new: ClusterImage) -> None:
        listener = self._node.settings.inter_broker_listener
        for (leader_id, _), line in self._lines.items():
            if _has_moved(old.brokers.get(leader_id), new.brokers.get(leader_id), listener):
                line.moved()
        if old.brokers.keys() != new.brokers.keys():  # somebody can be followed now, or no longer
            for partition in self._node.replicas:
                self._follow_as_told(partition)

    def _adopt(self, settings: BrokerSettings) -> None:
        count = settings.integer("num.replica.fetchers")
        if count != self._lines_per_leader:
            self._lines_per_leader = count
            for partition in self._node.replicas:
                self._follow_as_told(partition)

    # --- one partition -------------------------------------------------------------------------------------

    def _follow_as_told(self, partition: Partition) -> None:
        place = (partition.topic_id, partition.index)
        leader_id = self._leader_of(partition)
        if leader_id is None:
            self._move(place, None)
            return
        key = (leader_id, crc32(partition.topic_id, partition.index) % self._lines_per_leader)
        self._move(place, key)
        line = self._lines.get(key)
        if line is None:
            line = self._lines[key] = LeaderLine(self._node, leader_id, self._throttle)
        line.follow(partition)

    def _leader_of(self, partition: Partition) -> int | None:
        """Whom to follow, if there is somebody and we can."""
        image, own_id = partition.image, self._node.broker_id
        leads_or_left = image.leader == own_id or own_id not in image.replicas
        if leads_or_left or partition.log is None or image.leader not in self._node.image.brokers:
            return None
        return image.leader

    def _move(self, place: Place, key: _LineKey | None) -> None:
        before = self._places.get(place)
        if before is not None and before != key:
            line = self._lines.get(before)  # a line whose last partition lost its disk is gone
            if line is not None:
                line.drop(place)
            del self._places[place]
        if key is not None:
            self._places[place] = key

    def _hang_up_unused(self) -> None:
        for key in [key for key, line in self._lines.items() if not len(line)]:
            self._lines.pop(key).close()


def _has_moved(old: BrokerImage | None, new: BrokerImage | None, listener: str) -> bool:
    if old is None or new is None:
        return False  # it comes or goes, and partitions with it
    return old.epoch != new.epoch or old.endpoint(listener) != new.endpoint(listener)
