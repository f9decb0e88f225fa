"""The follower's side of a replication throttle (KIP-73): partitions that are meant by it and behind their
leader are not asked for while what came of such partitions lately is more than the rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.partition import Partition
from barnabas.model.image import ConfigKind
from barnabas.model.settings.table import TOPIC_SETTINGS
from barnabas.replication.throttle import ThrottleWindow, names_replica

if TYPE_CHECKING:
    from barnabas.broker.node import Node

_RATE = "follower.replication.throttled.rate"
_REPLICAS = "follower.replication.throttled.replicas"


class FollowerThrottle:
    """Of all lines together."""

    def __init__(self, node: Node) -> None:
        self._node = node
        settings = node.settings
        self._window = ThrottleWindow(
            settings.integer("replication.quota.window.num"),
            1000 * settings.integer("replication.quota.window.size.seconds"),
        )

    def means(self, partition: Partition) -> bool:
        text = self._node.image.config(ConfigKind.TOPIC, partition.topic).get(_REPLICAS)
        if text is None:
            return False
        listed = TOPIC_SETTINGS[_REPLICAS].parse(text)
        assert isinstance(listed, tuple)
        return names_replica(listed, partition.index, self._node.broker_id)

    def record(self, size: int) -> None:
        self._window.record(size, self._node.now_ms)

    @property
    def is_exceeded(self) -> bool:
        return self._window.exceeds(self._node.settings.optional_integer(_RATE), self._node.now_ms)

    @property
    def next_look_ms(self) -> int:
        return self._window.next_look_ms(self._node.now_ms)
