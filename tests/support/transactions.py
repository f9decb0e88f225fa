"""A transaction coordinator's shard in memory: producer ids come when a test gives them, markers wait to be
written until it says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from tests.support.coordination import FakeShardHost, FakeTicket

from barnabas.coordination.outcome import Outcome, Producer
from barnabas.model.ids import TopicPartition
from barnabas.model.image import ClusterImage
from barnabas.protocol.messages.end_txn import EndTxnRequest
from barnabas.protocol.messages.init_producer_id import InitProducerIdRequest
from barnabas.transactions.host import Markers, TransactionHost
from barnabas.transactions.shard import TransactionShard
from barnabas.transactions.transaction import Transaction

ORDERS = TopicPartition("orders", 0)
PAYMENTS = TopicPartition("payments", 3)


class FakeTransactionHost(FakeShardHost):
    def __init__(self, settings: dict[str, str] | None = None, version: int = 2) -> None:
        super().__init__(settings, ClusterImage(features={"transaction.version": version}))
        self.coordinator_epoch = 7
        self.markers: list[Markers] = []
        self.next_id = 1000
        self.ids_come_later = False
        self.waiting_for_id: list[Callable[[int | None], None]] = []
        self.transactions = TransactionShard(cast(TransactionHost, self), 0)
        self.shard = self.transactions

    def send_markers(self, markers: Markers) -> None:
        self.markers.append(markers)

    def next_producer_id(self, done: Callable[[int | None], None]) -> None:
        if self.ids_come_later:
            self.waiting_for_id.append(done)
        else:
            self.next_id += 1
            done(self.next_id)

    # --- what clients do -----------------------------------------------------------------------------------

    def init(self, name: str = "t", expected: Producer | None = None, timeout_ms: int = 60_000) -> FakeTicket:
        said = expected or Producer(-1, -1)
        request = InitProducerIdRequest(name, timeout_ms, said.id, said.epoch)
        return self.ask(lambda ticket: self.transactions.init_producer_id(request, ticket))

    def owner(self, name: str = "t", timeout_ms: int = 60_000) -> Producer:
        response = self.init(name, timeout_ms=timeout_ms).response
        assert response is not None
        assert response.error_code == 0
        return Producer(response.producer_id, response.producer_epoch)

    def at_epoch(self, epoch: int, name: str = "t") -> Producer:
        """The owner after so many others, without their work."""
        owner = self.owner(name)._replace(epoch=epoch)
        self.run(lambda: Outcome([self.of(name).owned_by(owner, 60_000, self.wall_ms).entry()]))
        return owner

    def add(
        self, producer: Producer, *partitions: TopicPartition, name: str = "t", version: int = 0
    ) -> FakeTicket:
        return self.ask(
            lambda ticket: self.transactions.add_partitions(name, producer, partitions, version, ticket)
        )

    def verify(self, producer: Producer, *partitions: TopicPartition, name: str = "t") -> FakeTicket:
        return self.ask(
            lambda ticket: self.transactions.verify_partitions(name, producer, partitions, ticket)
        )

    def end(self, producer: Producer, committed: bool, *, name: str = "t", version: int = 0) -> FakeTicket:
        request = EndTxnRequest(name, producer.id, producer.epoch, committed)
        return self.ask(lambda ticket: self.transactions.end(request, version, ticket))

    # --- what the broker does ------------------------------------------------------------------------------

    def write_markers(self) -> None:
        sent, self.markers = self.markers, []
        for markers in sent:
            for partition in markers.partitions:
                self.run(lambda: self.transactions.marker_written(markers, [partition]))  # noqa: B023 - run at once

    def crash(self) -> None:
        self.markers = []
        self.waiting_for_id = []
        self.coordinator_epoch += 1
        self.transactions = TransactionShard(cast(TransactionHost, self), 0)
        self.reload(self.transactions)

    def of(self, name: str = "t") -> Transaction:
        return self.transactions.transactions[name]
