"""An administrator who creates the topics, however often it takes, and lists them at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from barnabas.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from barnabas.protocol.messages.metadata import MetadataRequest, MetadataResponse
from barnabas.protocol.schema import Message
from barnabas.sim.clients import Client
from barnabas.sim.cluster_events import Deleted
from barnabas.sim.history import Created, Found
from barnabas.sim.network import Door
from barnabas.sim.world import World

_CREATE_VERSION = 7
_METADATA_VERSION = 12
_DELETE_VERSION = 5
_TIMEOUT_MS = 1500


@dataclass(frozen=True, slots=True)
class Topic:
    name: str
    partitions: int
    configs: Mapping[str, str] = field(default_factory=dict)
    replicas: int = 1


class Creator(Client):
    def __init__(self, world: World, host: Door, topics: list[Topic], then: Callable[[], None]) -> None:
        super().__init__(world, host, "creator")
        self._left = list(topics)
        self._then = then

    def connected(self) -> None:
        self._create()

    def _create(self) -> None:
        if not self._left:
            self.finish()
            self._then()
            return
        topic = self._left[0]
        configs = [CreatableTopicConfig(name, value) for name, value in topic.configs.items()]
        wanted = CreatableTopic(topic.name, topic.partitions, topic.replicas, configs=configs)
        self.ask(CreateTopicsRequest([wanted]), _CREATE_VERSION, self._created)

    def _created(self, answer: Message) -> None:
        assert isinstance(answer, CreateTopicsResponse)
        if answer.topics[0].error_code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
            self.try_again()
            return
        topic = self._left.pop(0)
        self.world.history.add(Created(topic.name, topic.partitions))
        self._create()


class Deleter(Client):
    def __init__(self, world: World, host: Door, topic: str) -> None:
        super().__init__(world, host, "deleter")
        self._topic = topic

    def connected(self) -> None:
        request = DeleteTopicsRequest(topic_names=[self._topic], timeout_ms=_TIMEOUT_MS)
        self.ask(request, _DELETE_VERSION, self._deleted)

    def _deleted(self, answer: Message) -> None:
        assert isinstance(answer, DeleteTopicsResponse)
        code = answer.responses[0].error_code
        if code not in (ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION):
            self.try_again()
            return
        self.world.history.add(Deleted(self._topic))
        self.finish()


class Lister(Client):
    def __init__(self, world: World, host: Door) -> None:
        super().__init__(world, host, "lister")

    def connected(self) -> None:
        self.ask(MetadataRequest(None), _METADATA_VERSION, self._listed)

    def _listed(self, answer: Message) -> None:
        assert isinstance(answer, MetadataResponse)
        found = {topic.name or "": len(topic.partitions) for topic in answer.topics}
        self.world.history.add(Found(found))
        self.finish()
