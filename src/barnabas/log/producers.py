"""Between batches and `ProducerStates`: the same steps for an append, a replica's append and a replay."""

from __future__ import annotations

from barnabas.log.open_transactions import CompletedTransaction
from barnabas.log.producer_entry import Duplicate, Origin
from barnabas.log.producer_state import ProducerStates
from barnabas.log.verification import Guard
from barnabas.ports import Buffer
from barnabas.records.batch import CONTROL_MASK, TRANSACTIONAL_MASK, BatchHeader
from barnabas.records.control import EndTransactionMarker, parse_control, plain_marker
from barnabas.records.errors import MalformedRecordsError
from barnabas.records.walk import records_of

_MARKER_BYTES_MAX = 4096


def marker_of(buffer: Buffer, position: int, header: BatchHeader) -> EndTransactionMarker | None:
    """The marker in a control batch; None for other controls and for a batch that compaction has emptied."""
    plain = plain_marker(buffer, position, header)
    if plain is not None:
        return plain
    for record in records_of(buffer, position, header, _MARKER_BYTES_MAX):
        control = parse_control(record)
        return control if isinstance(control, EndTransactionMarker) else None
    return None


def check_producer(
    states: ProducerStates,
    buffer: Buffer,
    position: int,
    header: BatchHeader,
    *,
    offset: int,
    origin: Origin,
    guard: Guard | None,
    transaction_version: int,
) -> Duplicate | None:
    """ApiError unless this batch may follow what its producer wrote; the earlier one if it is a repeat."""
    if header[5] & CONTROL_MASK:
        marker = marker_of(buffer, position, header)
        if marker is not None:
            states.check_marker(
                header.producer_id,
                header.producer_epoch,
                marker.coordinator_epoch,
                offset=offset,
                transaction_version=transaction_version,
                origin=origin,
            )
        return None
    outcome = states.check(
        header[9],
        header[10],
        header[11],
        header.last_sequence,
        offset=offset,
        transactional=bool(header[5] & TRANSACTIONAL_MASK),
        origin=origin,
        guard=guard,
    )
    return outcome if isinstance(outcome, Duplicate) else None


def note_producer(
    states: ProducerStates,
    buffer: Buffer,
    position: int,
    header: BatchHeader,
    base_offset: int,
    timestamp_ms: int,
) -> CompletedTransaction | None:
    """Remember a written batch. A transaction it ends must go to the index before `states.complete`."""
    if not header[5] & CONTROL_MASK:
        states.update(
            header[9],
            header[10],
            header.last_sequence,
            base_offset,
            base_offset + header[6],
            timestamp_ms,
            transactional=bool(header[5] & TRANSACTIONAL_MASK),
        )
        return None
    try:
        marker = marker_of(buffer, position, header)
    except MalformedRecordsError:
        return None  # replayed from a file whose checksum was right: nothing to learn from it
    if marker is None:
        return None
    return states.update_marker(
        header.producer_id,
        header.producer_epoch,
        marker.coordinator_epoch,
        base_offset,
        timestamp_ms,
        aborted=not marker.committed,
    )
