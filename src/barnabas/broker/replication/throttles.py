"""Replication throttles of this broker (KIP-73): which of its partitions, how many bytes per second."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.replication.partition import Partition
from barnabas.model.image import ConfigKind
from barnabas.model.settings.broker import BrokerSettings
from barnabas.replication.throttle import ThrottleWindow, names_replica

if TYPE_CHECKING:
    from barnabas.broker.node import Node

LEADER = "leader"
FOLLOWER = "follower"


class ReplicationThrottle:
    """`side` says whose: what is read from us as leader, or what we read as follower."""

    def __init__(self, node: Node, side: str) -> None:
        self._node = node
        self._rate_name = f"{side}.replication.throttled.rate"
        self._replicas_name = f"{side}.replication.throttled.replicas"
        settings = node.settings
        self._window = ThrottleWindow(
            settings.integer("replication.quota.window.num"),
            settings.integer("replication.quota.window.size.seconds") * 1000,
        )
        self.bytes_per_second: int | None = None
        self._adopt(settings)
        node.on_settings.append(self._adopt)

    def _adopt(self, settings: BrokerSettings) -> None:
        self.bytes_per_second = settings.optional_integer(self._rate_name)

    def concerns(self, partition: Partition) -> bool:
        """Whether the partition is among the throttled ones, and there is a rate."""
        if self.bytes_per_second is None:
            return False
        text = self._node.image.config(ConfigKind.TOPIC, partition.topic).get(self._replicas_name, "")
        named = [pair.strip() for pair in text.split(",") if pair.strip()]
        return names_replica(named, partition.index, self._node.broker_id)

    @property
    def is_exceeded(self) -> bool:
        return self._window.exceeds(self.bytes_per_second, self._node.now_ms)

    @property
    def next_look_ms(self) -> int:
        """When it may have fallen below the rate again."""
        return self._window.next_look_ms(self._node.now_ms)

    def record(self, moved_bytes: int) -> None:
        self._window.record(moved_bytes, self._node.now_ms)
