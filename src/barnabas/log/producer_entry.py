"""What a partition remembers of one producer, and the rules its next batch must obey.

The last five batches are kept, because a client may have five requests in flight: a repeat of any of them is
answered with the offsets of the first time, and everything else must follow the last sequence number.
"""

from __future__ import annotations

from collections import deque
from enum import Enum
from typing import Final, NamedTuple, NoReturn

from barnabas.model.errors import ApiError, ErrorCode

NO_PRODUCER_ID: Final = -1
NO_PRODUCER_EPOCH: Final = -1
NO_SEQUENCE: Final = -1
NO_OFFSET: Final = -1
NO_TIMESTAMP: Final = -1
SEQUENCE_MAX: Final = 2**31 - 1
EPOCH_MAX: Final = 2**15 - 1
BATCHES_REMEMBERED: Final = 5


class Origin(Enum):
    """Who appends, which says how much is checked: clients everything, coordinators the epoch, followers
    and recovery nothing, for the leader has checked it."""

    CLIENT = "client"
    COORDINATOR = "coordinator"
    REPLICATION = "replication"


class Accepted(NamedTuple):
    """The batch is new and in order."""


class Duplicate(NamedTuple):
    """The batch was appended before: answer with these, append nothing."""

    first_offset: int
    last_offset: int
    timestamp_ms: int


ACCEPTED: Final = Accepted()


def advance(sequence: int, count: int) -> int:
    """`sequence` + `count`, beginning again at 0 after 2^31 - 1."""
    return (sequence + count) & SEQUENCE_MAX


class BatchInfo(NamedTuple):
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp_ms: int

    @property
    def first_sequence(self) -> int:
        return (self.last_sequence - self.offset_delta) & SEQUENCE_MAX

    @property
    def first_offset(self) -> int:
        return self.last_offset - self.offset_delta


class ProducerEntry:
    __slots__ = (
        "batches",
        "coordinator_epoch",
        "epoch",
        "last_timestamp_ms",
        "producer_id",
        "transaction_first_offset",
    )

    def __init__(
        self,
        producer_id: int,
        epoch: int = NO_PRODUCER_EPOCH,
        coordinator_epoch: int = -1,
        last_timestamp_ms: int = NO_TIMESTAMP,
        transaction_first_offset: int = NO_OFFSET,
    ) -> None:
        self.producer_id = producer_id
        self.epoch = epoch
        self.coordinator_epoch = coordinator_epoch
        self.last_timestamp_ms = last_timestamp_ms
        self.transaction_first_offset = transaction_first_offset
        self.batches: deque[BatchInfo] = deque(maxlen=BATCHES_REMEMBERED)

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    @property
    def last_data_offset(self) -> int:
        return self.batches[-1].last_offset if self.batches else NO_OFFSET

    @property
    def last_offset_delta(self) -> int:
        return self.batches[-1].offset_delta if self.batches else 0

    def duplicate_of(self, epoch: int, first_sequence: int, last_sequence: int) -> Duplicate | None:
        if epoch != self.epoch:
            return None
        for batch in self.batches:
            if batch.last_sequence == last_sequence and batch.first_sequence == first_sequence:
                return Duplicate(batch.first_offset, batch.last_offset, batch.timestamp_ms)
        return None

    def add_batch(self, epoch: int, batch: BatchInfo) -> None:
        self.set_epoch(epoch)
        self.batches.append(batch)
        self.last_timestamp_ms = batch.timestamp_ms

    def set_epoch(self, epoch: int) -> None:
        if epoch != self.epoch:
            self.batches.clear()
            self.epoch = epoch


class Place(NamedTuple):
    """Where a batch would go; for the sentences of errors."""

    producer_id: int
    offset: int
    partition: str


def check_epoch(entry: ProducerEntry | None, epoch: int, place: Place) -> None:
    if entry is not None and epoch < entry.epoch:
        _refuse_epoch(place, epoch, "<", entry.epoch, 0)


def check_marker(
    entry: ProducerEntry | None, epoch: int, coordinator_epoch: int, transaction_version: int, place: Place
) -> None:
    """A marker that ends a transaction. From transaction version 2 on (KIP-890) the coordinator raises the
    epoch with every marker, so one with the known epoch is late, unless it repeats one already written or
    the epoch cannot rise any more."""
    if entry is None:
        return
    if transaction_version >= 2 and epoch == entry.epoch:
        if entry.transaction_first_offset != NO_OFFSET and epoch != EPOCH_MAX:
            _refuse_epoch(place, epoch, "<=", entry.epoch, transaction_version)
    elif epoch < entry.epoch:
        comparison = "<=" if transaction_version >= 2 else "<"
        _refuse_epoch(place, epoch, comparison, entry.epoch, transaction_version)
    if coordinator_epoch < entry.coordinator_epoch:
        raise ApiError(
            ErrorCode.TRANSACTION_COORDINATOR_FENCED,
            f"Invalid coordinator epoch for producerId {place.producer_id} at offset {place.offset} in "
            f"partition {place.partition}: {coordinator_epoch} (zombie), {entry.coordinator_epoch} (current)",
        )


def _refuse_epoch(place: Place, epoch: int, comparison: str, last: int, version: int) -> NoReturn:
    raise ApiError(
        ErrorCode.INVALID_PRODUCER_EPOCH,
        f"Epoch of producer {place.producer_id} at offset {place.offset} in {place.partition} is {epoch}, "
        f"which is {comparison} the last seen epoch {last} (TV{version})",
    )


def check_sequence(entry: ProducerEntry | None, epoch: int, first_sequence: int, place: Place) -> None:
    """A producer nobody knows (its records may have been deleted) begins anywhere; a new epoch begins at 0;
    within an epoch each batch follows the last."""
    if entry is None or entry.epoch == NO_PRODUCER_EPOCH:
        return
    if epoch != entry.epoch:
        if first_sequence != 0:
            _refuse_sequence(
                f"Invalid sequence number for new epoch of producer {place.producer_id} at offset "
                f"{place.offset} in partition {place.partition}: {epoch} (request epoch), {first_sequence} "
                f"(seq. number), {entry.epoch} (current producer epoch)"
            )
        return
    last_sequence = entry.last_sequence
    expected = 0 if last_sequence == NO_SEQUENCE else advance(last_sequence, 1)
    if first_sequence != expected:
        _refuse_sequence(
            f"Out of order sequence number for producer {place.producer_id} at offset {place.offset} in "
            f"partition {place.partition}: {first_sequence} (incoming seq. number), {last_sequence} "
            "(current end sequence number)"
        )


def _refuse_sequence(sentence: str) -> NoReturn:
    raise ApiError(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, sentence)
