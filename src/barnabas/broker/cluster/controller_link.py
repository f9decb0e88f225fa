"""The way to the controller, whoever holds the office: another broker, this one, or nobody for the moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.cluster.peers import Answered, Failed, Peer
from barnabas.protocol.schema import Message

if TYPE_CHECKING:
    from barnabas.broker.node import Node

NOBODY = -1


class ControllerLink:
    """On a line of its own. What a former controller has not answered fails when its successor is known: one
    that is paused keeps its connections, and would be waited for until time is up."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._controller_id = NOBODY
        self._peer: Peer | None = None
        self._unanswered: dict[object, Failed] = {}
        self.is_silent = False  # the controller's connection broke, and it has not answered since

    @property
    def controller_id_for_clients(self) -> int:
        """Whom clients are to ask. Where nobody is known to decide, this broker: what it is asked waits here
        until somebody does, and a client that asked a dead one would wait until its time is up."""
        nobody = self.is_silent or self._controller_id == NOBODY
        return self._node.broker_id if nobody else self._controller_id

    @property
    def controller_id(self) -> int:
        """As the store says; the image may be behind."""
        return self._controller_id

    def follow(self, controller_id: int) -> None:
        if controller_id == self._controller_id:
            return
        self._controller_id = controller_id
        self.is_silent = False
        if self._peer is not None:
            self._peer.close()
            self._peer = None
        unanswered, self._unanswered = self._unanswered, {}
        for failed in unanswered.values():
            self._node.timers.at(self._node.now_ms, failed)

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
        if self._controller_id == NOBODY:
            node.timers.at(node.now_ms + 1, failed)
            return
        if self._peer is None:
            self._peer = node.peers.open(self._controller_id)
        question = object()
        self._unanswered[question] = failed

        def heard(answer: Message) -> None:
            if self._unanswered.pop(question, None) is not None:
                answered(answer)

        def unheard() -> None:
            if self._unanswered.pop(question, None) is not None:
                failed()

        self._peer.ask(request, version, heard, unheard, timeout_ms)
