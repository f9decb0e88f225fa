"""Every producer that has written to a partition, and the transactions it has open there.

The life of an append: `check` (or `check_marker`) before anything is written, `update` (or `update_marker`)
once it is, then `end_offset`. A marker that ends a transaction goes to the transaction index before
`complete`: otherwise a crash between the two would show aborted records to a reader.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, ValuesView
from dataclasses import dataclass
from typing import NamedTuple

from barnabas.log.open_transactions import CompletedTransaction, OpenTransactions
from barnabas.log.producer_entry import (
    ACCEPTED,
    NO_OFFSET,
    Accepted,
    BatchInfo,
    Duplicate,
    Origin,
    Place,
    ProducerEntry,
    check_epoch,
    check_marker,
    check_sequence,
)
from barnabas.log.producer_snapshots import CorruptSnapshotError, SnapshotFiles
from barnabas.log.verification import Guard, Verifications
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.ports import Filesystem

_logger = logging.getLogger(__name__)

# How long past its timeout a transaction may stay open before it counts as hanging.
_LATE_TRANSACTION_BUFFER_MS = 5 * 60 * 1000


@dataclass(frozen=True, slots=True)
class ProducerSettings:
    producer_id_expiration_ms: int = 86_400_000
    transaction_verification: bool = True
    transaction_timeout_ms_max: int = 900_000


class LastRecord(NamedTuple):
    """What compaction must leave of an active producer: the batch that ends at `last_data_offset`; or, if
    that is None, the marker with its epoch."""

    last_data_offset: int | None
    epoch: int


class ProducerStates:
    def __init__(
        self,
        fs: Filesystem,
        directory: str,
        partition: str,
        settings: ProducerSettings | None = None,
        *,
        is_new: bool = False,
    ) -> None:
        self.settings = settings or ProducerSettings()
        self.end_offset = 0
        self.transactions = OpenTransactions()
        self.snapshots = SnapshotFiles(fs, directory, is_new=is_new)
        self.verifications = Verifications()
        self._partition = partition
        self._producers: dict[int, ProducerEntry] = {}
        self._snapshot_offset = 0

    # --- before the write --------------------------------------------------------------------------------

    def check(
        self,
        producer_id: int,
        epoch: int,
        first_sequence: int,
        last_sequence: int,
        *,
        offset: int,
        transactional: bool = False,
        origin: Origin = Origin.CLIENT,
        guard: Guard | None = None,
    ) -> Accepted | Duplicate:
        """May this batch be appended at `offset`? ApiError if not. Batches without a producer id are not
        asked about."""
        entry = self._producers.get(producer_id)
        if (
            entry is not None
            and epoch == entry.epoch
            and transactional == (entry.transaction_first_offset != NO_OFFSET)
            and entry.batches
            and first_sequence == entry.batches[-1].last_sequence + 1
            and not self.verifications
        ):
            return ACCEPTED  # the usual case: the next batch of a known producer
        if origin is Origin.CLIENT and entry is not None:
            duplicate = entry.duplicate_of(epoch, first_sequence, last_sequence)
            if duplicate is not None:
                return duplicate
        place = Place(producer_id, offset, self._partition)
        if origin is not Origin.REPLICATION:
            if transactional:
                self._check_verified(producer_id, epoch, guard)
            check_epoch(entry, epoch, place)
        if origin is Origin.CLIENT:
            self.verifications.check_sequence(entry, first_sequence, place)
            check_sequence(entry, epoch, first_sequence, place)
        if entry is not None and entry.transaction_first_offset != NO_OFFSET and not transactional:
            raise ApiError(
                ErrorCode.INVALID_TXN_STATE,
                f"Expected transactional write from producer {producer_id} at offset {offset} in partition "
                f"{self._partition}",
            )
        return ACCEPTED

    def _check_verified(self, producer_id: int, epoch: int, guard: Guard | None) -> None:
        if self.has_open_transaction(producer_id, epoch) or not self.settings.transaction_verification:
            return
        if not self.verifications.holds(producer_id, guard):
            raise ApiError(ErrorCode.INVALID_TXN_STATE, "Record was not part of an ongoing transaction")

    def has_open_transaction(self, producer_id: int, epoch: int) -> bool:
        """Of just this epoch: what a newer one sends belongs to a transaction that has not begun here."""
        entry = self._producers.get(producer_id)
        return entry is not None and entry.transaction_first_offset != NO_OFFSET and entry.epoch == epoch

    def check_marker(
        self,
        producer_id: int,
        epoch: int,
        coordinator_epoch: int,
        *,
        offset: int,
        transaction_version: int,
        origin: Origin = Origin.COORDINATOR,
    ) -> None:
        if origin is not Origin.REPLICATION:
            place = Place(producer_id, offset, self._partition)
            entry = self._producers.get(producer_id)
            check_marker(entry, epoch, coordinator_epoch, transaction_version, place)

    # --- after the write ---------------------------------------------------------------------------------

    def update(
        self,
        producer_id: int,
        epoch: int,
        last_sequence: int,
        first_offset: int,
        last_offset: int,
        timestamp_ms: int,
        *,
        transactional: bool = False,
    ) -> None:
        entry = self._producers.get(producer_id)
        if entry is None:
            entry = self._producers[producer_id] = ProducerEntry(producer_id)
        entry.add_batch(
            epoch, BatchInfo(last_sequence, last_offset, last_offset - first_offset, timestamp_ms)
        )
        if transactional:
            self.verifications.end(producer_id)
            if entry.transaction_first_offset == NO_OFFSET:
                entry.transaction_first_offset = first_offset
                self.transactions.begin(first_offset, producer_id)

    def update_marker(
        self,
        producer_id: int,
        epoch: int,
        coordinator_epoch: int,
        offset: int,
        timestamp_ms: int,
        *,
        aborted: bool,
    ) -> CompletedTransaction | None:
        """None if the transaction wrote nothing here: its marker changes nothing for readers."""
        entry = self._producers.get(producer_id)
        if entry is None:
            entry = self._producers[producer_id] = ProducerEntry(producer_id)
        first_offset = entry.transaction_first_offset
        entry.set_epoch(epoch)
        entry.coordinator_epoch = coordinator_epoch
        entry.last_timestamp_ms = timestamp_ms
        entry.transaction_first_offset = NO_OFFSET
        self.verifications.end(producer_id)
        if first_offset == NO_OFFSET:
            return None
        last_stable_offset = self.transactions.last_stable_offset_without(producer_id, offset + 1)
        return CompletedTransaction(producer_id, first_offset, offset, aborted, last_stable_offset)

    def complete(self, completed: CompletedTransaction) -> None:
        """The transaction is decided; it stays unstable until the high watermark passes its marker."""
        self.transactions.complete(completed)

    def on_high_watermark(self, high_watermark: int) -> None:
        self.transactions.replicated_up_to(high_watermark)

    # --- questions ---------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._producers)

    def entries(self) -> ValuesView[ProducerEntry]:
        return self._producers.values()

    def entry(self, producer_id: int) -> ProducerEntry | None:
        return self._producers.get(producer_id)

    @property
    def first_unstable_offset(self) -> int | None:
        return self.transactions.first_unstable_offset

    @property
    def first_undecided_offset(self) -> int | None:
        return self.transactions.first_undecided_offset

    def has_late_transaction(self, now_ms: int) -> bool:
        oldest = self.transactions.oldest_producer_id
        if oldest is None:
            return False
        started_ms = self._producers[oldest].last_timestamp_ms
        patience_ms = self.settings.transaction_timeout_ms_max + _LATE_TRANSACTION_BUFFER_MS
        return started_ms > 0 and now_ms - started_ms > patience_ms

    def last_records(self) -> dict[int, LastRecord]:
        return {
            entry.producer_id: LastRecord(entry.last_data_offset if entry.batches else None, entry.epoch)
            for entry in self._producers.values()
        }

    # --- forgetting and reloading ------------------------------------------------------------------------

    def remove_expired(self, now_ms: int) -> None:
        expired = [entry.producer_id for entry in self._producers.values() if self._expired(entry, now_ms)]
        for producer_id in expired:
            del self._producers[producer_id]
        self.verifications.expire(now_ms - self.settings.producer_id_expiration_ms)

    def _expired(self, entry: ProducerEntry, now_ms: int) -> bool:
        idle_ms = now_ms - entry.last_timestamp_ms
        return (
            entry.transaction_first_offset == NO_OFFSET and idle_ms >= self.settings.producer_id_expiration_ms
        )

    def take_snapshot(self, *, sync: bool = True) -> str | None:
        """Write the state as of `end_offset`; None if the last snapshot says the same."""
        if self.end_offset <= self._snapshot_offset:
            return None
        path = self.snapshots.write(self.end_offset, self._producers.values(), sync=sync)
        self._snapshot_offset = self.end_offset
        return path

    def truncate_and_reload(self, log_start_offset: int, log_end_offset: int, now_ms: int) -> None:
        """The log now spans [start, end]: forget everything outside. `end_offset` then says from where the
        log must be replayed."""
        outside = [at for at in self.snapshots.offsets if not log_start_offset < at <= log_end_offset]
        self.snapshots.remove_where(outside)
        if log_end_offset == self.end_offset:
            self.on_log_start_offset(log_start_offset)
            return
        self._clear()
        self._load_latest(log_start_offset, now_ms)

    def truncate_fully_and_start_at(self, offset: int) -> None:
        self._clear()
        self.snapshots.remove_where(self.snapshots.offsets)
        self._snapshot_offset = 0
        self.end_offset = offset

    def on_log_start_offset(self, log_start_offset: int) -> None:
        self.transactions.replicated_up_to(log_start_offset)
        self.end_offset = max(self.end_offset, log_start_offset)
        latest = self.snapshots.latest()
        self._snapshot_offset = log_start_offset if latest is None else latest

    def remove_stray_snapshots(self, segment_base_offsets: Collection[int]) -> None:
        self.snapshots.remove_strays(segment_base_offsets)

    def remove_snapshots_before(self, offset: int) -> None:
        self.snapshots.remove_where(at for at in self.snapshots.offsets if at < offset)

    def _clear(self) -> None:
        self._producers.clear()
        self.transactions.clear()

    def _load_latest(self, log_start_offset: int, now_ms: int) -> None:
        while (offset := self.snapshots.latest()) is not None:
            try:
                loaded = self.snapshots.read(offset)
            except (CorruptSnapshotError, FileNotFoundError) as problem:
                path = self.snapshots.path(offset)
                _logger.warning("Failed to load producer snapshot from '%s': %s", path, problem)
                self.snapshots.remove(offset)
                continue
            self._load([entry for entry in loaded if not self._expired(entry, now_ms)])
            self._snapshot_offset = self.end_offset = offset
            return
        self._snapshot_offset = self.end_offset = log_start_offset

    def _load(self, entries: list[ProducerEntry]) -> None:
        for entry in sorted(entries, key=lambda one: one.transaction_first_offset):
            self._producers[entry.producer_id] = entry
            if entry.transaction_first_offset != NO_OFFSET:
                self.transactions.begin(entry.transaction_first_offset, entry.producer_id)
