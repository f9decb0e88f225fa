"""The newest leader epochs that a client has heard of (KIP-320).

It believes no broker that knows of an older one: a leader that was cut off tells of itself, and would refuse
what it has not seen. Brokers tell it of them, and whoever committed the offset that it goes on from.
"""

from __future__ import annotations

from collections.abc import Mapping

from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.metadata import MetadataResponse
from barnabas.protocol.messages.offset_fetch import OffsetFetchResponse
from barnabas.sim.cluster.routing import Leader


class KnownEpochs:
    def __init__(self) -> None:
        self._told: dict[tuple[bytes, int], int] = {}  # by topic id and index
        self._committed: dict[TopicPartition, int] = {}

    def is_old(self, answer: MetadataResponse) -> bool:
        """Otherwise it is remembered."""
        told = {}
        for topic in answer.topics:
            for partition in topic.partitions:
                epoch, where = partition.leader_epoch, (topic.topic_id, partition.partition_index)
                place = TopicPartition(topic.name or "", partition.partition_index)
                if epoch < max(self._told.get(where, -1), self._committed.get(place, -1)):
                    return True
                told[where] = epoch
        self._told.update(told)
        return False

    def is_news(self, answer: OffsetFetchResponse, leaders: Mapping[TopicPartition, Leader | None]) -> bool:
        """Whether somebody has read what a successor of one of these leaders wrote."""
        for group in answer.groups:
            for topic in group.topics:
                for one in topic.partitions:
                    place = TopicPartition(topic.name, one.partition_index)
                    newest = max(self._committed.get(place, -1), one.committed_leader_epoch)
                    self._committed[place] = newest
        return any(
            leader is not None and leader.epoch < self._committed.get(place, -1)
            for place, leader in leaders.items()
        )
