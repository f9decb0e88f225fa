"""Topics that come into being because somebody asked for them (`auto.create.topics.enable`)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from barnabas.broker.topic_requests import create_topics
from barnabas.controller.topics import NewTopic, TopicResult
from barnabas.model.errors import ErrorCode
from barnabas.ports import StoreError

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
            create_topics(self._node, [NewTopic(name)], self._created)
        return True

    def _created(self, results: tuple[TopicResult, ...], error: StoreError | None) -> None:
        for result in results:
            self._in_flight.discard(result.name)
            if error is not None or result.error not in {ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS}:
                log.warning("Auto topic creation failed for %s: %s", result.name, error or result.message)
