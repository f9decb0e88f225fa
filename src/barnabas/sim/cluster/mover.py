"""An administrator who moves replicas about, to other brokers and to other disks, changes his mind, and
takes moves back."""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from barnabas.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from barnabas.protocol.schema import Message
from barnabas.sim.clients import Client
from barnabas.sim.network import Door
from barnabas.sim.world import World

DIRECTORIES = ("/data/0", "/data/1")
_VERSION = 1
_TO_A_DISK_VERSION = 2
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
            if self.world.random.chance(0.4):
                self.ask(self._to_a_disk(place), _TO_A_DISK_VERSION, self._answered)
                return
            row = ReassignablePartition(place.partition, self._target())
            request = AlterPartitionReassignmentsRequest(topics=[ReassignableTopic(place.topic, [row])])
            self.ask(request, _VERSION, self._answered)

    def _to_a_disk(self, place: TopicPartition) -> AlterReplicaLogDirsRequest:
        """Of whichever broker gets to hear of it."""
        topics = [AlterReplicaLogDirTopic(place.topic, [place.partition])]
        path = self.world.random.pick(DIRECTORIES)
        return AlterReplicaLogDirsRequest([AlterReplicaLogDir(path, topics)])

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
