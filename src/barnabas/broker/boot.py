"""How a broker starts: open the logs with the settings that the store holds, join the cluster, wait for the
image that shows it, become what the image says, and only then serve."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from barnabas.broker.adoption import take_over
from barnabas.broker.cluster.membership import Membership, StillHeldError
from barnabas.broker.topic_config import log_config
from barnabas.controller import tree
from barnabas.controller.neighbours import listener_conflict
from barnabas.controller.rebuild import image_from, values_of
from barnabas.controller.znodes.cluster import encode_cluster_id
from barnabas.log.config import LogConfig
from barnabas.model.endpoint import Endpoint
from barnabas.model.errors import ApiError
from barnabas.model.ids import TopicPartition, uuid_text
from barnabas.model.image import BrokerImage, ClusterImage, ConfigKind
from barnabas.ports import (
    Completed,
    Create,
    Get,
    NodeExistsError,
    Read,
    SessionBegan,
    SessionEnded,
    StoreError,
    StoreLostError,
    Subtree,
    Write,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node

log = logging.getLogger("kafka.server.BrokerServer")

# Levels of what works; the next ones join when their APIs do. Java's clients use the consumer protocol
# (KIP-848) and the second version of transactions (KIP-890) only where they are finalised.
FEATURES: Mapping[str, int] = {"group.version": 1, "transaction.version": 2}

_SETTINGS: tuple[Read, ...] = (Get(tree.CLUSTER_ID), Subtree(tree.CONFIG), Subtree(tree.BROKER_IDS))

_RETRY_MS = 500

BootError = StillHeldError


class Boot:
    def __init__(
        self, node: Node, endpoints: Mapping[str, Endpoint], rack: str | None, ready: Callable[[], None]
    ) -> None:
        self._node = node
        self._ready = ready
        self._session_id = 0
        self._store_is_new = False
        self._broker = BrokerImage(node.broker_id, -1, endpoints, rack)
        self.membership = Membership(node, self._broker, FEATURES, self._arrived)
        self._attempt = 0  # at reading what the store holds; what belongs to an earlier one is over
        node.store.on_session = self._session

    def _session(self, event: SessionBegan | SessionEnded) -> None:
        if isinstance(event, SessionBegan):
            self._session_id = event.session_id
            self._look()

    def _look(self) -> None:
        """A session that ends brings two reasons to look again, its loss and the next one: the last counts,
        or the logs would be opened twice."""
        self._attempt += 1
        attempt = self._attempt

        def read(completed: Completed) -> None:
            if attempt == self._attempt:
                self._read(completed)

        self._node.store.submit(_SETTINGS, read)

    def _look_later(self) -> None:
        attempt = self._attempt

        def again() -> None:
            if attempt == self._attempt:
                self._look()

        self._node.timers.at(self._node.now_ms + _RETRY_MS, again)

    def _read(self, completed: Completed) -> None:
        if isinstance(completed.error, StoreLostError):
            self._look_later()
            return
        _check(completed.error)
        rebuilt = image_from(values_of(completed))
        stored = rebuilt.image
        conflict = listener_conflict(
            self._broker, stored.brokers.values(), self._node.settings.inter_broker_listener
        )
        if conflict is not None:
            raise BootError(conflict)
        unreadable = [problem for problem in rebuilt.unreadable if problem.startswith(f"{tree.CLUSTER_ID}:")]
        if unreadable:
            raise BootError(f"{unreadable[0]}: nobody can tell which cluster this is. Correct the node.")
        if stored.cluster_id:
            self._open(stored)
        else:
            self._store_is_new = True
            self._name_the_cluster()

    def _name_the_cluster(self) -> None:
        """Before anything is written to the disk: of those who start at once, one gives the name."""
        node = self._node
        name = node.logs.stored_cluster_id() or uuid_text(node.random.bytes(16))
        self._check_not_lost(name)

        attempt = self._attempt

        def named(completed: Completed) -> None:
            if attempt != self._attempt:
                return
            if isinstance(completed.error, StoreLostError):
                self._look_later()
            elif completed.error is not None and not isinstance(completed.error, NodeExistsError):
                _check(completed.error)
            else:
                self._look()

        node.store.submit([Create(tree.CLUSTER_ID, encode_cluster_id(name), make_parents=True)], named)

    def _check_not_lost(self, cluster_id: str) -> None:
        """A store without a cluster, and logs of one. Alone, these are taken over; of several brokers only
        one could, and the others would delete what it does not know of."""
        settings = self._node.settings
        if settings.zookeeper_connect is not None and self._node.logs.has_logs():
            raise BootError(
                f"The logs in {', '.join(settings.log_dirs)} belong to cluster {cluster_id}, and ZooKeeper "
                f"at {settings.zookeeper_connect} knows of no cluster: zookeeper.connect may be wrong, or "
                "ZooKeeper has lost its data. Correct that, or choose other log.dirs to begin anew."
            )

    def _open(self, stored: ClusterImage) -> None:
        """The logs first: a broker that is registered may be asked to lead."""
        node = self._node
        node.image = ClusterImage(cluster_id=stored.cluster_id, configs=stored.configs)
        node.adopt_settings(node.image)

        def config_of(topic: str) -> LogConfig:
            return log_config(node.settings, stored.config(ConfigKind.TOPIC, topic))

        node.logs.open_all(stored.cluster_id, node.broker_id, config_of, node.wall_ms)
        # Alone there is nobody who could know better.
        unclean = not node.logs.was_clean and node.settings.zookeeper_connect is not None
        self.membership.begin(self._session_id, unclean=unclean)

    def _arrived(self, image: ClusterImage) -> None:
        """The first image that counts shows this life of ours: it is no older than our registration."""
        node = self._node
        if node.is_ready:
            node.install(image)
            return
        own = image.brokers.get(node.broker_id)
        if own is None or own.epoch != self.membership.epoch:
            return
        if node.logs.logs and self._store_is_new and node.controller.is_active:
            self._store_is_new = False
            self._move_in(image)
        else:
            self._begin(image)

    def _move_in(self, image: ClusterImage) -> None:
        """The store is new and the directories are not: Apache Kafka was here before."""
        taken = take_over(self._node, image)
        self._write(taken.multis(), image.apply(taken.deltas))

    def _write(self, parts: list[tuple[Write, ...]], image: ClusterImage) -> None:
        if not parts:
            self._begin(image)
            return

        def written(completed: Completed) -> None:
            _check(completed.error)
            self._write(parts[1:], image)

        self._node.store.submit(parts[0], written)

    def _begin(self, image: ClusterImage) -> None:
        node = self._node
        self._drop_strays(image)
        node.logs.presume_offline(_ours(image, node.broker_id))
        node.is_ready = True
        node.install(image)
        node.log_moves.resume()
        node.upkeep.start()
        node.leader_balance.start()
        node.cleaning.start()
        self._ready()

    def _drop_strays(self, image: ClusterImage) -> None:
        """What was deleted or moved away while this broker was. Alone, a person should look at it first."""
        node = self._node
        strays = [
            place
            for place in node.logs.logs
            if place.topic not in image.unreadable and not _is_ours(image, place, node)
        ]
        for place in strays:
            try:
                self._drop_stray(place)
            except ApiError as error:
                # Its disk has failed, and goes offline with all that is on it; the others go on.
                log.error("Cannot put the stray log of %s out of the way: %s", place, error)

    def _drop_stray(self, place: TopicPartition) -> None:
        node = self._node
        if node.settings.zookeeper_connect is None:
            log.warning("Setting aside the stray log of %s: the cluster has no such partition", place)
            node.logs.set_aside_stray(place, node.wall_ms)
        else:
            log.info("Deleting the log of %s, which the cluster has no more for this broker", place)
            node.logs.delete(place, node.wall_ms)


def _is_ours(image: ClusterImage, place: TopicPartition, node: Node) -> bool:
    topic = image.topics.get(place.topic)
    partition = image.partition(*place)
    if topic is None or partition is None:
        return False
    known = node.logs.logs[place].topic_id
    return node.broker_id in partition.replicas and known in {None, topic.id}


def _ours(image: ClusterImage, broker_id: int) -> list[TopicPartition]:
    return [
        TopicPartition(topic.name, partition.index)
        for topic in image.topics.values()
        for partition in topic.partitions
        if broker_id in partition.replicas
    ]


def _check(error: StoreError | None) -> None:
    if error is not None:
        raise BootError(f"The metadata store refused this broker's registration: {error}")
