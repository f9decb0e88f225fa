"""What the handlers and the orders in the tree share: whether a topic may have a leader that was not in sync,
by the topic's own setting or else by this broker's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from barnabas.model.image import ClusterImage, ConfigKind
from barnabas.model.settings.topic import TopicSettings

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def unclean_allowed(node: Node, image: ClusterImage) -> Callable[[str], bool]:
    def allowed(topic: str) -> bool:
        settings = TopicSettings(image.config(ConfigKind.TOPIC, topic), node.settings)
        return settings.boolean("unclean.leader.election.enable")

    return allowed
