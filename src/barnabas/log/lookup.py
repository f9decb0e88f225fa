"""Finding records by their timestamp: exact, so the one batch that matters is walked."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.log.results import TimestampOffset
from barnabas.log.segment import NO_TIMESTAMP, Segment
from barnabas.log.segments import Segments
from barnabas.records.batch import BatchHeader
from barnabas.records.errors import RecordsError
from barnabas.records.walk import walk_keys

# What one batch may unfold to before the search gives up on its inside and answers for the batch as a whole.
_UNFOLDED_BYTES_MAX = 100 * 1024 * 1024


def first_at_or_after(segments: Segments, timestamp: int, start_offset: int) -> TimestampOffset | None:
    """The first record, from `start_offset` on, whose timestamp is at least the one asked for."""
    for segment in segments:
        if segment.max_timestamp >= timestamp:
            found = _search(segment, timestamp, start_offset)
            if found is not None:
                return found
    return None


def _search(segment: Segment, timestamp: int, start_offset: int) -> TimestampOffset | None:
    indexed = segment.time_index.floor_offset(timestamp)
    from_relative = max(indexed, start_offset - segment.base_offset)
    for at, header in segment.walk_from(from_relative):
        if header.max_timestamp >= timestamp and header.last_offset >= start_offset:
            for offset, when in _timestamps(segment, at, header):
                if when >= timestamp and offset >= start_offset:
                    return TimestampOffset(when, offset, header.leader_epoch)
    return None


def largest(segments: Segments) -> TimestampOffset | None:
    """The record with the largest timestamp, the earliest of them if there are several (KIP-734)."""
    best: Segment | None = None
    for segment in segments:
        if segment.max_timestamp > (NO_TIMESTAMP if best is None else best.max_timestamp):
            best = segment
    if best is None:
        return None
    for at, header in best.walk_from(best.max_timestamp_offset - best.base_offset):
        if header.max_timestamp == best.max_timestamp:
            for offset, when in _timestamps(best, at, header):
                if when == header.max_timestamp:
                    return TimestampOffset(when, offset, header.leader_epoch)
    return None


def _timestamps(segment: Segment, position: int, header: BatchHeader) -> Iterator[tuple[int, int]]:
    """(offset, timestamp) of each record. A batch that contradicts itself answers as one record."""
    whole = segment.file.read(position, header.size)
    try:
        for record in walk_keys(whole, 0, header, _UNFOLDED_BYTES_MAX):
            yield record.offset, record.timestamp
    except RecordsError:
        yield header.base_offset, header.max_timestamp
