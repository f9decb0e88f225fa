"""Producer state from the log itself: the latest snapshot, then every batch after it."""

from __future__ import annotations

from collections.abc import Iterable

from barnabas.log.producer_state import ProducerStates
from barnabas.log.producers import note_producer
from barnabas.log.scan import walk
from barnabas.log.segment import Segment
from barnabas.log.segments import Segments
from barnabas.records.batch import NO_PRODUCER_ID


def rebuild_producers(
    states: ProducerStates, segments: Segments, log_start_offset: int, end_offset: int, now_ms: int
) -> None:
    """The state as of `end_offset`, with a snapshot of it on the disk."""
    known_empty = not len(states) and states.end_offset >= end_offset
    states.truncate_and_reload(log_start_offset, end_offset, now_ms)
    if end_offset > states.end_offset and not known_empty:
        _replay(states, segments.from_offset(states.end_offset), log_start_offset, end_offset)
    states.end_offset = end_offset
    states.take_snapshot(sync=False)


def _replay(
    states: ProducerStates, segments: Iterable[Segment], log_start_offset: int, end_offset: int
) -> None:
    for segment in segments:
        if segment.base_offset >= end_offset:
            return
        start_offset = max(segment.base_offset, states.end_offset, log_start_offset)
        states.end_offset = start_offset
        if segment.base_offset == start_offset:
            states.take_snapshot(sync=False)
        replay_segment(states, segment, start_offset, end_offset)


def replay_segment(states: ProducerStates, segment: Segment, start_offset: int, end_offset: int) -> None:
    found = segment.locate(start_offset)
    if found is None:
        return
    for position, header in walk(segment.file, found[0], segment.size):
        if header.base_offset >= end_offset:
            return
        if header.producer_id != NO_PRODUCER_ID:
            whole = segment.file.read(position, header.size) if header.is_control else b""
            completed = note_producer(states, whole, 0, header, header.base_offset, header.max_timestamp)
            if completed is not None:
                states.complete(completed)
        states.end_offset = header.next_offset
