"""One broker without IO: requests, ticks and events in; replies and wishes out. Nothing here waits."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from barnabas.broker.auto_creation import AutoCreation
from barnabas.broker.cleaning import Cleaner, CleaningHost
from barnabas.broker.cluster.controller_host import ControllerHost
from barnabas.broker.cluster.controller_link import ControllerLink
from barnabas.broker.cluster.image_log import ImageLog
from barnabas.broker.cluster.image_watch import ImageWatch
from barnabas.broker.cluster.leader_balance import LeaderBalance
from barnabas.broker.cluster.offline_replicas import OfflineReplicas
from barnabas.broker.cluster.peers import Peers
from barnabas.broker.cluster.searching import Searching
from barnabas.broker.cluster.store_client import StoreClient
from barnabas.broker.coordinators.admission_errands import admission_errands
from barnabas.broker.coordinators.coordinator_host import CoordinatorHost
from barnabas.broker.coordinators.internal_topics import OFFSETS_TOPIC, InternalTopics
from barnabas.broker.coordinators.marker_carrier import marker_errands
from barnabas.broker.coordinators.producer_ids import Block, ProducerIds
from barnabas.broker.coordinators.transaction_host import transaction_coordinator
from barnabas.broker.dispatch import Dispatcher
from barnabas.broker.fetch_sessions import FetchSessions
from barnabas.broker.purgatory import Purgatory
from barnabas.broker.replication.fetchers import ReplicaFetchers
from barnabas.broker.replication.isr import IsrKeeper
from barnabas.broker.replication.log_moves import LogMoves
from barnabas.broker.replication.partition import Partition
from barnabas.broker.replication.replica_choice import replica_choice
from barnabas.broker.replication.replicas import ReplicaManager
from barnabas.broker.replication.throttles import LEADER, ReplicationThrottle
from barnabas.broker.session import Session
from barnabas.broker.timers import Timers
from barnabas.broker.topic_config import log_config, manager_settings, producer_settings
from barnabas.broker.upkeep import UpkeepHost
from barnabas.groups.shard import GroupShard
from barnabas.log.config import LogConfig
from barnabas.log.manager import LogManager
from barnabas.model.ids import TopicPartition
from barnabas.model.image import ClusterImage, ConfigKind, Delta, TopicImage
from barnabas.model.settings import SettingError
from barnabas.model.settings.broker import BrokerSettings
from barnabas.ports import Filesystem, MetadataStore, Network, Random, Workers
from barnabas.protocol.private import VERSION, AllocateProducerIdsRequest, AllocateProducerIdsResponse
from barnabas.protocol.schema import Message

log = logging.getLogger("kafka.server.BrokerServer")

EVICTION_MS = 120_000  # min.incremental.fetch.session.eviction.ms, which Kafka fixed


@dataclass(frozen=True, slots=True)
class Ports:
    filesystem: Filesystem
    random: Random
    store: MetadataStore
    workers: Workers
    cleaner: Cleaner
    network: Network


class Node:
    def __init__(self, broker_id: int, settings: BrokerSettings, ports: Ports) -> None:
        self.broker_id = broker_id
        self.settings = settings
        self.now_ms = 0  # for what is waited for
        self.wall_ms = 0  # for what is stored
        self.image = ClusterImage()
        self.random = ports.random
        self.filesystem = ports.filesystem
        self.workers = ports.workers
        self.timers = Timers()
        self.purgatory = Purgatory(self.timers)
        self.store = StoreClient(ports.store)
        self.peers = Peers(self, ports.network)
        self.controller_link = ControllerLink(self)
        self.image_log = ImageLog(self)
        self.image_watch = ImageWatch(self)
        self.searching = Searching(self)
        self.controller = ControllerHost(self.store, lambda: self.image, self.publish)
        self.logs = LogManager(ports.filesystem, settings.log_dirs, ports.random, manager_settings(settings))
        self.replicas = ReplicaManager(self, self.logs)
        self.upkeep = UpkeepHost(self)
        self.on_settings: list[Callable[[BrokerSettings], None]] = []
        self.isr = IsrKeeper(self)
        self.offline_replicas = OfflineReplicas(self)
        self.fetchers = ReplicaFetchers(self)
        self.log_moves = LogMoves(self)
        self.leader_balance = LeaderBalance(self)
        self.leader_throttle = ReplicationThrottle(self, LEADER)
        self.choose_replica = replica_choice(self)
        self.cleaning = CleaningHost(self, ports.cleaner)
        self.fetch_sessions = FetchSessions(
            settings.integer("max.incremental.fetch.session.cache.slots"), EVICTION_MS, ports.random
        )
        self.fetch_max_bytes = settings.integer("fetch.max.bytes")
        self.encoded_topics: dict[tuple[str, Hashable], tuple[TopicImage, bytes]] = {}
        self.marker_errands = marker_errands(self)
        self.admission_errands = admission_errands(self)
        self.producer_ids = ProducerIds(self._allocate_producer_ids)
        self.auto_creation = AutoCreation(self)
        self.internal_topics = InternalTopics(self)
        self.groups = CoordinatorHost(self, OFFSETS_TOPIC, GroupShard)
        self.transactions = transaction_coordinator(self)
        self.coordinators: tuple[CoordinatorHost[Any], ...] = (self.groups, self.transactions)
        self.is_ready = False  # the logs are open, and the image says what they are for
        self.exit_code: int | None = None  # set when the broker wishes to stop
        self.handle = Dispatcher(self).handle

    # --- what the loop calls -------------------------------------------------------------------------------

    def set_time(self, now_ms: int, wall_ms: int) -> None:
        self.now_ms = now_ms
        self.wall_ms = wall_ms

    def tick(self) -> int:
        """Do what is due; returns the milliseconds until the next thing is."""
        return self.timers.run_due(self.now_ms)

    def disconnected(self, session: Session) -> None:
        self.purgatory.disconnected(session)
        self.searching.disconnected(session)

    def stop(self, exit_code: int) -> None:
        self.exit_code = exit_code

    # --- the image -----------------------------------------------------------------------------------------

    def publish(self, deltas: tuple[Delta, ...]) -> None:
        """The controller, this broker, has decided: from here on every answer comes from the new image."""
        self.install(self.image.apply(deltas))
        self.image_log.add(self.image.version, deltas)

    def install(self, image: ClusterImage) -> None:
        old, self.image = self.image, image
        if old.configs is not image.configs:
            self._apply_settings(old, image)
        self.replicas.apply(old, image)
        self.fetchers.apply(old, image)
        for coordinator in self.coordinators:
            coordinator.apply(old, image)
        self.marker_errands.apply(old, image)
        self.admission_errands.apply(old, image)
        self._forget_encoded(old, image)
        self.image_watch.installed()

    def _forget_encoded(self, old: ClusterImage, new: ClusterImage) -> None:
        """Which replicas are offline is part of what is said of a topic."""
        if old.brokers is not new.brokers:
            self.encoded_topics.clear()
        for key in [key for key in self.encoded_topics if key[0] not in new.topics]:
            del self.encoded_topics[key]

    def when_image(self, epoch: int, version: int, patience_ms: int, action: Callable[[], None]) -> None:
        """Run it when the image is as new as that, or when patience ends."""
        self.image_watch.wait(epoch, version, patience_ms, action)

    def adopt_settings(self, image: ClusterImage) -> bool:
        """Take over what was set dynamically for us or for all brokers. True if that changed anything."""
        cluster = image.config(ConfigKind.BROKER, "")
        own = image.config(ConfigKind.BROKER, str(self.broker_id))
        if cluster == self.settings.cluster_dynamic and own == self.settings.own_dynamic:
            return False
        settings = self.settings_with(image)
        if settings is None:
            return False
        self.settings = settings
        self.fetch_max_bytes = self.settings.integer("fetch.max.bytes")
        self.logs.update_producer_settings(producer_settings(self.settings))
        for listener in self.on_settings:
            listener(self.settings)
        return True

    def settings_with(self, image: ClusterImage) -> BrokerSettings | None:
        """Ours, with what the image sets. None where that does not go together with our file: a change is
        judged by the broker that is asked for it, and a shell can write anything."""
        own = image.config(ConfigKind.BROKER, str(self.broker_id))
        try:
            return self.settings.with_dynamic(image.config(ConfigKind.BROKER, ""), own)
        except SettingError as problem:
            log.error("Dynamic settings could not be applied; those before them stay: %s", problem)
            return None

    def _apply_settings(self, old: ClusterImage, new: ClusterImage) -> None:
        changed = self.adopt_settings(new)
        for partition in self.replicas:
            name = partition.topic
            if changed or old.config(ConfigKind.TOPIC, name) != new.config(ConfigKind.TOPIC, name):
                partition.update_config(self.log_config(name))

    def log_config(self, topic: str) -> LogConfig:
        return log_config(self.settings, self.image.config(ConfigKind.TOPIC, topic))

    # --- wishes --------------------------------------------------------------------------------------------

    def _allocate_producer_ids(self, done: Callable[[Block | None], None]) -> None:
        def answered(answer: Message) -> None:
            assert isinstance(answer, AllocateProducerIdsResponse)
            done((answer.first, answer.last) if answer.error_code == 0 else None)

        own = self.image.brokers.get(self.broker_id)
        request = AllocateProducerIdsRequest(self.broker_id, -1 if own is None else own.epoch)
        self.controller_link.ask(request, VERSION, answered, lambda: done(None))

    def disk_failed(self, partition: Partition, error: BaseException) -> None:
        if not isinstance(error, OSError):
            raise error
        log.error("Error while accessing %s-%d: %s", partition.topic, partition.index, error)
        self.logs.fail_log(TopicPartition(partition.topic, partition.index), error)
        self.upkeep.notice_failures()
