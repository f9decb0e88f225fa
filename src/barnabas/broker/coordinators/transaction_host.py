"""What the transaction coordinator's shards get of this broker."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from barnabas.broker.coordinators.coordinator_host import CoordinatorHost
from barnabas.broker.coordinators.hosted_shard import HostedShard
from barnabas.broker.coordinators.internal_topics import TRANSACTIONS_TOPIC
from barnabas.broker.coordinators.marker_carrier import MarkerCarrier
from barnabas.coordination.outcome import Outcome, ShardTimers
from barnabas.model.ids import TopicPartition
from barnabas.model.image import ClusterImage
from barnabas.model.settings.broker import BrokerSettings
from barnabas.transactions.host import Markers
from barnabas.transactions.shard import TransactionShard

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def transaction_coordinator(node: Node) -> CoordinatorHost[TransactionShard]:
    return CoordinatorHost(
        node,
        TRANSACTIONS_TOPIC,
        lambda hosted: TransactionShard(_Hosting(hosted), hosted.partition.index),
    )


class _Hosting:
    """`TransactionHost`, for one shard."""

    def __init__(self, hosted: HostedShard[TransactionShard]) -> None:
        self._hosted = hosted
        self.broker_id = hosted.broker_id
        self.timers: ShardTimers = hosted.timers
        # Of this life: a later one hosts another shard, and its markers must not look like ours.
        self.coordinator_epoch = hosted.leader_epoch

    @property
    def now_ms(self) -> int:
        return self._hosted.now_ms

    @property
    def wall_ms(self) -> int:
        return self._hosted.wall_ms

    @property
    def image(self) -> ClusterImage:
        return self._hosted.image

    @property
    def settings(self) -> BrokerSettings:
        return self._hosted.settings

    def random_bytes(self, count: int) -> bytes:
        return self._hosted.random_bytes(count)

    def run(self, operation: Callable[[], Outcome]) -> None:
        self._hosted.run(operation)

    def send_markers(self, markers: Markers) -> None:
        hosted = self._hosted

        def written(place: TopicPartition) -> None:
            hosted.run(lambda: hosted.shard.marker_written(markers, [place]))

        # At the end of this turn: the producer that waits for its answer need not wait for the markers, too.
        node = hosted.node
        carrier = MarkerCarrier(node, markers, written, lambda: hosted.is_active)
        node.timers.at(node.now_ms, carrier.send)

    def next_producer_id(self, done: Callable[[int | None], None]) -> None:
        self._hosted.node.producer_ids.next(done)
