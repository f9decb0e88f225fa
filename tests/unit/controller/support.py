"""A lone controller on a store in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from tests.support.chance import SeededRandom

from barnabas.controller.decision import Decision
from barnabas.controller.rebuild import image_from
from barnabas.controller.registration import enter, register_broker
from barnabas.controller.topics import NewTopic, TopicDefaults, TopicResult, create_topics
from barnabas.model.endpoint import Endpoint, SecurityProtocol
from barnabas.model.image import BrokerImage, ClusterImage, ConfigResource
from barnabas.model.settings import validation
from barnabas.model.settings.broker import BrokerSettings
from barnabas.ports import Completed, Read, Subtree, Value, Values, Write
from barnabas.store.memory import MemoryHome, MemoryStore
from barnabas.store.zookeeper_nodes import Nodes
from barnabas.store.zookeeper_options import ZookeeperOptions
from barnabas.store.zookeeper_plan import plan

_HEADER_BYTES = 9  # of an operation in a multi
NOW_MS = 1_700_000_000_000
Result = TypeVar("Result")


SETTINGS = BrokerSettings({"node.id": "1"})
ONE_OF_EACH = TopicDefaults(partitions=1, replication_factor=1)


def check_topic_configs(_resource: ConfigResource, values: Mapping[str, str]) -> None:
    validation.check_topic(values, SETTINGS)


def broker(broker_id: int, *, rack: str | None = None, fenced: bool = False, epoch: int = 1) -> BrokerImage:
    endpoint = Endpoint("localhost", 9092 + broker_id, SecurityProtocol.PLAINTEXT)
    return BrokerImage(broker_id, epoch, {"PLAINTEXT": endpoint}, rack, fenced)


def image_of(*brokers: BrokerImage) -> ClusterImage:
    return ClusterImage(
        cluster_id="c",
        controller_id=1,
        controller_epoch=1,
        controller_epoch_version=0,
        brokers={one.id: one for one in brokers},
    )


class Cluster:
    """Broker 1 is the controller; others are registered by sessions of their own."""

    def __init__(self, *others: int) -> None:
        home = MemoryHome()
        self.store = MemoryStore(home)
        self.store.start(lambda: None)
        self.submit(
            *enter(self.tree().values(), broker(1), cluster_id="cluster", features={"f": 1}, now_ms=NOW_MS)
        )
        for other in others:
            session = MemoryStore(home)
            session.start(lambda: None)
            session.submit([register_broker(broker(other), NOW_MS)])
        self.image = self.rebuilt()

    def submit(self, *operations: Read | Write) -> Completed:
        self.store.submit(operations)  # type: ignore[arg-type]
        completed = self.store.events()[-1]
        assert isinstance(completed, Completed)
        if completed.error is not None:
            raise completed.error
        return completed

    def tree(self) -> dict[str, Value]:
        (values,) = self.submit(Subtree("/")).answers
        assert isinstance(values, Values)
        return {value.path: value for value in values.values}

    def rebuilt(self) -> ClusterImage:
        rebuilt = image_from(self.tree().values())
        assert rebuilt.unreadable == ()
        return rebuilt.image

    def carry_out(self, decision: Decision[Result]) -> tuple[Result, ...]:
        for multi in decision.multis():
            self.submit(*multi)
        if decision.deltas:
            self.image = self.image.apply(decision.deltas)
        return decision.results

    def create(self, *topics: NewTopic, defaults: TopicDefaults = ONE_OF_EACH) -> tuple[TopicResult, ...]:
        """What a client's CreateTopics does, with settings checked as a broker checks them."""
        return self.carry_out(
            create_topics(
                self.image,
                topics,
                defaults=defaults,
                check_configs=check_topic_configs,
                random=SeededRandom(),
            )
        )

    def is_consistent(self) -> bool:
        """The image grown by deltas is the image that a new controller would find in the store."""
        return replace(self.image, version=0) == self.rebuilt()


def submit_as_to_zookeeper(cluster: Cluster, parts: Iterable[tuple[Write, ...]]) -> None:
    """Each part must fit into a request, whatever it becomes there: a chroot before every path, and lists of
    who may do what."""
    options = ZookeeperOptions("zoo:2181/clusters/of-trucks")
    nodes = Nodes(options.chroot, set_acl=True)
    for part in parts:
        steps = plan(part, cluster.tree())
        size = sum(len(nodes.request(step.operation).serialize()) + _HEADER_BYTES for step in steps)
        assert size < options.request_bytes_max
        cluster.submit(*part)
