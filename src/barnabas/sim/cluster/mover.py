"""An administrator who moves replicas about, changes his mind, and takes moves back."""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from barnabas.protocol.schema import Message
from barnabas.sim.clients import Client
from barnabas.sim.network import Door
from barnabas.sim.world import World

_VERSION = 1
_MOVES = (3, 8)
_PAUSE_MS = (20, 700)


class Mover(Client):
    """What he is answered does not matter to him: refused moves are for others to judge, and one whose answer
    was lost may be under way or not."""

    def __init__(
        self, world: World, host: Door, places: Sequence[TopicPartition], brokers: Sequence[int]
    ) -> None:
        super().__init__(world, host, "mover")
        self._places = places
        self._brokers = brokers
        self._left = 0

    def begin(self) -> None:
        self._left = self.world.random.between(*_MOVES)
        super().begin()

    def connected(self) -> None:
        self.world.after(self.world.random.between(*_PAUSE_MS), self._move)

    def _move(self) -> None:
        if self._left == 0:
            self.finish()
        elif self.is_connected and not self.in_flight and not self.finished:
            self._left -= 1
            place = self.world.random.pick(self._places)
            row = ReassignablePartition(place.partition, self._target())
            request = AlterPartitionReassignmentsRequest(topics=[ReassignableTopic(place.topic, [row])])
            self.ask(request, _VERSION, self._answered)

    def _answered(self, _answer: Message) -> None:
        self.connected()

    def _target(self) -> list[int] | None:
        """Three replicas, now and then two, so that there are always enough; or back to where it was."""
        random = self.world.random
        if random.chance(0.25):
            return None
        rest = list(self._brokers)
        count = 2 if random.chance(0.2) else 3
        return [rest.pop(random.below(len(rest))) for _ in range(min(count, len(self._brokers)))]
