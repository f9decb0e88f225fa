"""Which shards this broker coordinates: one per partition of an internal topic that it leads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Generic, TypeVar

from barnabas.broker.coordinators.hosted_shard import HostedShard
from barnabas.broker.replication.partition import Partition
from barnabas.coordination.hashing import partition_of
from barnabas.coordination.outcome import Outcome, Producer, Shard, Ticket
from barnabas.log.verification import Guard
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.image import ClusterImage

if TYPE_CHECKING:
    from barnabas.broker.node import Node

S = TypeVar("S", bound=Shard)


class CoordinatorHost(Generic[S]):
    """`make` builds an empty shard for what hosts it."""

    def __init__(self, node: Node, topic: str, make: Callable[[HostedShard[S]], S]) -> None:
        self.topic = topic
        self._node = node
        self._make = make
        self._hosted: dict[int, HostedShard[S]] = {}

    # --- requests ------------------------------------------------------------------------------------------

    def run(
        self, key: str, ticket: Ticket, operation: Callable[[S], Outcome], guard: Guard | None = None
    ) -> None:
        """Let the shard of this group or transactional id answer the ticket."""
        try:
            hosted = self.hosted(key)
            outcome = operation(hosted.shard)
        except ApiError as error:
            ticket.refuse(error.code)
        else:
            hosted.apply(outcome, guard)

    def coordinator_of(self, key: str) -> int | None:
        """The broker that leads where this key is remembered, as far as we know."""
        topic = self._node.image.topics.get(self.topic)
        if topic is None:
            return None
        leader = topic.partitions[partition_of(key, len(topic.partitions))].leader
        return leader if self._node.image.is_active(leader) else None

    def hosted(self, key: str) -> HostedShard[S]:
        topic = self._node.image.topics.get(self.topic)
        if topic is None:
            raise ApiError(ErrorCode.NOT_COORDINATOR)
        hosted = self._hosted.get(partition_of(key, len(topic.partitions)))
        if hosted is None or hosted.is_closed:
            raise ApiError(ErrorCode.NOT_COORDINATOR)
        if not hosted.is_active:
            raise ApiError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return hosted

    def active(self) -> Iterator[S]:
        return (hosted.shard for hosted in self._hosted.values() if hosted.is_active)

    @property
    def is_loading(self) -> bool:
        return any(not hosted.is_active and not hosted.is_closed for hosted in self._hosted.values())

    def marker_appended(self, partition: int, producer: Producer, committed: bool) -> None:
        hosted = self._hosted.get(partition)
        if hosted is not None:
            hosted.marker_appended(producer, committed)

    # --- the image -----------------------------------------------------------------------------------------

    def apply(self, old: ClusterImage, new: ClusterImage) -> None:
        """After the partitions: coordinate where we lead, and nowhere else."""
        if old.topics is new.topics:
            return
        if old.topics.get(self.topic) is not new.topics.get(self.topic):
            self._follow(new)
        for hosted in tuple(self._hosted.values()):
            if hosted.is_active:
                for outcome in hosted.shard.image_changed(old):
                    hosted.apply(outcome)

    def _follow(self, image: ClusterImage) -> None:
        topic = image.topics.get(self.topic)
        led = {
            partition.index: partition.leader_epoch
            for partition in (topic.partitions if topic is not None else ())
            if partition.leader == self._node.broker_id
        }
        for index, hosted in list(self._hosted.items()):
            # With a new epoch we begin anew, too: another may have led in between, and written.
            is_ours = led.get(index) == hosted.leader_epoch and hosted.partition is self._find(index)
            if hosted.is_closed or not is_ours:
                hosted.close()
                del self._hosted[index]
        for index in sorted(led.keys() - self._hosted.keys()):
            partition = self._find(index)
            if partition is not None and partition.log is not None:
                hosted = self._hosted[index] = HostedShard(self._node, partition, self._make)
                hosted.load()

    def _find(self, index: int) -> Partition | None:
        return self._node.replicas.find(self.topic, index)
