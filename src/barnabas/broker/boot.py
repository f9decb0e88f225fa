"""How a lone broker starts: read the tree, write its registration and claim the controller's office, read
again, settle what a crash or a tool left half done, open the logs, and only then serve."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from barnabas.broker.adoption import take_over
from barnabas.broker.membership import claims, others
from barnabas.broker.timers import Timer
from barnabas.broker.topic_config import log_config
from barnabas.controller import elections, tree
from barnabas.controller.rebuild import READS, image_from, values_of
from barnabas.controller.registration import start_alone
from barnabas.log.config import LogConfig
from barnabas.model.endpoint import Endpoint
from barnabas.model.ids import TopicPartition, uuid_text
from barnabas.model.image import BrokerImage, ClusterImage, ConfigKind
from barnabas.ports import Changed, Completed, Get, SessionBegan, SessionEnded, StoreError, Value, Write

if TYPE_CHECKING:
    from barnabas.broker.node import Node

log = logging.getLogger("kafka.server.BrokerServer")

# Levels of what works; the next ones join when their APIs do. Java's clients use the consumer protocol
# (KIP-848) and the second version of transactions (KIP-890) only where they are finalised.
FEATURES: Mapping[str, int] = {"group.version": 1, "transaction.version": 2}

# An ensemble ends a session some ticks after its time.
_SESSION_MARGIN_MS = 5_000


class BootError(Exception):
    """The broker cannot start; the sentence says why."""


class Boot:
    def __init__(
        self, node: Node, endpoints: Mapping[str, Endpoint], rack: str | None, ready: Callable[[], None]
    ) -> None:
        self._node = node
        self._broker = BrokerImage(node.broker_id, -1, endpoints, rack)
        self._ready = ready
        self._store_is_new = False
        self._waiting: Timer | None = None
        node.store.on_session = self._session

    def _session(self, event: SessionBegan | SessionEnded) -> None:
        if isinstance(event, SessionBegan):
            self._node.store.submit(READS, self._first_read)

    def _first_read(self, completed: Completed) -> None:
        values = _values(completed)
        stranger = others(values, self._node.broker_id)
        if stranger is not None:
            raise BootError(stranger)
        held = claims(values, self._node.broker_id)
        if held:
            self._await_end_of(held[0])
            return
        self._store_is_new = all(value.path != tree.CLUSTER_ID for value in values)
        stored = self._node.logs.stored_cluster_id()
        writes = start_alone(
            values,
            self._broker,
            cluster_id=stored or uuid_text(self._node.random.bytes(16)),
            features=FEATURES,
            now_ms=self._node.wall_ms,
        )
        self._node.store.submit(writes, self._written)

    def _await_end_of(self, held: Value) -> None:
        """An earlier life of this broker ended without a word, and its session lives on for a while."""
        node = self._node
        if self._waiting is None:
            log.info("%s is held by an earlier session; waiting until that has ended", held.path)
            limit_ms = node.settings.integer("zookeeper.session.timeout.ms") + _SESSION_MARGIN_MS
            self._waiting = node.timers.at(node.now_ms + limit_ms, lambda: self._still_held(held.path))
        node.store.on_changed = self._released
        node.store.submit([Get(held.path, watch=True)], self._watched)

    def _watched(self, completed: Completed) -> None:
        _check(completed.error)
        if completed.answers == (None,):
            self._released(None)

    def _released(self, _event: Changed | None) -> None:
        self._node.store.on_changed = lambda _event: None
        self._node.store.submit(READS, self._first_read)

    def _still_held(self, path: str) -> None:
        raise BootError(
            f"{path} is still held by another session: is another broker running with the id "
            f"{self._node.broker_id}? Stop it, or choose another broker.id."
        )

    def _written(self, completed: Completed) -> None:
        if self._waiting is not None:
            self._node.timers.cancel(self._waiting)
        _check(completed.error)
        self._node.store.submit(READS, self._second_read)

    def _second_read(self, completed: Completed) -> None:
        node = self._node
        rebuilt = image_from(_values(completed))
        for sentence in rebuilt.unreadable:
            log.warning("Left out of the cluster image: %s", sentence)
        node.image = _without_topics(rebuilt.image)
        node.controller.is_active = True
        node.controller_link.controller_id = node.broker_id
        self._settle(rebuilt.image)

    def _settle(self, image: ClusterImage) -> None:
        """Every partition of ours gets a leader, in a new epoch: what an earlier life began is over."""
        whole = elections.complete(image, self._node.random)
        settled = image.apply(whole.deltas)
        resumed = elections.lead_again(settled, self._node.broker_id)
        self._write([*whole.multis(), *resumed.multis()], settled.apply(resumed.deltas), self._open)

    def _write(
        self, parts: list[tuple[Write, ...]], image: ClusterImage, then: Callable[[ClusterImage], None]
    ) -> None:
        if not parts:
            then(image)
            return

        def written(completed: Completed) -> None:
            _check(completed.error)
            self._write(parts[1:], image, then)

        self._node.store.submit(parts[0], written)

    def _open(self, image: ClusterImage) -> None:
        node = self._node
        node.adopt_settings(image)

        def config_of(topic: str) -> LogConfig:
            return log_config(node.settings, image.config(ConfigKind.TOPIC, topic))

        node.logs.open_all(image.cluster_id, node.broker_id, config_of, node.wall_ms)
        if node.logs.logs and self._store_is_new:
            self._move_in(image)
        else:
            self._begin(image)

    def _move_in(self, image: ClusterImage) -> None:
        """The store is new and the directories are not: Apache Kafka was here before."""
        taken = take_over(self._node, image)
        self._write(taken.multis(), image.apply(taken.deltas), self._begin)

    def _begin(self, image: ClusterImage) -> None:
        node = self._node
        for place in [place for place in node.logs.logs if image.partition(*place) is None]:
            log.warning("Setting aside the stray log of %s: the cluster has no such partition", place)
            node.logs.set_aside_stray(place, node.wall_ms)
        node.logs.presume_offline(_ours(image, node.broker_id))
        node.install(image)
        node.upkeep.start()
        node.cleaning.start()
        self._ready()


def _without_topics(image: ClusterImage) -> ClusterImage:
    """So that installing the real image opens every partition. Settings stay: logs are opened with them."""
    return ClusterImage(cluster_id=image.cluster_id, configs=image.configs)


def _ours(image: ClusterImage, broker_id: int) -> list[TopicPartition]:
    return [
        TopicPartition(topic.name, partition.index)
        for topic in image.topics.values()
        for partition in topic.partitions
        if broker_id in partition.replicas
    ]


def _values(completed: Completed) -> list[Value]:
    _check(completed.error)
    return values_of(completed)


def _check(error: StoreError | None) -> None:
    if error is not None:
        raise BootError(f"The metadata store refused this broker's registration: {error}")
