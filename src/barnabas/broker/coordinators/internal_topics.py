"""The topics in which coordinators remember: made when the first client asks for a coordinator."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from barnabas.broker.topic_requests import request_topic
from barnabas.controller.topics import NewTopic
from barnabas.model.errors import ErrorCode
from barnabas.model.settings.broker import BrokerSettings

if TYPE_CHECKING:
    from barnabas.broker.node import Node

log = logging.getLogger("kafka.server.DefaultAutoTopicCreationManager")

OFFSETS_TOPIC = "__consumer_offsets"
TRANSACTIONS_TOPIC = "__transaction_state"


class InternalTopics:
    def __init__(self, node: Node) -> None:
        self._node = node
        self._waiting: dict[str, list[Callable[[], None]]] = {}

    def create(self, name: str, done: Callable[[], None]) -> None:
        """`done` runs when the attempt is over; whether the topic exists is then in the image."""
        waiting = self._waiting.get(name)
        if waiting is not None:
            waiting.append(done)
            return
        self._waiting[name] = [done]
        request_topic(self._node, internal_topic(name, self._node.settings), partial(self._created, name))

    def _created(self, name: str, code: ErrorCode, message: str | None) -> None:
        if code not in {ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS}:
            log.warning("Auto topic creation failed for %s: %s", name, message or code.sentence)
        for done in self._waiting.pop(name, ()):
            done()


def internal_topic(name: str, settings: BrokerSettings) -> NewTopic:
    if name == OFFSETS_TOPIC:
        return NewTopic(
            name,
            settings.integer("offsets.topic.num.partitions"),
            _replication_factor(settings, "offsets.topic.replication.factor"),
            configs={
                "cleanup.policy": "compact",
                "segment.bytes": str(settings.integer("offsets.topic.segment.bytes")),
                "compression.type": "producer",
            },
        )
    return NewTopic(
        name,
        settings.integer("transaction.state.log.num.partitions"),
        _replication_factor(settings, "transaction.state.log.replication.factor"),
        configs={
            "cleanup.policy": "compact",
            "segment.bytes": str(settings.integer("transaction.state.log.segment.bytes")),
            "compression.type": "uncompressed",
            "min.insync.replicas": str(settings.integer("transaction.state.log.min.isr")),
            "unclean.leader.election.enable": "false",
        },
    )


def _replication_factor(settings: BrokerSettings, name: str) -> int:
    """Kafka's default of 3 is for clusters. A broker with a store of its own is alone for good: there the
    default means what it can have, and only a factor that somebody wrote down is refused."""
    alone = settings.zookeeper_connect is None
    return 1 if alone and name not in settings.static else settings.integer(name)
