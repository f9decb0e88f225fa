"""Leaderships return to preferred replicas by themselves (`auto.leader.rebalance.enable`).

After a restart a broker leads nothing: others took over when it stopped. Every so often the controller looks
which brokers lack too many of the leaderships they are preferred for, and gives these back.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from barnabas.controller.leadership import balance
from barnabas.model.ids import TopicPartition
from barnabas.ports import StoreError

if TYPE_CHECKING:
    from barnabas.broker.node import Node

log = logging.getLogger("kafka.controller.KafkaController")

_FIRST_MS = 5_000  # as Kafka: a cluster that just started is looked at soon


class LeaderBalance:
    """On every broker; it does something where the controller is."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def start(self) -> None:
        node = self._node
        if node.settings.boolean("auto.leader.rebalance.enable"):
            node.timers.at(node.now_ms + min(_FIRST_MS, self._interval_ms), self._look)

    @property
    def _interval_ms(self) -> int:
        return self._node.settings.integer("leader.imbalance.check.interval.seconds") * 1000

    def _look(self) -> None:
        node = self._node
        node.timers.at(node.now_ms + self._interval_ms, self._look)
        if not node.controller.is_active:
            return
        percentage = node.settings.integer("leader.imbalance.per.broker.percentage")
        node.controller.decide(lambda image: balance(image, percentage), self._told)

    def _told(self, partitions: tuple[TopicPartition, ...], error: StoreError | None) -> None:
        if partitions and error is None:
            log.info("Leadership of %d partitions is back at their preferred replicas", len(partitions))
