"""What CreateTopics and auto-creation share: the controller's decision with this broker's settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from barnabas.controller.topics import NewTopic, TopicDefaults, TopicResult
from barnabas.controller.topics import create_topics as decide
from barnabas.model.image import ConfigResource
from barnabas.model.settings.validation import check_topic
from barnabas.ports import StoreError

if TYPE_CHECKING:
    from barnabas.broker.node import Node

TopicsDone: TypeAlias = Callable[[tuple[TopicResult, ...], StoreError | None], None]


def create_topics(
    node: Node, topics: Sequence[NewTopic], done: TopicsDone, *, validate_only: bool = False
) -> None:
    settings = node.settings
    defaults = TopicDefaults(
        settings.integer("num.partitions"), settings.integer("default.replication.factor")
    )

    def check(_resource: ConfigResource, values: Mapping[str, str]) -> None:
        check_topic(values, node.settings)

    node.controller.decide(
        lambda image: decide(
            image,
            topics,
            defaults=defaults,
            check_configs=check,
            random=node.random,
            validate_only=validate_only,
        ),
        done,
    )
