"""What tools of Kafka 2.x order of the controller by leaving a node under /admin.

`/admin/reassign_partitions` holds partitions and where they are to go. Each is taken out when it has arrived,
or cannot go there; with the last one the node goes, and by that the tool knows. A new controller finds what
is left, and goes on with it. `/admin/preferred_replica_election` holds partitions that are to go back to
their preferred leaders, and goes when that was tried.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from barnabas.broker.timers import Timer
from barnabas.broker.topic_config import election_rules
from barnabas.controller import tree
from barnabas.controller.decision import fence
from barnabas.controller.leadership import ElectionResult, ElectionType, elect_leaders
from barnabas.controller.reassignment import Move, MoveResult, alter_reassignments, is_moving
from barnabas.controller.znodes.administration import (
    decode_partitions,
    decode_reassignment,
    encode_reassignment,
)
from barnabas.controller.znodes.fields import MalformedNodeError
from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.ports import Completed, Delete, Set, StoreError, Value

if TYPE_CHECKING:
    from barnabas.broker.node import Node

log = logging.getLogger("kafka.controller.KafkaController")

Targets = Mapping[TopicPartition, tuple[int, ...]]

PATHS = (tree.REASSIGN_PARTITIONS, tree.PREFERRED_REPLICA_ELECTION)
LOOK_MS = 200  # how often moves are looked at that a tool waits for


class TreeOrders:
    """Of the controller. `handle` gets what is at one of PATHS, each time it is read anew."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._version = -1  # of the znode, as it was read last
        self._targets: Targets = {}  # what of it is not done
        self._timer: Timer | None = None

    def handle(self, value: Value) -> None:
        if value.path == tree.REASSIGN_PARTITIONS:
            self._reassign(value)
        else:
            self._elect(value)

    def forget(self) -> None:
        """The tree is read from the beginning."""
        self._targets = {}

    # --- elections -----------------------------------------------------------------------------------------

    def _elect(self, value: Value) -> None:
        def tried(results: tuple[ElectionResult, ...], error: StoreError | None) -> None:
            if error is None:
                for result in results:
                    if result.error not in {ErrorCode.NONE, ErrorCode.ELECTION_NOT_NEEDED}:
                        log.warning("%s keeps its leader: %s", result.partition, result.message)
                self._submit(Delete(value.path, value.stat.version))

        try:
            wanted = decode_partitions(value.path, value.data)
        except MalformedNodeError as problem:
            log.error("Removing an election that cannot be read: %s", problem)
            tried((), None)
            return
        log.info("Preferred leaders, as %s says: %s", value.path, ", ".join(map(str, wanted)))
        self._node.controller.decide(
            lambda image: elect_leaders(
                image, ElectionType.PREFERRED, wanted, election_rules(self._node.settings, image)
            ),
            tried,
        )

    # --- moves ---------------------------------------------------------------------------------------------

    def _reassign(self, value: Value) -> None:
        self._version = value.stat.version
        try:
            targets = decode_reassignment(value.path, value.data)
        except MalformedNodeError as problem:
            log.error("Removing a reassignment that cannot be read: %s", problem)
            self._write({})
            return
        if targets and targets == self._targets:
            return  # our own words
        log.info("Partitions to be moved, as %s says: %s", value.path, ", ".join(map(str, targets)))
        moves = [Move(*partition, replicas) for partition, replicas in targets.items()]

        def begun(results: tuple[MoveResult, ...], error: StoreError | None) -> None:
            if error is None:
                self._begun(targets, results)

        self._node.controller.decide(
            lambda image: alter_reassignments(image, moves, election_rules(self._node.settings, image)), begun
        )

    def _begun(self, targets: Targets, results: tuple[MoveResult, ...]) -> None:
        self._targets = dict(targets)
        for result in results:
            if result.error:
                why = result.message or result.error.sentence
                log.warning("Cannot move %s-%d: %s", result.topic, result.partition, why)
        self._look()

    def _look(self) -> None:
        """What is not moving any more has arrived, or was refused or taken back: nothing is left to do."""
        if self._timer is not None:
            self._node.timers.cancel(self._timer)
            self._timer = None
        if not self._node.controller.is_active:
            return
        left = {place: ids for place, ids in self._targets.items() if self._moves(place)}
        if left != self._targets or not left:
            self._targets = left
            self._write(left)
        if left:
            self._timer = self._node.timers.at(self._node.now_ms + LOOK_MS, self._look)

    def _moves(self, place: TopicPartition) -> bool:
        partition = self._node.image.partition(*place)
        return partition is not None and is_moving(partition)

    def _write(self, left: Targets) -> None:
        """Over what was read and nothing newer: a tool may have added to it, and is heard then. A write that
        fails for that is tried again when the node is read: what it holds is not what is left."""
        path = tree.REASSIGN_PARTITIONS
        self._submit(
            Set(path, encode_reassignment(left), self._version) if left else Delete(path, self._version)
        )

    def _submit(self, write: Set | Delete) -> None:
        def written(completed: Completed) -> None:
            if completed.error is not None:
                log.info("What was done of %s was not written: %s", write.path, completed.error)

        self._node.store.submit([fence(self._node.image), write], written)
