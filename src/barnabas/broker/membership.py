"""How a running broker stays in a tree that it shares: it registers again when its session has ended, and
looks at the tree again after a write whose fate it does not know. Until then no decision is made.

Several brokers in one tree are not served yet: whoever finds another there stops with a sentence.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from barnabas.broker.tree_watch import TreeWatch
from barnabas.controller import elections, tree
from barnabas.controller.rebuild import READS, image_from, values_of
from barnabas.controller.registration import start_alone
from barnabas.model.image import BrokerImage, ClusterImage
from barnabas.ports import Completed, SessionBegan, SessionEnded, Value, Write

if TYPE_CHECKING:
    from barnabas.broker.node import Node

log = logging.getLogger("kafka.server.BrokerServer")

RETRY_MS = 1_000


class Membership:
    def __init__(self, node: Node, broker: BrokerImage) -> None:
        self._node = node
        self._broker = broker
        self._session_id = 0
        self._attempt = 0  # what belongs to an earlier one is over
        self._tree = TreeWatch(node, self._look_again)
        node.store.on_session = self._session
        node.controller.on_lost = self._look_again
        self._tree.arm()

    def _session(self, event: SessionBegan | SessionEnded) -> None:
        match event:
            case SessionEnded():
                log.warning("The session with ZooKeeper has ended; this broker registers again")
                self._node.controller.pause()
                self._attempt += 1
            case SessionBegan(session_id):
                self._session_id = session_id
                self._look_again()

    def _look_again(self) -> None:
        self._node.controller.pause()
        self._attempt += 1
        self._submit_reads(self._register)

    def _submit_reads(self, then: Callable[[list[Value]], None]) -> None:
        attempt = self._attempt

        def read(completed: Completed) -> None:
            if attempt != self._attempt:
                return
            if completed.error is None:
                then(values_of(completed))
            else:
                self._later()

        self._node.store.submit(READS, read)

    def _register(self, values: list[Value]) -> None:
        """What is there from the session that ended goes without us: wait until it has."""
        stranger = others(values, self._broker.id)
        if stranger:
            log.critical("%s", stranger)
            self._node.stop(1)
            return
        held = {value.path: value.stat.ephemeral_owner for value in claims(values, self._broker.id)}
        if any(owner != self._session_id for owner in held.values()) and self._session_id:
            self._later()
        elif len(held) == len(_claimed(self._broker.id)):
            self._settle(image_from(values, self._node.image.version + 1).image)
        else:
            self._write([self._registration(values)], lambda: self._submit_reads(self._register))

    def _registration(self, values: list[Value]) -> tuple[Write, ...]:
        node = self._node
        return start_alone(
            values, self._broker, cluster_id=node.image.cluster_id, features={}, now_ms=node.wall_ms
        )

    def _settle(self, image: ClusterImage) -> None:
        whole = elections.complete(image, self._node.random)

        def done() -> None:
            self._node.install(image.apply(whole.deltas))
            self._tree.arm()
            self._node.controller.resume()

        self._write(whole.multis(), done)

    def _write(self, parts: list[tuple[Write, ...]], then: Callable[[], None]) -> None:
        if not parts:
            then()
            return
        attempt = self._attempt

        def written(completed: Completed) -> None:
            if attempt != self._attempt:
                return
            if completed.error is None:
                self._write(parts[1:], then)
            else:
                log.warning("Could not register again (%s); trying once more", completed.error)
                self._later()

        self._node.store.submit(parts[0], written)

    def _later(self) -> None:
        attempt = self._attempt

        def again() -> None:
            if attempt == self._attempt:
                self._look_again()

        self._node.timers.at(self._node.now_ms + RETRY_MS, again)


def _claimed(broker_id: int) -> tuple[str, str]:
    return tree.broker_path(broker_id), tree.CONTROLLER


def claims(values: list[Value], broker_id: int) -> list[Value]:
    """What a lone broker must hold itself, as far as somebody holds it."""
    return [value for value in values if value.path in _claimed(broker_id)]


def others(values: list[Value], broker_id: int) -> str | None:
    """A sentence, if other brokers are registered in this tree."""
    own = tree.broker_path(broker_id)
    prefix = f"{tree.BROKER_IDS}/"
    found = [value.path.removeprefix(prefix) for value in values if value.path.startswith(prefix)]
    strangers = sorted(set(found) - {own.removeprefix(prefix)})
    if not strangers:
        return None
    return (
        f"Broker {', '.join(strangers)} is registered in ZooKeeper beside broker {broker_id}, and this "
        "version runs one broker per cluster: stop the other, or give this one a chroot of its own "
        "(zookeeper.connect=host:2181/name)."
    )
