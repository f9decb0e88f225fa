"""What is remembered of one transactional id. A value: a transition makes another one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from barnabas.coordination.outcome import Entry, Producer
from barnabas.model.ids import TopicPartition
from barnabas.protocol.internal.transactions import PartitionsSchema, TransactionLogKey, TransactionLogValue
from barnabas.transactions.states import (
    COMPLETE_ABORT,
    COMPLETE_COMMIT,
    EMPTY,
    ENDING,
    ENTERED_FROM,
    ONGOING,
    PREPARE_ABORT,
    PREPARE_COMMIT,
    TransactionState,
)

NO_PRODUCER_ID: Final = -1
NO_EPOCH: Final = -1
NO_TIME_MS: Final = -1
EPOCH_MAX: Final = 2**15 - 1
# The last epoch a client may have: one above it is left, to fence that client with.
LAST_CLIENT_EPOCH: Final = EPOCH_MAX - 1
# KIP-939: the timeout of a transaction whose end another system decides; it never runs out.
NEVER_MS: Final = 2**31 - 1
# Since this version of transactions (KIP-890) each one that ends raises the producer's epoch.
EPOCH_PER_TRANSACTION: Final = 2


@dataclass(frozen=True, slots=True)
class Transaction:
    transactional_id: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    state: TransactionState = EMPTY
    partitions: frozenset[TopicPartition] = frozenset()
    start_ms: int = NO_TIME_MS
    updated_ms: int = NO_TIME_MS
    previous_producer_id: int = NO_PRODUCER_ID
    next_producer_id: int = NO_PRODUCER_ID  # the owner's once this transaction has ended
    client_version: int = 0

    @property
    def producer(self) -> Producer:
        return Producer(self.producer_id, self.producer_epoch)

    @property
    def is_ending(self) -> bool:
        return self.state in ENDING

    @property
    def is_exhausted(self) -> bool:
        """No epoch is left for a client: the next owner needs another producer id."""
        return self.producer_epoch >= LAST_CLIENT_EPOCH

    def is_late(self, now_ms: int) -> bool:
        return (
            self.state is ONGOING and self.timeout_ms != NEVER_MS and self.start_ms + self.timeout_ms < now_ms
        )

    # --- transitions ---------------------------------------------------------------------------------------

    def owned_by(self, producer: Producer, timeout_ms: int, now_ms: int) -> Transaction:
        """A producer introduced itself."""
        return self._enter(
            EMPTY,
            now_ms,
            producer_id=producer.id,
            producer_epoch=producer.epoch,
            timeout_ms=timeout_ms,
            partitions=frozenset(),
            start_ms=NO_TIME_MS,
        )

    def with_partitions(
        self, partitions: Iterable[TopicPartition], client_version: int, now_ms: int
    ) -> Transaction:
        return self._enter(
            ONGOING,
            now_ms,
            partitions=self.partitions.union(partitions),
            start_ms=self.start_ms if self.state is ONGOING else now_ms,
            client_version=client_version,
        )

    def prepared(
        self, committed: bool, client_version: int, next_producer_id: int, now_ms: int, *, fence: bool = False
    ) -> Transaction:
        """Decided. With transactions version 2 the epoch rises with every end; before, only to fence."""
        raises = fence or client_version >= EPOCH_PER_TRANSACTION
        return self._enter(
            PREPARE_COMMIT if committed else PREPARE_ABORT,
            now_ms,
            producer_epoch=min(self.producer_epoch + raises, EPOCH_MAX),
            start_ms=self.start_ms if self.state is ONGOING else now_ms,
            next_producer_id=next_producer_id,
            client_version=client_version,
        )

    def completed(self, now_ms: int) -> Transaction:
        """Every marker is written; an exhausted producer id gives way to the next one."""
        rotates = self.client_version >= EPOCH_PER_TRANSACTION and self.next_producer_id != NO_PRODUCER_ID
        return self._enter(
            COMPLETE_COMMIT if self.state is PREPARE_COMMIT else COMPLETE_ABORT,
            now_ms,
            producer_id=self.next_producer_id if rotates else self.producer_id,
            producer_epoch=0 if rotates else self.producer_epoch,
            next_producer_id=NO_PRODUCER_ID,
            partitions=frozenset(),
        )

    def _enter(self, state: TransactionState, now_ms: int, **changes: Any) -> Transaction:
        assert self.state in ENTERED_FROM[state], (self, state)
        return replace(self, state=state, updated_ms=now_ms, previous_producer_id=self.producer_id, **changes)

    # --- records -------------------------------------------------------------------------------------------

    def entry(self) -> Entry:
        return Entry(
            TransactionLogKey(self.transactional_id),
            TransactionLogValue(
                producer_id=self.producer_id,
                previous_producer_id=self.previous_producer_id,
                next_producer_id=self.next_producer_id,
                producer_epoch=self.producer_epoch,
                transaction_timeout_ms=self.timeout_ms,
                transaction_status=self.state,
                transaction_partitions=None if self.state is EMPTY else _grouped(self.partitions),
                transaction_last_update_timestamp_ms=self.updated_ms,
                transaction_start_timestamp_ms=self.start_ms,
                client_transaction_version=self.client_version,
            ),
        )


def tombstone(transactional_id: str) -> Entry:
    return Entry(TransactionLogKey(transactional_id), None)


def from_value(transactional_id: str, value: TransactionLogValue) -> Transaction:
    return Transaction(
        transactional_id,
        value.producer_id,
        value.producer_epoch,
        value.transaction_timeout_ms,
        TransactionState(value.transaction_status),
        frozenset(
            TopicPartition(topic.topic, index)
            for topic in value.transaction_partitions or ()
            for index in topic.partition_ids
        ),
        value.transaction_start_timestamp_ms,
        value.transaction_last_update_timestamp_ms,
        value.previous_producer_id,
        value.next_producer_id,
        value.client_transaction_version,
    )


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """Sorted, so that equal sets make equal bytes."""
    topics: dict[str, list[int]] = {}
    for topic, index in sorted(partitions):
        topics.setdefault(topic, []).append(index)
    return topics


def _grouped(partitions: Iterable[TopicPartition]) -> list[PartitionsSchema]:
    return [PartitionsSchema(topic, indexes) for topic, indexes in by_topic(partitions).items()]
