"""What the transaction coordinator asks of its broker, beyond what every shard does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from barnabas.coordination.outcome import Producer, ShardHost
from barnabas.model.ids import TopicPartition


@dataclass(frozen=True, slots=True)
class Markers:
    """A decided transaction: each of its partitions gets one of these, from its leader."""

    transactional_id: str
    producer: Producer
    committed: bool
    coordinator_epoch: int
    transaction_version: int
    partitions: frozenset[TopicPartition]


class TransactionHost(ShardHost, Protocol):
    @property
    def coordinator_epoch(self) -> int:
        """Rises with every change of coordinator, so that an old one's markers are refused."""
        ...

    def send_markers(self, markers: Markers) -> None:
        """Have them written, however long it takes; `TransactionShard.marker_written` hears of each."""
        ...

    def next_producer_id(self, done: Callable[[int | None], None]) -> None:
        """An id that nobody ever had; None when it cannot be had now. May answer before it returns."""
        ...
