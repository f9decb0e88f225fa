"""What the cluster looks like: one immutable image, and the deltas that lead from one to the next.

Brokers answer every question about topics, leaders and settings from their image. The controller numbers its
deltas; `ClusterImage.apply` turns version n into n + 1 and shares with the old image all that did not change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from barnabas.model.endpoint import Endpoint
from barnabas.model.ids import INTERNAL_TOPICS

NO_LEADER = -1
# Of a partition that a tool wrote into the store: the controller has not chosen its leader yet.
UNINITIALISED_EPOCH = -1

_EMPTY: Mapping[Any, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class BrokerImage:
    id: int
    epoch: int
    endpoints: Mapping[str, Endpoint]  # by listener name
    rack: str | None = None
    fenced: bool = False  # registered, but not to be led by or counted on until the controller has seen to it
    leaving: bool = False  # it stops in good order: it leads nothing any more, and joins no in-sync set

    def endpoint(self, listener: str) -> Endpoint | None:
        return self.endpoints.get(listener)


@dataclass(frozen=True, slots=True)
class PartitionImage:
    index: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int = 0
    partition_epoch: int = (
        0  # the version of the partition's state node: what an ISR change compares and sets
    )
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    elr: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()

    @property
    def has_leader(self) -> bool:
        return self.leader != NO_LEADER

    @property
    def is_initialised(self) -> bool:
        return self.leader_epoch != UNINITIALISED_EPOCH


@dataclass(frozen=True, slots=True)
class TopicImage:
    name: str
    id: bytes
    partitions: tuple[PartitionImage, ...]  # the index of a partition is its position

    @property
    def is_internal(self) -> bool:
        return self.name in INTERNAL_TOPICS

    @property
    def replication_factor(self) -> int:
        """Of a partition on the move, the one it will have."""
        return len(self.partitions[0].replicas) - len(self.partitions[0].removing) if self.partitions else 0

    def partition(self, index: int) -> PartitionImage | None:
        return self.partitions[index] if 0 <= index < len(self.partitions) else None


class ConfigKind(StrEnum):
    """The folders of /config. The value is the folder's name."""

    TOPIC = "topics"
    BROKER = "brokers"
    CLIENT = "clients"
    USER = "users"
    IP = "ips"
    GROUP = "groups"
    CLIENT_METRICS = "client-metrics"


class ConfigResource(NamedTuple):
    """`name` is '' for the cluster-wide default of brokers. A user's client is 'user/clients/client'."""

    kind: ConfigKind
    name: str


@dataclass(frozen=True, slots=True)
class ProducerIdBlock:
    broker: int
    first: int
    last: int


# --- deltas ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TopicCreated:
    topic: TopicImage


@dataclass(frozen=True, slots=True)
class TopicDeleted:
    """Its settings go with it."""

    name: str
    id: bytes


@dataclass(frozen=True, slots=True)
class PartitionsAdded:
    topic: str
    partitions: tuple[PartitionImage, ...]


@dataclass(frozen=True, slots=True)
class PartitionChanged:
    topic: str
    partition: PartitionImage


@dataclass(frozen=True, slots=True)
class ConfigChanged:
    """`values` is all that is set from now on; empty when nothing is left."""

    resource: ConfigResource
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class BrokerChanged:
    """A broker came, or came back with another epoch, or was fenced or unfenced."""

    broker: BrokerImage


@dataclass(frozen=True, slots=True)
class BrokerGone:
    id: int


@dataclass(frozen=True, slots=True)
class ControllerChanged:
    id: int
    epoch: int
    epoch_version: int


@dataclass(frozen=True, slots=True)
class FeaturesChanged:
    features: Mapping[str, int]
    epoch: int


@dataclass(frozen=True, slots=True)
class ProducerIdsAllocated:
    block: ProducerIdBlock


Delta: TypeAlias = (
    TopicCreated
    | TopicDeleted
    | PartitionsAdded
    | PartitionChanged
    | ConfigChanged
    | BrokerChanged
    | BrokerGone
    | ControllerChanged
    | FeaturesChanged
    | ProducerIdsAllocated
)


# --- the image -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ClusterImage:
    version: int = 0
    cluster_id: str = ""
    controller_id: int = -1
    controller_epoch: int = 0
    controller_epoch_version: int = -1  # of the node that fences a deposed controller's writes
    brokers: Mapping[int, BrokerImage] = field(default_factory=lambda: _EMPTY)
    topics: Mapping[str, TopicImage] = field(default_factory=lambda: _EMPTY)
    topic_names: Mapping[bytes, str] = field(default_factory=lambda: _EMPTY)  # by topic id
    configs: Mapping[ConfigResource, Mapping[str, str]] = field(default_factory=lambda: _EMPTY)
    features: Mapping[str, int] = field(default_factory=lambda: _EMPTY)
    features_epoch: int = -1
    producer_ids: ProducerIdBlock | None = None  # the latest block that was given out
    # Topics of which the store holds something that nobody can read: they are not gone, so their logs stay.
    unreadable: frozenset[str] = frozenset()

    def topic_by_id(self, topic_id: bytes) -> TopicImage | None:
        name = self.topic_names.get(topic_id)
        return None if name is None else self.topics[name]

    def partition(self, topic: str, index: int) -> PartitionImage | None:
        found = self.topics.get(topic)
        return None if found is None else found.partition(index)

    def config(self, kind: ConfigKind, name: str) -> Mapping[str, str]:
        return self.configs.get(ConfigResource(kind, name), _EMPTY)

    def is_active(self, broker_id: int) -> bool:
        broker = self.brokers.get(broker_id)
        return broker is not None and not broker.fenced

    def may_lead(self, broker_id: int) -> bool:
        """Whether the broker may be elected, or join a set of in-sync replicas."""
        broker = self.brokers.get(broker_id)
        return broker is not None and not broker.fenced and not broker.leaving

    @cached_property
    def sorted_topic_names(self) -> tuple[str, ...]:
        return tuple(sorted(self.topics))

    @cached_property
    def active_brokers(self) -> tuple[BrokerImage, ...]:
        return tuple(broker for _, broker in sorted(self.brokers.items()) if not broker.fenced)

    @cached_property
    def partition_count(self) -> int:
        return sum(len(topic.partitions) for topic in self.topics.values())

    @cached_property
    def names_folded(self) -> Mapping[str, str]:
        """Metric names fold '.' and '_': from the folded name to a topic that has such a character."""
        folded: dict[str, str] = {}
        for name in self.topics:
            if "." in name or "_" in name:
                folded.setdefault(name.replace(".", "_"), name)
        return folded

    def sharing(self, old: ClusterImage) -> ClusterImage:
        """The same image, with the old one's objects for what is equal: what did not change is then seen not
        to have changed."""
        topics = {
            name: known if (known := old.topics.get(name)) == topic else topic
            for name, topic in self.topics.items()
        }
        if len(topics) == len(old.topics) and all(topics[name] is old.topics.get(name) for name in topics):
            return replace(self, topics=old.topics, topic_names=old.topic_names, configs=self._configs(old))
        return replace(self, topics=topics, configs=self._configs(old))

    def _configs(self, old: ClusterImage) -> Mapping[ConfigResource, Mapping[str, str]]:
        return old.configs if self.configs == old.configs else self.configs

    def apply(self, deltas: Iterable[Delta]) -> ClusterImage:
        """The next version. Only the mappings that a delta touches are copied, each at most once."""
        builder = _Builder(self)
        for delta in deltas:
            builder.apply(delta)
        return builder.build()


# What stays true while no topic comes or goes: computed once, handed from image to image.
_CACHED_PER_TOPIC_NAMES = {"sorted_topic_names", "names_folded"}


class _Builder:
    """Collects changes over a base image. A partition's tuple is rebuilt once per apply, however many of its
    partitions change: an election may touch thousands of partitions of one topic."""

    def __init__(self, base: ClusterImage) -> None:
        self._base = base
        self._changed: dict[str, Any] = {}
        self._partitions: dict[str, list[PartitionImage]] = {}

    def _own(self, name: str) -> dict[Any, Any]:
        if name not in self._changed:
            self._changed[name] = dict(getattr(self._base, name))
        mapping: dict[Any, Any] = self._changed[name]
        return mapping

    def _own_partitions(self, topic: str) -> list[PartitionImage]:
        if topic not in self._partitions:
            self._partitions[topic] = list(self._own("topics")[topic].partitions)
        return self._partitions[topic]

    def apply(self, delta: Delta) -> None:
        match delta:
            case TopicCreated(topic):
                self._own("topics")[topic.name] = topic
                self._own("topic_names")[topic.id] = topic.name
            case TopicDeleted(name, topic_id):
                self._partitions.pop(name, None)
                del self._own("topics")[name]
                del self._own("topic_names")[topic_id]
                self._set_config(ConfigResource(ConfigKind.TOPIC, name), _EMPTY)
            case PartitionsAdded(name, partitions):
                self._own_partitions(name).extend(partitions)
            case PartitionChanged(name, partition):
                self._own_partitions(name)[partition.index] = partition
            case ConfigChanged(resource, values):
                self._set_config(resource, values)
            case BrokerChanged(broker):
                self._own("brokers")[broker.id] = broker
            case BrokerGone(broker_id):
                self._own("brokers").pop(broker_id, None)
            case ControllerChanged(controller_id, epoch, epoch_version):
                self._changed["controller_id"] = controller_id
                self._changed["controller_epoch"] = epoch
                self._changed["controller_epoch_version"] = epoch_version
            case FeaturesChanged(features, epoch):
                self._changed["features"] = features
                self._changed["features_epoch"] = epoch
            case ProducerIdsAllocated(block):
                self._changed["producer_ids"] = block

    def _set_config(self, resource: ConfigResource, values: Mapping[str, str]) -> None:
        if values:
            self._own("configs")[resource] = values
        elif resource in self._changed.get("configs", self._base.configs):
            del self._own("configs")[resource]

    def build(self) -> ClusterImage:
        for name, partitions in self._partitions.items():
            topics = self._own("topics")
            topics[name] = replace(topics[name], partitions=tuple(partitions))
        image = replace(self._base, version=self._base.version + 1, **self._changed)
        if "topic_names" not in self._changed:
            for name in _CACHED_PER_TOPIC_NAMES & self._base.__dict__.keys():
                image.__dict__[name] = self._base.__dict__[name]
        return image
