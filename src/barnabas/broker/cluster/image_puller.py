"""How a broker follows the controller: it asks for what comes after the image it has, again and again.

A lost answer is only a delay. The controller's answer waits until there is news, so that news is heard at
once and silence costs a question per second.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from barnabas.broker.cluster.peers import REFUSALS_ENOUGH, Peer
from barnabas.controller import steps, tree
from barnabas.controller.znodes.cluster import decode_broker
from barnabas.controller.znodes.fields import MalformedNodeError
from barnabas.model.image import ClusterImage
from barnabas.ports import Completed, Get, Value
from barnabas.protocol.private import VERSION, PullImageRequest, PullImageResponse
from barnabas.protocol.schema import Message

if TYPE_CHECKING:
    from barnabas.broker.node import Node

log = logging.getLogger("kafka.server.BrokerServer")

_WAIT_MS = 1_000
_ANSWER_TIMEOUT_MS = 5_000
_RETRY_MS = 50


class ImagePuller:
    """`deserted` is told, as long as that lasts, that nobody listens where the controller should be."""

    def __init__(
        self, node: Node, arrived: Callable[[ClusterImage], None], deserted: Callable[[], None]
    ) -> None:
        self._node = node
        self._arrived = arrived
        self._deserted = deserted
        self._image: ClusterImage | None = None  # as it was pulled last; what is installed may still be empty
        self._controller_id = -1
        self._peer: Peer | None = None
        self._turn = 0  # what belongs to an earlier one is over

    def follow(self, controller_id: int) -> None:
        if controller_id == self._controller_id and self._peer is not None:
            return
        self.stop()
        self._controller_id = controller_id
        self._find()

    def stop(self) -> None:
        self._turn += 1
        if self._peer is not None:
            self._peer.close()
            self._peer = None
        self._controller_id = -1

    def _find(self) -> None:
        """Where the controller is: its registration says so, also to a broker that has no image yet."""
        turn, controller_id = self._turn, self._controller_id

        def read(completed: Completed) -> None:
            if turn != self._turn:
                return
            value = completed.answers[0] if completed.error is None else None
            if isinstance(value, Value) and self._is_told(controller_id, value):
                self._peer = self._node.peers.open(controller_id)
                self._ask()
            else:
                self._node.timers.at(self._node.now_ms + _RETRY_MS, lambda: self._find_again(turn))

        self._node.store.submit([Get(tree.broker_path(controller_id))], read)

    def _find_again(self, turn: int) -> None:
        if turn == self._turn:
            self._find()

    def _is_told(self, controller_id: int, value: Value) -> bool:
        try:
            broker = decode_broker(value.path, value.data, value.stat.czxid)
        except MalformedNodeError as problem:
            log.error("%s", problem)
            return False
        listener = self._node.settings.inter_broker_listener
        if broker.endpoint(listener) is None:
            log.error(
                "The controller, broker %d, has no listener %s: inter.broker.listener.name must name "
                "one that every broker has",
                controller_id,
                listener,
            )
            return False
        self._node.peers.tell(broker)
        return True

    # --- asking --------------------------------------------------------------------------------------------

    def _ask(self) -> None:
        node, turn, known = self._node, self._turn, self._known()
        own = known.brokers.get(node.broker_id)
        request = PullImageRequest(
            node.broker_id, -1 if own is None else own.epoch, known.controller_epoch, known.version, _WAIT_MS
        )

        def answered(answer: Message) -> None:
            assert isinstance(answer, PullImageResponse)
            if turn == self._turn:
                node.controller_link.is_silent = False
                self._take(answer)

        def failed() -> None:
            if turn == self._turn:
                node.controller_link.is_silent = True
                if self._peer is not None and self._peer.refusals >= REFUSALS_ENOUGH:
                    self._deserted()
                node.timers.at(node.now_ms + _RETRY_MS, lambda: self._ask_again(turn))

        assert self._peer is not None
        self._peer.ask(request, VERSION, answered, failed, _ANSWER_TIMEOUT_MS)

    def _ask_again(self, turn: int) -> None:
        if turn == self._turn:
            self._ask()

    def _known(self) -> ClusterImage:
        """The newer of what was pulled and what is installed: this broker may have been the controller."""
        image = self._node.image
        pulled = self._image
        if pulled is None or (image.controller_epoch, image.version) > (
            pulled.controller_epoch,
            pulled.version,
        ):
            return image
        return pulled

    def _take(self, answer: PullImageResponse) -> None:
        known = self._known()
        if answer.error_code or answer.controller_epoch < known.controller_epoch:
            turn = self._turn
            self._node.timers.at(self._node.now_ms + _RETRY_MS, lambda: self._ask_again(turn))
            return
        turn = self._turn
        image = known
        if answer.from_nothing:
            (step,) = answer.steps
            image = steps.image_of(step, answer.cluster_id).sharing(known)
        else:
            for step in answer.steps:
                image = image.apply(steps.deltas(image, step))
        if image is not known:
            self._image = image
            self._arrived(image)
        if turn == self._turn:
            self._ask()
