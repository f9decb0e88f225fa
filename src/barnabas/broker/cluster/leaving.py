"""How a broker stops in good order: others lead in its place before it goes.

It asks the controller until nothing is left that another could take over, for as long as
`controlled.shutdown.max.retries` pauses of `controlled.shutdown.retry.backoff.ms`; then it goes all the same.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from barnabas.broker.timers import Timer
from barnabas.model.errors import ErrorCode
from barnabas.protocol.private import VERSION, ControlledShutdownRequest, ControlledShutdownResponse
from barnabas.protocol.schema import Message

if TYPE_CHECKING:
    from barnabas.broker.node import Node

log = logging.getLogger("kafka.server.BrokerServer")

_AGAIN_MS = 250


class Leaving:
    """`done` is called once: at the latest when patience ends, and not before `begin` has returned."""

    def __init__(self, node: Node, done: Callable[[], None]) -> None:
        self._node = node
        self._done = done
        self._is_over = False
        self._patience: Timer | None = None

    def begin(self) -> None:
        node = self._node
        settings = node.settings
        others = node.image.brokers.keys() - {node.broker_id}
        if not settings.boolean("controlled.shutdown.enable") or not others:
            node.timers.at(node.now_ms, self._finish)
            return
        patience_ms = max(0, settings.integer("controlled.shutdown.max.retries")) * max(
            0, settings.integer("controlled.shutdown.retry.backoff.ms")
        )
        log.info("[BrokerServer id=%d] Starting controlled shutdown", node.broker_id)
        self._patience = node.timers.at(node.now_ms + patience_ms, self._give_up)
        self._ask()

    def _ask(self) -> None:
        node = self._node
        if self._is_over:
            return
        own = node.image.brokers.get(node.broker_id)
        request = ControlledShutdownRequest(node.broker_id, -1 if own is None else own.epoch)
        node.controller_link.ask(request, VERSION, self._answered, self._later)

    def _answered(self, answer: Message) -> None:
        assert isinstance(answer, ControlledShutdownResponse)
        if answer.error_code == ErrorCode.NONE and answer.remaining == 0:
            log.info("[BrokerServer id=%d] Controlled shutdown succeeded", self._node.broker_id)
            self._finish()
        else:
            self._later()

    def _later(self) -> None:
        self._node.timers.at(self._node.now_ms + _AGAIN_MS, self._ask)

    def _give_up(self) -> None:
        log.warning(
            "[BrokerServer id=%d] Not everything could be handed over in time; stopping all the same",
            self._node.broker_id,
        )
        self._finish()

    def _finish(self) -> None:
        if self._is_over:
            return
        self._is_over = True
        if self._patience is not None:
            self._node.timers.cancel(self._patience)
        self._done()
