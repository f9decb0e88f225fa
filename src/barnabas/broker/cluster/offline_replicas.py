"""Replicas whose disk has failed: the controller is told until others are counted on in their place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.replication.partition import Partition
from barnabas.protocol.private import VERSION, OfflineTopicRow, ReplicasOfflineRequest
from barnabas.protocol.schema import Message

if TYPE_CHECKING:
    from barnabas.broker.node import Node

_RETRY_MS = 1_000


class OfflineReplicas:
    def __init__(self, node: Node) -> None:
        self._node = node
        self._is_telling = False

    def tell(self) -> None:
        """Something may be offline that others count on."""
        if not self._is_telling:
            self._is_telling = True
            self._node.timers.at(self._node.now_ms, self._tell)

    def _tell(self) -> None:
        node = self._node
        topics: dict[bytes, list[int]] = {}
        for partition in node.replicas:
            if self._concerns_others(partition):
                topics.setdefault(partition.topic_id, []).append(partition.index)
        own = node.image.brokers.get(node.broker_id)
        if not topics or own is None:
            self._is_telling = False
            return
        rows = [OfflineTopicRow(topic_id, indexes) for topic_id, indexes in topics.items()]
        request = ReplicasOfflineRequest(node.broker_id, own.epoch, rows)
        node.controller_link.ask(request, VERSION, self._answered, self._again)

    def _concerns_others(self, partition: Partition) -> bool:
        """The last in sync is nobody's to replace."""
        image = partition.image
        return partition.log is None and partition.broker_id in image.isr and len(image.isr) > 1

    def _answered(self, _answer: Message) -> None:
        self._again()

    def _again(self) -> None:
        """Until the image shows that it was heard."""
        self._node.timers.at(self._node.now_ms + _RETRY_MS, self._tell)
