"""The tables of kafka-transactions, and which open transactions hang; no IO."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.describe_producers import ProducerState
from barnabas.wire.admin.transactions import Listed, Transaction

_MINUTE_MS = 60_000
NONE = "None"
LIST = ("TransactionalId", "Coordinator", "ProducerId", "TransactionState")
DESCRIBE = (
    "CoordinatorId",
    "TransactionalId",
    "ProducerId",
    "ProducerEpoch",
    "TransactionState",
    "TransactionTimeoutMs",
    "CurrentTransactionStartTimeMs",
    "TransactionDurationMs",
    "TopicPartitions",
)
PRODUCERS = (
    "ProducerId",
    "ProducerEpoch",
    "LatestCoordinatorEpoch",
    "LastSequence",
    "LastTimestamp",
    "CurrentTransactionStartOffset",
)
HANGING = (
    "Topic",
    "Partition",
    "ProducerId",
    "ProducerEpoch",
    "CoordinatorEpoch",
    "StartOffset",
    "LastTimestamp",
    "Duration(min)",
)


class Open(NamedTuple):
    """A transaction that is open on a partition."""

    partition: TopicPartition
    producer: ProducerState


def table(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Every cell as wide as the widest of its column, and a tab after it."""
    cells = [titles, *([str(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        yield "".join(f"{cell:<{width}}\t" for cell, width in zip(row, widths, strict=True))


def list_rows(found: Iterable[Listed]) -> Iterator[Sequence[object]]:
    for row in found:
        yield row.transactional_id, row.coordinator_id, row.producer_id, row.state


def describe_row(found: Transaction, now_ms: int) -> Sequence[object]:
    started = found.started_at_ms
    return (
        found.coordinator_id,
        found.transactional_id,
        found.producer_id,
        found.producer_epoch,
        found.state,
        found.timeout_ms,
        NONE if started is None else started,
        NONE if started is None else now_ms - started,
        ",".join(map(str, sorted(found.partitions))),
    )


def producer_rows(found: Iterable[ProducerState]) -> Iterator[Sequence[object]]:
    for row in found:
        start = row.current_txn_start_offset
        yield (
            row.producer_id,
            row.producer_epoch,
            row.coordinator_epoch,
            row.last_sequence,
            row.last_timestamp,
            NONE if start < 0 else start,
        )


def hanging_rows(found: Iterable[Open], now_ms: int) -> Iterator[Sequence[object]]:
    for partition, row in found:
        yield (
            partition.topic,
            partition.partition,
            row.producer_id,
            row.producer_epoch,
            row.coordinator_epoch,
            row.current_txn_start_offset,
            row.last_timestamp,
            (now_ms - row.last_timestamp) // _MINUTE_MS,
        )


def open_too_long(
    partition: TopicPartition, producers: Iterable[ProducerState], now_ms: int, longest_ms: int
) -> list[Open]:
    return [
        Open(partition, row)
        for row in producers
        if row.current_txn_start_offset >= 0 and now_ms - row.last_timestamp > longest_ms
    ]


def hanging(
    candidates: Iterable[Open],
    transactional_ids: Mapping[int, str],
    transactions: Mapping[str, Transaction | None],
) -> list[Open]:
    """Those that no coordinator will end: it does not know the producer any more, or does not count this
    partition to what the transaction still has to finish."""
    found = []
    for one in candidates:
        transaction = transactions.get(transactional_ids.get(one.producer.producer_id, ""))
        if transaction is None or one.partition not in transaction.partitions:
            found.append(one)
    return found
