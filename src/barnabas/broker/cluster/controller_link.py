"""The way to the controller, whoever holds the office: another broker, this one, or nobody for the moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.cluster.peers import Answered, Failed
from barnabas.protocol.schema import Message

if TYPE_CHECKING:
    from barnabas.broker.node import Node

NOBODY = -1


class ControllerLink:
    def __init__(self, node: Node) -> None:
        self._node = node
        self.controller_id = NOBODY  # as the store says; the image may be behind

    def ask(
        self,
        request: Message,
        version: int,
        answered: Answered,
        failed: Failed,
        timeout_ms: int | None = None,
    ) -> None:
        """As `Peer.ask`. Whoever failed asks again later, when another may hold the office."""
        node = self._node
        if self.controller_id == NOBODY:
            node.timers.at(node.now_ms + 1, failed)
        else:
            node.peers.of(self.controller_id).ask(request, version, answered, failed, timeout_ms)
