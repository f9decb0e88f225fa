"""Before the first record of a transaction enters a partition, the coordinator must know of the two
(KIP-890).

A producer on transactions version 1 has added the partition itself, and the coordinator is asked whether that
is so; one on version 2 adds nothing itself, and the coordinator is told. While the answer is on its way the
partition keeps a guard, which a marker takes away: a late answer then opens nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from barnabas.broker.coordinators.admission_errands import Admission
from barnabas.broker.coordinators.ticket import Later
from barnabas.broker.replication.partition import Partition
from barnabas.coordination.outcome import Outcome, Producer
from barnabas.log.verification import Guard
from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.transactions.shard import TransactionShard
from barnabas.transactions.transaction import EPOCH_PER_TRANSACTION

if TYPE_CHECKING:
    from barnabas.broker.node import Node


class Entrance(Enum):
    """How a request enters a transaction; its version says which."""

    VERIFY = "the client added the partition, and knows none of the newer errors"
    VERIFY_ABORTABLE = "the same, and it knows TRANSACTION_ABORTABLE"
    ADD = "the request itself adds the partition"


@dataclass(slots=True)
class Admissions:
    """Where neither is set, the transaction is open already."""

    guards: dict[TopicPartition, Guard] = field(default_factory=dict)
    refused: dict[TopicPartition, ErrorCode] = field(default_factory=dict)


class Gate:
    """One request of one producer; `first_sequences` names the partitions it wants to write to."""

    def __init__(
        self,
        node: Node,
        transactional_id: str,
        producer: Producer,
        entrance: Entrance,
        done: Callable[[Admissions], None],
    ) -> None:
        self._node = node
        self._transactional_id = transactional_id
        self._producer = producer
        self._entrance = entrance
        self._done = done
        self._first_sequences: Mapping[Partition, int] = {}
        self._admissions = Admissions()
        self._retry_until_ms = 0

    def open(self, first_sequences: Mapping[Partition, int], retry_ms: int = 0) -> None:
        """For `retry_ms` it asks again while the transaction before is being finished."""
        if self._entrance is Entrance.ADD or self._verifies:
            self._first_sequences = first_sequences
        self._retry_until_ms = self._node.now_ms + retry_ms
        self._begin()

    def _begin(self) -> None:
        """With guards of its own each time: the markers we wait for take earlier ones away."""
        self._admissions = Admissions()
        for partition, sequence in self._first_sequences.items():
            self._guard(partition, sequence)
        if self._admissions.guards:
            self._ask()
        else:
            self._done(self._admissions)

    @property
    def _verifies(self) -> bool:
        return self._node.settings.boolean("transaction.partition.verification.enable")

    def _guard(self, partition: Partition, sequence: int) -> None:
        log = partition.log
        if log is None or log.producers.has_open_transaction(*self._producer):
            return
        self._admissions.guards[TopicPartition(partition.topic, partition.index)] = (
            log.producers.verifications.begin(
                self._producer.id,
                sequence,
                self._producer.epoch,
                now_ms=self._node.wall_ms,
                supports_epoch_bump=self._entrance is Entrance.ADD,
            )
        )

    def _ask(self) -> None:
        if not self._transactional_id:
            self._refused(ErrorCode.INVALID_REQUEST)
            return
        coordinator = self._node.transactions.coordinator_of(self._transactional_id)
        if coordinator is None:
            self._refused(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        elif coordinator == self._node.broker_id:
            self._ask_here()
        else:
            self._ask_elsewhere(coordinator)

    def _ask_elsewhere(self, coordinator: int) -> None:
        admission = Admission(
            self._transactional_id,
            self._producer,
            tuple(self._admissions.guards),
            verify_only=self._entrance is not Entrance.ADD,
            done=self._heard,
        )
        self._node.admission_errands.add(coordinator, admission)

    def _heard(self, codes: Mapping[TopicPartition, ErrorCode]) -> None:
        """The other coordinator says it for each partition, even where it refuses them all alike."""
        if ErrorCode.CONCURRENT_TRANSACTIONS in codes.values():
            self._refused(ErrorCode.CONCURRENT_TRANSACTIONS)
        else:
            self._answered(codes)

    def _ask_here(self) -> None:
        ticket = Later(self._answered, self._refused)
        wanted = tuple(self._admissions.guards)

        def operation(shard: TransactionShard) -> Outcome:
            if self._entrance is Entrance.ADD:
                return shard.add_partitions(
                    self._transactional_id, self._producer, wanted, EPOCH_PER_TRANSACTION, ticket
                )
            return shard.verify_partitions(self._transactional_id, self._producer, wanted, ticket)

        self._node.transactions.run(self._transactional_id, ticket, operation)

    def _answered(self, answer: object) -> None:
        if isinstance(answer, dict):  # to add is answered once for all
            self._admissions.refused = {
                place: self._spoken(code) for place, code in answer.items() if code is not ErrorCode.NONE
            }
        self._done(self._admissions)

    def _refused(self, code: ErrorCode) -> None:
        node = self._node
        if code is ErrorCode.CONCURRENT_TRANSACTIONS and node.now_ms < self._retry_until_ms:
            pause_ms = node.settings.integer("add.partitions.to.txn.retry.backoff.ms")
            node.timers.at(node.now_ms + pause_ms, self._begin)
            return
        self._admissions.refused = dict.fromkeys(self._admissions.guards, self._spoken(code))
        self._done(self._admissions)

    def _spoken(self, code: ErrorCode) -> ErrorCode:
        """As the client expects to hear it."""
        if code is ErrorCode.PRODUCER_FENCED:
            return ErrorCode.INVALID_PRODUCER_EPOCH
        if code is ErrorCode.TRANSACTION_ABORTABLE and self._entrance is Entrance.VERIFY:
            return ErrorCode.INVALID_TXN_STATE
        return code
