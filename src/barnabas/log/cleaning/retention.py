"""What stays of one batch.

A batch out of which nothing goes is copied as it is. Else its records are filtered; its offsets, sequences
and codec stay. A batch that becomes empty stays as a bare header if it is the last word of an active producer
(whose next sequence must be known) or the last batch of the round (so that no offset is used twice).

Tombstones and markers get a delete horizon when first met; it takes the base timestamp's place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from barnabas.log.cleaning.offset_map import OffsetMap
from barnabas.log.cleaning.transactions import CleanedTransactions
from barnabas.log.transaction_index import AbortedTransaction
from barnabas.ports import Buffer
from barnabas.records.batch import (
    CODEC_MASK,
    DELETE_HORIZON_MASK,
    LOG_APPEND_TIME,
    NO_TIMESTAMP,
    BatchHeader,
)
from barnabas.records.build import build_batch, pack_batch
from barnabas.records.errors import MalformedRecordsError
from barnabas.records.varint import INT64_MAX, INT64_MIN
from barnabas.records.walk import Fields, payload_of, records_of, walk_fields

# Places in walk_fields' tuples.
_TIMESTAMP_DELTA, _OFFSET_DELTA, _VALUE_START = 2, 3, 6


class Rules(NamedTuple):
    offsets: OffsetMap
    end_offset: int  # of the round
    now_ms: int
    delete_retention_ms: int
    decompressed_bytes_max: int
    producers: Mapping[int, tuple[int, int]]  # id → (last data offset or -1, epoch)


class Kept(NamedTuple):
    """The bytes to write (empty: nothing), their largest timestamp, and the aborted transaction that the
    new index must still name."""

    data: Buffer
    records: int
    max_timestamp_ms: int
    aborted: AbortedTransaction | None = None


_NOTHING = Kept(b"", 0, NO_TIMESTAMP)


def keep(data: bytes, header: BatchHeader, transactions: CleanedTransactions, rules: Rules) -> Kept:
    """`data` is the whole batch; its checksum was found right."""
    must_stay = _last_of_its_producer(header, rules) or header.next_offset == rules.end_offset
    if header.is_control:
        return _keep_control(data, header, transactions, rules, must_stay)
    if transactions.meet_data(header):
        return _empty(header) if must_stay else _NOTHING
    kept = _keep_data(data, header, rules)
    return _empty(header) if kept is _NOTHING and must_stay else kept


def _last_of_its_producer(header: BatchHeader, rules: Rules) -> bool:
    known = rules.producers.get(header.producer_id) if header.has_producer_id else None
    if known is None:
        return False
    last_data_offset, epoch = known
    if last_data_offset >= 0:
        return header.last_offset == last_data_offset
    return header.is_control and header.producer_epoch == epoch


def _keep_control(
    data: bytes, header: BatchHeader, transactions: CleanedTransactions, rules: Rules, must_stay: bool
) -> Kept:
    unneeded, aborted = transactions.meet_control(data, header)
    horizon_ms = header.delete_horizon_ms
    if not unneeded or (horizon_ms is not None and rules.now_ms < horizon_ms):
        return Kept(data, header.count, header.max_timestamp, aborted)
    if horizon_ms is None and header.count:
        return _with_horizon(data, header, None, rules)
    return _empty(header) if must_stay else _NOTHING


def _keep_data(data: bytes, header: BatchHeader, rules: Rules) -> Kept:
    payload = payload_of(data, 0, header, rules.decompressed_bytes_max)
    horizon_ms = header.delete_horizon_ms
    tombstones_stay = horizon_ms is None or rules.now_ms < horizon_ms
    kept = _surviving(payload, header, rules.offsets, tombstones_stay)
    if not kept:
        return _NOTHING
    if horizon_ms is None and any(fields[_VALUE_START] < 0 for fields in kept):
        offsets = {header.base_offset + fields[_OFFSET_DELTA] for fields in kept}
        return _with_horizon(data, header, offsets, rules)
    if len(kept) == header.count:
        return Kept(data, header.count, header.max_timestamp)
    return _filtered(payload, header, kept)


def _surviving(
    payload: bytes, header: BatchHeader, offsets: OffsetMap, tombstones_stay: bool
) -> list[Fields]:
    """The innermost loop of compaction: plain fields, no objects."""
    base_offset, seen_up_to = header.base_offset, offsets.latest_offset
    kept = []
    for fields in walk_fields(payload, header.count, header.last_offset_delta):
        _, _, _, offset_delta, key_start, key_end, value_start, _ = fields
        offset = base_offset + offset_delta
        if offset > seen_up_to or (
            key_start >= 0
            and (value_start >= 0 or tombstones_stay)
            and offset >= offsets.get(payload[key_start:key_end])
        ):
            kept.append(fields)
    return kept


def _filtered(payload: bytes, header: BatchHeader, kept: list[Fields]) -> Kept:
    """The records' own bytes stay: their deltas are against bases that do not change."""
    content = b"".join([payload[start:end] for start, end, *_ in kept])
    max_timestamp_ms = header.max_timestamp
    if not header.is_log_append_time:
        max_timestamp_ms = header.base_timestamp + max(fields[_TIMESTAMP_DELTA] for fields in kept)
        _check_int64(max_timestamp_ms)
    changed = header._replace(count=len(kept), max_timestamp=max_timestamp_ms)
    return Kept(pack_batch(changed, content, header.codec), len(kept), max_timestamp_ms)


def _with_horizon(data: bytes, header: BatchHeader, offsets: set[int] | None, rules: Rules) -> Kept:
    """Write the batch anew, its timestamps now relative to the delete horizon."""
    records = [
        record
        for record in records_of(data, 0, header, rules.decompressed_bytes_max)
        if offsets is None or record.offset in offsets
    ]
    horizon_ms = rules.now_ms + rules.delete_retention_ms
    _check_int64(min(record.timestamp for record in records) - horizon_ms)
    append_time = header.is_log_append_time
    max_timestamp_ms = header.max_timestamp if append_time else max(record.timestamp for record in records)
    batch = build_batch(
        records,
        base_offset=header.base_offset,
        codec=header.codec,
        timestamp_type=LOG_APPEND_TIME if append_time else 0,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        transactional=header.is_transactional,
        control=header.is_control,
        leader_epoch=header.leader_epoch,
        delete_horizon=horizon_ms,
        last_offset_delta=header.last_offset_delta,
        max_timestamp=max_timestamp_ms,
    )
    return Kept(batch, len(records), max_timestamp_ms)


def _check_int64(number: int) -> None:
    if not INT64_MIN <= number <= INT64_MAX:
        raise MalformedRecordsError(
            f"A record's timestamp leads to {number}, which does not fit into 64 bits"
        )


def _empty(header: BatchHeader) -> Kept:
    attributes = header.attributes & ~(CODEC_MASK | DELETE_HORIZON_MASK)
    bare = header._replace(count=0, base_timestamp=NO_TIMESTAMP, attributes=attributes)
    return Kept(pack_batch(bare, b"", 0), 0, header.max_timestamp)
