"""What `barnabas cluster balance` starts from: who holds what, how large it is, and how fast it grows."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from barnabas.controller.balancing import Placed, Situation
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.metadata import MetadataResponse
from barnabas.wire import Cluster
from barnabas.wire.admin import brokers, reassignments

Sizes = Mapping[tuple[TopicPartition, int], int]  # by partition and broker


@dataclass(frozen=True, slots=True)
class Reading:
    situation: Situation  # the first replica of each partition is the preferred leader
    leaders: Mapping[TopicPartition, int]  # who leads
    left_alone: int  # partitions on the move, without a leader, or with a replica that is away or lags

    @property
    def as_led(self) -> Situation:
        """The situation as it is felt now: with the leaders that lead first."""
        partitions = {
            place: replace(partition, replicas=_first(self.leaders[place], partition.replicas))
            for place, partition in self.situation.partitions.items()
        }
        return replace(self.situation, partitions=partitions)

    @property
    def misled(self) -> list[TopicPartition]:
        """Led by another than the preferred replica."""
        partitions = self.situation.partitions
        return [place for place, leader in self.leaders.items() if partitions[place].replicas[0] != leader]


def read(cluster: Cluster, sample_s: float) -> Reading:
    """Sizes are read twice, so many seconds apart: what grew in between is the traffic."""
    metadata = cluster.metadata()
    racks = {broker.node_id: broker.rack for broker in metadata.brokers}
    moving = reassignments.ongoing(cluster)
    first, began = sizes(cluster, racks), time.monotonic()
    second = first
    if sample_s > 0:
        time.sleep(sample_s)
        second = sizes(cluster, racks)
    elapsed_s = max(time.monotonic() - began, 0.001)
    leaders, left_alone = _leaders(metadata, racks, moving)
    partitions = {}
    for topic in metadata.topics:
        for row in topic.partitions:
            place = TopicPartition(topic.name or "", row.partition_index)
            if place not in leaders:
                continue
            held = [second.get((place, broker), 0) for broker in row.replica_nodes]
            leader = place, leaders[place]
            grown = max(0, second.get(leader, 0) - first.get(leader, 0))
            partitions[place] = Placed(place, tuple(row.replica_nodes), max(held), grown / elapsed_s)
    return Reading(Situation(racks, partitions), leaders, left_alone)


def _leaders(
    metadata: MetadataResponse, racks: Mapping[int, str | None], moving: Collection[TopicPartition]
) -> tuple[dict[TopicPartition, int], int]:
    """Of partitions that may be moved, and how many others there are."""
    leaders = {}
    count = 0
    for topic in metadata.topics:
        for row in topic.partitions:
            count += 1
            place = TopicPartition(topic.name or "", row.partition_index)
            held = {*row.replica_nodes}
            is_whole = row.leader_id in held and held == {*row.isr_nodes} and racks.keys() >= held
            if is_whole and place not in moving:
                leaders[place] = row.leader_id
    return leaders, count - len(leaders)


def sizes(
    cluster: Cluster, broker_ids: Collection[int], partitions: Collection[TopicPartition] | None = None
) -> dict[tuple[TopicPartition, int], int]:
    """Bytes of each replica, of all or of these partitions."""
    return {
        (TopicPartition(topic.name, row.partition_index), broker): row.partition_size
        for broker in broker_ids
        for directory in brokers.log_dirs(cluster, broker, partitions)
        for topic in directory.topics
        for row in topic.partitions
    }


def _first(leader: int, replicas: tuple[int, ...]) -> tuple[int, ...]:
    return (leader, *(broker for broker in replicas if broker != leader))
