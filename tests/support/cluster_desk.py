"""Several simulated brokers in one world, and a connection to each: ask one, let time pass, look inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from barnabas.broker.node import Node
from barnabas.broker.session import Part, Session
from barnabas.model.image import PartitionImage
from barnabas.ports import FileSlice
from barnabas.protocol import codec
from barnabas.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from barnabas.protocol.schema import Message
from barnabas.sim.cluster.cluster import Cluster
from barnabas.sim.world import World

R = TypeVar("R", bound=Message)

PATIENCE_MS = 60_000


class ClusterDesk:
    """Brokers 1, 2, 3, … that all know each other when this returns."""

    def __init__(self, brokers: int = 3, seed: int = 23, **settings: str) -> None:
        properties = {"log.dirs": "/d"} | {key.replace("_", "."): value for key, value in settings.items()}
        self.world = World(seed)
        self.cluster = Cluster(self.world, seed, brokers, properties)
        self.cluster.start()
        self.until(lambda: all(self.knows_all(broker_id) for broker_id in self.cluster.machines))

    def knows_all(self, broker_id: int) -> bool:
        machine = self.cluster.machines[broker_id]
        running = {each.broker_id for each in self.cluster.serving}
        return machine.serving and self.node(broker_id).image.brokers.keys() >= running > set()

    def until(self, condition: Callable[[], bool]) -> None:
        self.world.run_until(condition, self.world.now_ms + PATIENCE_MS)
        assert condition(), "it never came true"

    def settle(self, duration_ms: int) -> None:
        self.world.run_until(lambda: False, self.world.now_ms + duration_ms)

    # --- looking inside ------------------------------------------------------------------------------------

    def node(self, broker_id: int) -> Node:
        life = self.cluster.machines[broker_id].life
        assert life is not None, f"broker {broker_id} is dead"
        return life.node

    @property
    def controller_id(self) -> int:
        (active,) = [
            machine.broker_id
            for machine in self.cluster.serving
            if self.node(machine.broker_id).controller.is_active
        ]
        return active

    def partition(self, topic: str, index: int, seen_by: int = 1) -> PartitionImage:
        found = self.node(seen_by).image.partition(topic, index)
        assert found is not None
        return found

    # --- asking --------------------------------------------------------------------------------------------

    def begin(self, broker_id: int, request: Message, version: int) -> list[Message]:
        """Where the answer will be found."""
        life = self.cluster.machines[broker_id].life
        assert life is not None, f"broker {broker_id} is dead"
        header = codec.RequestHeader(request.API_KEY, version, 1, "desk")
        frame = memoryview(bytearray(codec.write_request(header, request)))
        answers: list[Message] = []

        def replied(parts: list[Part]) -> None:
            whole = b"".join(map(_bytes, parts))
            answers.append(codec.read_response(request.API_KEY, version, whole[4:])[1])

        def turn() -> None:
            parts = life.node.handle(Session("PLAINTEXT", "127.0.0.1", replied), frame)
            if parts is not None:
                replied(parts)

        life.enter(turn)
        frame[:] = bytes(len(frame))  # as the reactor uses its buffer again
        return answers

    def ask(self, broker_id: int, request: Message, version: int, answer: type[R]) -> R:
        answers = self.begin(broker_id, request, version)
        self.until(lambda: bool(answers))
        (read,) = answers
        assert isinstance(read, answer)
        return read

    def create_topic(self, name: str, replicas: list[list[int]]) -> None:
        """One row of brokers for each partition; done when every broker knows of it."""
        rows = [CreatableReplicaAssignment(index, brokers) for index, brokers in enumerate(replicas)]
        request = CreateTopicsRequest([CreatableTopic(name, -1, -1, rows)], timeout_ms=10_000)
        (result,) = self.ask(self.controller_id, request, 7, CreateTopicsResponse).topics
        assert result.error_code == 0, result.error_message
        self.until(
            lambda: all(name in self.node(machine.broker_id).image.topics for machine in self.cluster.serving)
        )


def _bytes(part: Part) -> bytes:
    return part.file.read(part.position, part.size) if isinstance(part, FileSlice) else part
