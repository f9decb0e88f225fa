"""The office of controller: taken with the tree as it is, left without a word.

Whoever holds it rebuilds the image from the store, settles what happened while nobody looked, and from then
on decides. It alone watches the tree: brokers that come and go, and what tools of Kafka 2.x write there.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from barnabas.broker.cluster.tree_watch import TreeWatch
from barnabas.broker.topic_config import election_rules
from barnabas.controller import elections, tree
from barnabas.controller.decision import Decision
from barnabas.controller.liveness import admit, settle
from barnabas.controller.reassignment import completions
from barnabas.controller.rebuild import READS, image_from, values_of
from barnabas.controller.roll_call import arrivals, departures
from barnabas.model.image import BrokerImage, ClusterImage
from barnabas.ports import Children, Completed, Read, Subtree, Write

if TYPE_CHECKING:
    from barnabas.broker.node import Node

log = logging.getLogger("kafka.controller.KafkaController")

_RETRY_MS = 200
_BROKERS: tuple[Read, ...] = (Children(tree.BROKER_IDS, watch=True), Subtree(tree.BROKER_IDS))


class Office:
    """`arrived` gets the image that a term begins with; `look` asks once more who holds the office."""

    def __init__(self, node: Node, arrived: Callable[[ClusterImage], None], look: Callable[[], None]) -> None:
        self._node = node
        self._arrived = arrived
        self._look = look
        self._term = 0  # what belongs to an earlier one is over
        self._taken = False
        self._tree = TreeWatch(node, self.look_again)

    # --- taking and leaving --------------------------------------------------------------------------------

    def take(self) -> None:
        """The claim was written, and is ours."""
        if not self._taken:
            self._taken = True
            log.info("Broker %d takes the office of controller", self._node.broker_id)
            self.look_again()

    def leave(self) -> None:
        if self._taken:
            log.info("This broker is not the controller any more")
        self._taken = False
        self._term += 1
        self._node.controller.resign()

    def look_again(self) -> None:
        """Read the whole tree; until the image shows it, nobody decides."""
        if not self._taken:
            return
        self._node.controller.pause()
        self._term += 1
        term = self._term

        def read(completed: Completed) -> None:
            if term != self._term:
                return
            if completed.error is not None:
                self._retry()
                return
            rebuilt = image_from(values_of(completed), self._node.image.version + 1)
            for sentence in rebuilt.unreadable:
                log.warning("Left out of the cluster image: %s", sentence)
            if rebuilt.image.controller_id == self._node.broker_id:
                self._settle(rebuilt.image)
            else:
                self._look()

        self._node.store.submit(READS, read)

    def _retry(self) -> None:
        term = self._term

        def again() -> None:
            if term == self._term:
                self.look_again()
                self._look()

        self._node.timers.at(self._node.now_ms + _RETRY_MS, again)

    def _settle(self, image: ClusterImage) -> None:
        """Make whole what was left half done; every partition gets the leader that it should have."""
        node = self._node
        began = not node.controller.has_decided
        whole = elections.complete(image, node.random)
        image = image.apply(whole.deltas)
        parts = whole.multis()
        for broker in [broker for broker in image.brokers.values() if broker.fenced]:
            admitted = admit(image, broker.id, election_rules(node.settings, image), now_ms=node.wall_ms)
            parts += admitted.multis()
            image = image.apply(admitted.deltas)
        # In a life that just began, what an earlier one began is over: even a lone leader leads anew.
        restarted = {node.broker_id} if began else set()
        settled = settle(image, election_rules(node.settings, image), restarted)
        image = image.apply(settled.deltas)
        moved = completions(image, election_rules(node.settings, image))
        self._write([*parts, *settled.multis(), *moved.multis()], image.apply(moved.deltas))

    def _write(self, parts: list[tuple[Write, ...]], image: ClusterImage) -> None:
        if not parts:
            self._begin(image)
            return
        term = self._term

        def written(completed: Completed) -> None:
            if term != self._term:
                return
            if completed.error is None:
                self._write(parts[1:], image)
            else:
                log.warning("The store refused what a new controller settles: %s", completed.error)
                self._retry()

        self._node.store.submit(parts[0], written)

    def _begin(self, image: ClusterImage) -> None:
        node = self._node
        former = node.image
        image = replace(image.sharing(former), version=former.version + 1)
        log.info("Broker %d is the controller, epoch %d", node.broker_id, image.controller_epoch)
        node.controller.is_active = True
        node.controller.has_decided = True
        self._arrived(image)
        node.image_log.begin(former)
        self._watch_brokers()
        self._tree.arm()
        node.controller.resume()
        node.searching.look_for_all()

    # --- the tree ------------------------------------------------------------------------------------------

    def changed(self, path: str) -> None:
        if not self._taken:
            return
        if path == tree.BROKER_IDS:
            self._watch_brokers()
        else:
            self._tree.changed(path)

    def _watch_brokers(self) -> None:
        term = self._term

        def read(completed: Completed) -> None:
            if term == self._term and completed.error is None:
                self._compare(image_from(values_of(completed)).image.brokers)

        self._node.store.submit(_BROKERS, read)

    def _compare(self, registered: Mapping[int, BrokerImage]) -> None:
        """Who went, then who came: one that was away between two looks did both. What waited for the first of
        its replicas gets its leader then."""
        node = self._node

        def gone(image: ClusterImage) -> Decision[int]:
            return departures(image, registered, election_rules(node.settings, image))

        def came(image: ClusterImage) -> Decision[int]:
            return arrivals(image, registered, election_rules(node.settings, image), now_ms=node.wall_ms)

        node.controller.decide(gone, self._told("Brokers that went"))
        node.controller.decide(came, self._told("Brokers that came"))
        node.controller.decide(
            lambda image: elections.complete(image, node.random), self._told("Topics that are led now")
        )

    def _told(self, what: str) -> Callable[..., None]:
        def done(which: tuple[object, ...], error: object) -> None:
            if which and error is None:
                log.info("%s: %s", what, sorted(which, key=str))

        return done
