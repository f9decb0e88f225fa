"""From the tree to the image: what a new controller does first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from barnabas.controller import tree
from barnabas.controller.configs import SCOPES
from barnabas.controller.znodes import administration, cluster, topics
from barnabas.controller.znodes.fields import MalformedNodeError
from barnabas.model.ids import ZERO_UUID, topic_name_problem
from barnabas.model.image import (
    NO_LEADER,
    UNINITIALISED_EPOCH,
    BrokerImage,
    ClusterImage,
    ConfigKind,
    ConfigResource,
    PartitionImage,
    TopicImage,
)
from barnabas.model.settings.stored import readable
from barnabas.ports import Completed, Get, Read, Subtree, Value, Values

Decoded = TypeVar("Decoded")


# The parts of the tree that are Kafka's: there may be others beside them, not for us to read. Below
# /consumers is what old consumers keep.
READS: tuple[Read, ...] = (
    *(Subtree(path) for path in ("/admin", "/brokers", "/cluster", tree.CONFIG)),
    *(
        Get(path)
        for path in (
            tree.CONTROLLER,
            tree.CONTROLLER_EPOCH,
            tree.FEATURE,
            tree.PRODUCER_ID_BLOCK,
            tree.CONSUMERS,
            tree.ISR_CHANGE_NOTIFICATION,
            tree.LOG_DIR_EVENT_NOTIFICATION,
        )
    ),
)


def values_of(completed: Completed) -> list[Value]:
    """What READS were answered with."""
    values: list[Value] = []
    for answer in completed.answers:
        if isinstance(answer, Values):
            values += answer.values
        elif isinstance(answer, Value):
            values.append(answer)
    return values


@dataclass(frozen=True, slots=True)
class Rebuilt:
    image: ClusterImage
    unreadable: tuple[str, ...]  # one sentence per node that was left out: for the log


def image_from(values: Iterable[Value], version: int = 0) -> Rebuilt:
    """`values` is what READS answer.

    A topic or partition without id or state (a tool wrote it) comes out with ZERO_UUID or
    UNINITIALISED_EPOCH: `elections.complete` says what to write then.
    """
    return _Rebuilding({value.path: value for value in values}).run(version)


class _Rebuilding:
    def __init__(self, values: dict[str, Value]) -> None:
        self._values = values
        self._unreadable: list[str] = []
        self._damaged: set[str] = set()  # names of topics

    def run(self, version: int) -> Rebuilt:
        epoch = self._values.get(tree.CONTROLLER_EPOCH)
        feature = self._values.get(tree.FEATURE)
        named = self._topics()
        image = ClusterImage(
            version=version,
            cluster_id=self._read(tree.CLUSTER_ID, cluster.decode_cluster_id, ""),
            controller_id=self._read(tree.CONTROLLER, cluster.decode_controller, -1),
            controller_epoch=self._read(tree.CONTROLLER_EPOCH, cluster.decode_controller_epoch, 0),
            controller_epoch_version=-1 if epoch is None else epoch.stat.version,
            brokers=self._brokers(),
            topics=named,
            topic_names={topic.id: topic.name for topic in named.values() if topic.id != ZERO_UUID},
            configs=self._configs(),
            features=self._read(tree.FEATURE, cluster.decode_features, {}),
            features_epoch=-1 if feature is None else feature.stat.version,
            producer_ids=self._read(tree.PRODUCER_ID_BLOCK, cluster.decode_producer_ids, None),
            unreadable=frozenset(self._damaged),
        )
        return Rebuilt(image, tuple(self._unreadable))

    def _read(self, path: str, decode: Callable[[str, bytes], Decoded], missing: Decoded) -> Decoded:
        value = self._values.get(path)
        if value is None:
            return missing
        try:
            return decode(path, value.data)
        except MalformedNodeError as problem:
            self._unreadable.append(str(problem))
            return missing

    def _below(self, path: str) -> list[str]:
        """Paths of the children of `path`."""
        prefix = f"{path}/"
        return [p for p in self._values if p.startswith(prefix) and "/" not in p[len(prefix) :]]

    def _brokers(self) -> dict[int, BrokerImage]:
        found = {}
        for path in self._below(tree.BROKER_IDS):
            decode = partial(cluster.decode_broker, epoch=self._values[path].stat.czxid)
            broker = self._read(path, decode, None)
            if broker is not None:
                found[broker.id] = broker
        return found

    def _topics(self) -> dict[str, TopicImage]:
        found = {}
        for path in self._below(tree.TOPICS):
            name = path.rpartition("/")[2]
            node = self._read(path, topics.decode_topic, None)
            problem = topic_name_problem(name) or (None if node is None else _gap(node))
            if problem is not None:
                self._unreadable.append(f"{path}: {problem}")
            partitions = None if node is None or problem else self._partitions(name, node)
            if node is None or partitions is None:
                self._damaged.add(name)
            else:
                found[name] = TopicImage(name, node.topic_id or ZERO_UUID, partitions)
        return found

    def _partitions(self, topic: str, node: topics.TopicNode) -> tuple[PartitionImage, ...] | None:
        """None where a state is there and cannot be read: to begin anew would forget who was in sync."""
        partitions = tuple(self._partition(topic, node, index) for index in range(len(node.replicas)))
        states = (self._values.get(tree.state_path(topic, one.index)) for one in partitions)
        whole = all(
            one.is_initialised or not (state and state.data)
            for one, state in zip(partitions, states, strict=True)
        )
        return partitions if whole else None

    def _partition(self, topic: str, node: topics.TopicNode, index: int) -> PartitionImage:
        path = tree.state_path(topic, index)
        state = self._read(path, topics.decode_state, None)
        replicas = node.replicas[index]
        adding, removing = node.adding.get(index, ()), node.removing.get(index, ())
        if state is None:
            return PartitionImage(index, replicas, (), NO_LEADER, UNINITIALISED_EPOCH, -1, adding, removing)
        return PartitionImage(
            index,
            replicas,
            state.isr,
            state.leader,
            state.leader_epoch,
            self._values[path].stat.version,
            adding,
            removing,
            state.elr,
            state.last_known_elr,
        )

    def _configs(self) -> dict[ConfigResource, dict[str, str]]:
        found = {}
        for path in self._values:
            resource = tree.config_resource(path) if path.startswith(f"{tree.CONFIG}/") else None
            if resource is None:
                continue
            values = self._obeyable(path, resource.kind, self._read(path, administration.decode_config, {}))
            if values:
                found[resource] = values
        return found

    def _obeyable(self, path: str, kind: ConfigKind, values: dict[str, str]) -> dict[str, str]:
        """One bad value that somebody wrote must not stop every broker that reads it."""
        if kind not in SCOPES:
            return values
        kept, problems = readable(SCOPES[kind], values)
        self._unreadable += [f"{path}: {problem}" for problem in problems]
        return kept


def _gap(node: topics.TopicNode) -> str | None:
    if set(node.replicas) == set(range(len(node.replicas))) and all(node.replicas.values()):
        return None
    return "partitions should be a consecutive 0-based integer sequence, each with replicas"
