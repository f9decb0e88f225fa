"""The partitions this broker holds, kept in step with the cluster image."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from barnabas.broker.partition import Partition
from barnabas.log.manager import LogManager
from barnabas.model.errors import ApiError
from barnabas.model.ids import TopicPartition
from barnabas.model.image import ClusterImage, PartitionImage, TopicImage

if TYPE_CHECKING:
    from barnabas.broker.node import Node

log = logging.getLogger("kafka.server.ReplicaManager")


class ReplicaManager:
    def __init__(self, host: Node, logs: LogManager) -> None:
        self._host = host
        self._logs = logs
        self._topics: dict[str, list[Partition | None]] = {}

    def find(self, topic: str, index: int) -> Partition | None:
        partitions = self._topics.get(topic)
        if partitions is None or not 0 <= index < len(partitions):
            return None
        return partitions[index]

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
        if old.topics is not new.topics:
            for name, topic in old.topics.items():
                current = new.topics.get(name)
                if current is None or current.id != topic.id:
                    self._drop(topic)
            for name, topic in new.topics.items():
                if old.topics.get(name) is not topic:
                    self._update(topic)

    def _update(self, topic: TopicImage) -> None:
        partitions = self._topics.setdefault(topic.name, [])
        partitions += [None] * (len(topic.partitions) - len(partitions))
        for image in topic.partitions:
            if self._host.broker_id not in image.replicas:
                continue
            known = partitions[image.index]
            if known is None:
                partitions[image.index] = self._open(topic, image)
            else:
                known.image = image
                known.lead()
                known.progressed()

    def _open(self, topic: TopicImage, image: PartitionImage) -> Partition:
        host = self._host
        partition = Partition(topic.name, topic.id, image, host)
        place = TopicPartition(topic.name, image.index)
        config = host.log_config(topic.name)
        try:
            opened = self._logs.create(place, topic.id, config, host.wall_ms)
        except ApiError as error:
            log.error("Cannot open the log of %s: %s", place, error)
            host.upkeep.notice_failures()
        else:
            partition.open(opened)
            partition.update_config(config)
            partition.lead()
        return partition

    def _drop(self, topic: TopicImage) -> None:
        for partition in self._topics.pop(topic.name, ()):
            if partition is None:
                continue
            if partition.log is not None:
                self._host.cleaning.deleted(partition.log)
            partition.log = None
            partition.progressed()
            try:
                self._logs.delete(TopicPartition(topic.name, partition.index), self._host.wall_ms)
            except ApiError as error:
                log.error("Cannot delete the log of %s: %s", partition, error)
                self._host.upkeep.notice_failures()

    def take_offline(self, directory: str) -> None:
        """Its disk failed: answer KAFKA_STORAGE_ERROR from now on, and tell those who wait."""
        for partition in self:
            if partition.log is not None and partition.log.directory.startswith(directory + "/"):
                partition.log = None
                partition.progressed()
