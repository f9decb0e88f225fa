"""The partitions this broker holds, kept in step with the cluster image."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from barnabas.broker.replication.partition import Partition
from barnabas.log.manager import LogManager
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import INTERNAL_TOPICS, TopicPartition
from barnabas.model.image import ClusterImage, PartitionImage, TopicImage

if TYPE_CHECKING:
    from barnabas.broker.node import Node

log = logging.getLogger("kafka.server.ReplicaManager")

# A new log takes half a millisecond of the loop, on a bad day several. Those of a small topic are there at
# once; of a large one the others come a few at a time, and who asks for them before is told to ask again.
_AT_ONCE = 16
_A_FEW = 8
_NEXT_TURN_MS = 1


class ReplicaManager:
    def __init__(self, host: Node, logs: LogManager) -> None:
        self._host = host
        self._logs = logs
        self._topics: dict[str, list[Partition | None]] = {}
        self._unopened: dict[TopicPartition, None] = {}  # in the order they came
        self._room = 0  # for logs that are opened at once
        self._when_open: list[Callable[[], None]] = []

    def find(self, topic: str, index: int) -> Partition | None:
        partitions = self._topics.get(topic)
        if partitions is None or not 0 <= index < len(partitions):
            return None
        return partitions[index]

    def get(self, topic: str, index: int) -> Partition:
        """ApiError when this broker does not hold it: another one may."""
        partition = self.find(topic, index)
        if partition is None:
            is_known = self._host.image.partition(topic, index) is not None
            raise ApiError(
                ErrorCode.NOT_LEADER_OR_FOLLOWER if is_known else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            )
        return partition

    def of_topic(self, topic: str) -> Iterable[Partition]:
        return (partition for partition in self._topics.get(topic, ()) if partition is not None)

    def __iter__(self) -> Iterator[Partition]:
        for partitions in self._topics.values():
            for partition in partitions:
                if partition is not None:
                    yield partition

    # --- the image -----------------------------------------------------------------------------------------

    def apply(self, old: ClusterImage, new: ClusterImage) -> None:
        """Open, update and drop partitions until ours are what the image says."""
        self._room = _AT_ONCE
        if old.topics is not new.topics:
            for name, topic in old.topics.items():
                current = new.topics.get(name)
                is_gone = current is None and name not in new.unreadable
                if is_gone or (current is not None and current.id != topic.id):
                    self._drop_topic(topic.name)
            for name, topic in new.topics.items():
                before = old.topics.get(name)
                if before is None:
                    self._clear_unreadable(topic)
                if before is not topic:
                    self._update(topic, _changed(before, topic))
        for name in old.unreadable - new.unreadable - new.topics.keys():
            self._drop_topic(name)
        if old.brokers is not new.brokers:
            for partition in tuple(self):
                partition.review()  # a leader waits for nobody who has gone

    def _clear_unreadable(self, topic: TopicImage) -> None:
        """What was kept because nobody could read of it may have become another topic meanwhile."""
        if any(partition.topic_id != topic.id for partition in self.of_topic(topic.name)):
            self._drop_topic(topic.name)

    def _update(self, topic: TopicImage, changed: Iterable[PartitionImage]) -> None:
        partitions = self._topics.setdefault(topic.name, [])
        partitions += [None] * (len(topic.partitions) - len(partitions))
        for image in changed:
            known = partitions[image.index]
            if self._host.broker_id not in image.replicas:
                partitions[image.index] = None
                self._leave(TopicPartition(topic.name, image.index), known, image)
            elif known is None and self._may_open(TopicPartition(topic.name, image.index)):
                partitions[image.index] = self._open(topic, image)
            elif known is not None:
                known.adopt(image)
            if len(image.replicas) > 1 and image.leader == self._host.broker_id:
                self._host.isr.watch()

    # --- new logs ------------------------------------------------------------------------------------------

    def _may_open(self, place: TopicPartition) -> bool:
        """At once: what has a log already, the coordinators' own, and a few others. The rest waits."""
        if place in self._logs.logs or place.topic in INTERNAL_TOPICS:
            return True
        if self._room > 0 and not self._unopened:
            self._room -= 1
            return True
        if not self._unopened:
            self._host.timers.at(self._host.now_ms + _NEXT_TURN_MS, self._open_more)
        self._unopened[place] = None
        return False

    def _open_more(self) -> None:
        for place in list(islice(self._unopened, _A_FEW)):
            del self._unopened[place]
            self._open_if_ours(place)
        if self._unopened:
            self._host.timers.at(self._host.now_ms + _NEXT_TURN_MS, self._open_more)
            return
        actions, self._when_open = self._when_open, []
        for action in actions:
            action()

    def _open_if_ours(self, place: TopicPartition) -> None:
        """As the image has it by now."""
        topic, image = self._host.image.topics.get(place.topic), self._host.image.partition(*place)
        if topic is None or image is None or self.find(*place) is not None:
            return
        if self._host.broker_id in image.replicas:
            partition = self._topics[place.topic][place.partition] = self._open(topic, image)
            self._host.fetchers.opened(partition)

    def when_open(self, action: Callable[[], None]) -> None:
        """Run it when nothing waits to be opened."""
        if self._unopened:
            self._when_open.append(action)
        else:
            action()

    def _leave(self, place: TopicPartition, known: Partition | None, image: PartitionImage) -> None:
        """Others hold it now. If that happened while we were away, only a log is left."""
        if known is not None:
            known.adopt(image)
            self._drop(known)
        elif place in self._logs.logs:
            self._delete(place)

    def _open(self, topic: TopicImage, image: PartitionImage) -> Partition:
        host = self._host
        partition = Partition(topic.name, topic.id, image, host)
        place = TopicPartition(topic.name, image.index)
        config = host.log_config(topic.name)
        try:
            self._clear_earlier_topic(place, topic.id)
            opened = self._logs.create(place, topic.id, config, host.wall_ms)
        except ApiError as error:
            log.error("Cannot open the log of %s: %s", place, error)
            host.upkeep.notice_failures()
            host.offline_replicas.tell()
        else:
            opened.update_config(config)
            partition.open(opened)
        return partition

    def _clear_earlier_topic(self, place: TopicPartition, topic_id: bytes) -> None:
        """While we were away, the topic was deleted and another one got its name."""
        existing = self._logs.get(place)
        if existing is not None and existing.topic_id not in {None, topic_id}:
            log.warning("Deleting the log of %s: it belongs to an earlier topic of that name", place)
            self._delete(place)

    def _drop_topic(self, name: str) -> None:
        for partition in self._topics.pop(name, ()):
            if partition is not None:
                self._drop(partition)

    def _drop(self, partition: Partition) -> None:
        """It is deleted, or moved to other brokers: our copy goes."""
        partition.leave()
        self._delete(TopicPartition(partition.topic, partition.index))

    def _delete(self, place: TopicPartition) -> None:
        existing = self._logs.logs.get(place)
        if existing is not None:
            self._host.cleaning.deleted(existing)
        try:
            self._logs.delete(place, self._host.wall_ms)
        except ApiError as error:
            log.error("Cannot delete the log of %s: %s", place, error)
            self._host.upkeep.notice_failures()

    def take_offline(self, directory: str) -> None:
        """Its disk failed: answer KAFKA_STORAGE_ERROR from now on, and tell those who wait."""
        for partition in tuple(self):
            if partition.log is not None and partition.log.directory.startswith(directory + "/"):
                partition.close()
        self._host.offline_replicas.tell()


def _changed(before: TopicImage | None, topic: TopicImage) -> Iterable[PartitionImage]:
    """An election of one partition must not cost a look at ten thousand."""
    if before is None or before.id != topic.id:
        return topic.partitions
    known = before.partitions
    return [
        image for image in topic.partitions if image.index >= len(known) or known[image.index] is not image
    ]
