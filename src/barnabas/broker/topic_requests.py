"""New topics: what the controller decides with its settings, and how a broker asks for one itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from barnabas.controller.topics import NewTopic, TopicDefaults, TopicResult
from barnabas.controller.topics import create_topics as decide
from barnabas.model.errors import ErrorCode
from barnabas.model.image import ConfigResource
from barnabas.model.settings.validation import check_topic
from barnabas.ports import StoreError
from barnabas.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from barnabas.protocol.schema import Message

if TYPE_CHECKING:
    from barnabas.broker.node import Node

_CREATE_TOPICS_VERSION: Final = 7

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


def request_topic(node: Node, topic: NewTopic, done: Callable[[ErrorCode, str | None], None]) -> None:
    """Ask whoever is the controller, as a client of this broker would: `done` when our image shows the topic,
    or why there will be none."""
    row = CreatableTopic(
        topic.name,
        topic.partitions,
        topic.replication_factor,
        configs=[CreatableTopicConfig(name, value) for name, value in topic.configs.items()],
    )

    def answered(answer: Message) -> None:
        assert isinstance(answer, CreateTopicsResponse)
        for result in answer.topics:
            done(ErrorCode(result.error_code), result.error_message)

    timeout_ms = node.settings.integer("request.timeout.ms")
    node.peers.of(node.broker_id).ask(
        CreateTopicsRequest([row], timeout_ms=timeout_ms),
        _CREATE_TOPICS_VERSION,
        answered,
        lambda: done(ErrorCode.NETWORK_EXCEPTION, None),
    )
