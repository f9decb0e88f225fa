"""One face for every library's transactional producer, and for an administrator of transactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tests.support.members.face import Place

INVALID_PRODUCER_EPOCH, PRODUCER_FENCED = 47, 90
FENCED = frozenset({INVALID_PRODUCER_EPOCH, PRODUCER_FENCED})


class TransactionalProducer(Protocol):
    """RefusedError with a code of FENCED: another producer has taken the transactional id."""

    def init(self) -> None:
        """Take the transactional id; whoever had it is fenced, and its open transaction aborted."""
        ...

    def begin(self) -> None: ...

    def send(self, topic: str, values: Sequence[bytes], partition: int = 0) -> None:
        """Returns when every record is acknowledged."""
        ...

    def send_offsets(self, member: Any, group: str, offsets: Mapping[Place, int]) -> None: ...

    def commit(self) -> None: ...

    def abort(self) -> None: ...

    def close(self) -> None:
        """Goes away as a crash does: an open transaction stays open."""
        ...


@dataclass(frozen=True, slots=True)
class DescribedTransaction:
    state: str
    producer_id: int
    epoch: int
    timeout_ms: int
    places: frozenset[Place]


@dataclass(frozen=True, slots=True)
class ActiveProducer:
    producer_id: int
    epoch: int
    coordinator_epoch: int
    start_offset: int


class TransactionAdmin(Protocol):
    def transactions(self) -> dict[str, str]:
        """State by transactional id."""
        ...

    def describe(self, transactional_id: str) -> DescribedTransaction: ...

    def producers(self, place: Place) -> list[ActiveProducer]: ...

    def abort(self, place: Place, producer_id: int, epoch: int, coordinator_epoch: int) -> None: ...
