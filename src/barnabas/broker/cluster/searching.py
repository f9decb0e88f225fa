"""The controller's search for brokers that it lost contact with: whether anybody listens where they are.

Every broker that follows the image holds a connection to the controller. When it breaks, the broker is looked
for. One whose machine refuses connections has no process any more, and goes as if its session had ended; of
silence nothing is concluded, that is what sessions are for.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from barnabas.broker.cluster.peers import REFUSALS_ENOUGH, Peer
from barnabas.broker.session import Session
from barnabas.broker.topic_config import election_rules
from barnabas.controller.decision import Decision
from barnabas.controller.roll_call import unregister
from barnabas.model.image import ClusterImage
from barnabas.protocol.messages.api_versions import ApiVersionsRequest
from barnabas.protocol.schema import Message

if TYPE_CHECKING:
    from barnabas.broker.node import Node

log = logging.getLogger("kafka.controller.KafkaController")

_TRIES = 8  # a process that is just dying may still take a connection or two
_ANSWER_TIMEOUT_MS = 2_000


class Searching:
    def __init__(self, node: Node) -> None:
        self._node = node
        self._followers: dict[Session, int] = {}
        self._searches: dict[int, _Search] = {}
        # Taken for gone, and not reached since: one that advertises an address where nobody can listen would
        # have to go again and again.
        self._unreached: set[int] = set()

    def heard(self, session: Session, broker_id: int) -> None:
        """A broker asks for the image on this connection."""
        is_new = session not in self._followers
        self._followers[session] = broker_id
        if is_new and broker_id in self._unreached:
            self.look_for(broker_id)

    def disconnected(self, session: Session) -> None:
        broker_id = self._followers.pop(session, None)
        if broker_id is not None:
            self.look_for(broker_id)

    def look_for_all(self) -> None:
        """A new controller has heard from nobody yet."""
        for broker_id in self._node.image.brokers:
            self.look_for(broker_id)

    def look_for(self, broker_id: int) -> None:
        node = self._node
        broker = node.image.brokers.get(broker_id)
        if broker is None or broker_id == node.broker_id or not node.controller.is_active:
            return
        earlier = self._searches.get(broker_id)
        if earlier is not None:
            earlier.close()
        self._searches[broker_id] = _Search(node, self, broker_id, broker.epoch)

    def reached(self, broker_id: int) -> None:
        self._unreached.discard(broker_id)

    def refused(self, broker_id: int, epoch: int) -> None:
        node = self._node
        if broker_id in self._unreached:
            return
        self._unreached.add(broker_id)

        def is_gone(image: ClusterImage) -> Decision[int]:
            broker = image.brokers.get(broker_id)
            if broker is None or broker.epoch != epoch:
                return Decision(())  # it has come back
            return unregister(image, broker_id, election_rules(node.settings, image))

        def told(gone: tuple[int, ...], error: object) -> None:
            if gone and error is None:
                log.info("Broker %d is gone: nobody listens where it was", broker_id)

        node.controller.decide(is_gone, told)


class _Search:
    """For one life of a broker."""

    def __init__(self, node: Node, searching: Searching, broker_id: int, epoch: int) -> None:
        self._node = node
        self._searching = searching
        self._peer: Peer = node.peers.open(broker_id)
        self._id = broker_id
        self._epoch = epoch
        self._tries_left = _TRIES
        self._ask()

    def close(self) -> None:
        self._peer.close()

    def _ask(self) -> None:
        self._tries_left -= 1
        self._peer.ask(ApiVersionsRequest(), 0, self._answered, self._failed, _ANSWER_TIMEOUT_MS)

    def _answered(self, _answer: Message) -> None:
        self.close()
        self._searching.reached(self._id)

    def _failed(self) -> None:
        if not self._node.controller.is_active or self._tries_left == 0:
            self.close()
        elif self._peer.refusals >= REFUSALS_ENOUGH:
            self.close()
            self._searching.refused(self._id, self._epoch)
        else:
            self._ask()
