"""Topics that come into being because somebody asked for them (`auto.create.topics.enable`)."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from barnabas.broker.coordinators.internal_topics import internal_topic
from barnabas.broker.topic_requests import request_topic
from barnabas.controller.topics import NewTopic
from barnabas.model.errors import ErrorCode
from barnabas.model.ids import INTERNAL_TOPICS

if TYPE_CHECKING:
    from barnabas.broker.node import Node

log = logging.getLogger("kafka.server.DefaultAutoTopicCreationManager")

_IN_FLIGHT_MAX = 1000  # names that peers made up and that are being created


class AutoCreation:
    def __init__(self, node: Node) -> None:
        self._node = node
        self._in_flight: set[str] = set()

    def request(self, name: str) -> bool:
        """Begin to create the topic, unless that is under way. False where it is not allowed."""
        if not self._node.settings.boolean("auto.create.topics.enable"):
            return False
        if name not in self._in_flight and len(self._in_flight) < _IN_FLIGHT_MAX:
            self._in_flight.add(name)
            request_topic(self._node, self._topic(name), partial(self._created, name))
        return True

    def _topic(self, name: str) -> NewTopic:
        """As this broker's settings have it, whatever the controller's say."""
        settings = self._node.settings
        if name in INTERNAL_TOPICS:
            return internal_topic(name, settings)
        return NewTopic(
            name, settings.integer("num.partitions"), settings.integer("default.replication.factor")
        )

    def _created(self, name: str, code: ErrorCode, message: str | None) -> None:
        self._in_flight.discard(name)
        if code not in {ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS}:
            log.warning("Auto topic creation failed for %s: %s", name, message or code.sentence)
