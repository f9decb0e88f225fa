"""Producer state from the log itself: the latest snapshot, then every batch after it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from barnabas.log.producer_entry import BATCHES_REMEMBERED, BatchInfo
from barnabas.log.producer_state import ProducerStates
from barnabas.log.producers import note_producer
from barnabas.log.scan import walk
from barnabas.log.segment import Segment
from barnabas.log.segments import Segments
from barnabas.records.batch import NO_PRODUCER_ID

_RECENT_BYTES = 1 << 20  # a few producers' five batches; only the headers are looked at


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
    if len(states):
        _recall_recent(states, segments, end_offset)


def _recall_recent(states: ProducerStates, segments: Segments, end_offset: int) -> None:
    """A snapshot names each producer's last batch only, but a client may have five in flight when the broker
    dies, and repeats them all: the end of the log says which they were."""
    recent: dict[int, deque[BatchInfo]] = {}
    for segment, start in _tail(segments, end_offset):
        for _, header in walk(segment.file, start, segment.size):
            entry = None if header.producer_id == NO_PRODUCER_ID else states.entry(header.producer_id)
            if entry is None or header.is_control or header.producer_epoch != entry.epoch:
                continue
            if header.last_offset <= entry.last_data_offset:
                batches = recent.setdefault(entry.producer_id, deque(maxlen=BATCHES_REMEMBERED))
                batches.append(
                    BatchInfo(
                        header.last_sequence,
                        header.last_offset,
                        header.last_offset_delta,
                        header.max_timestamp,
                    )
                )
    for producer_id, batches in recent.items():
        entry = states.entry(producer_id)
        if entry is not None and batches[-1].last_offset == entry.last_data_offset:
            entry.batches = batches


def _tail(segments: Segments, end_offset: int) -> list[tuple[Segment, int]]:
    """Segments and where to begin in them, so that the last `_RECENT_BYTES` before the offset are seen."""
    tail: list[tuple[Segment, int]] = []
    wanted = _RECENT_BYTES
    for segment in reversed([each for each in segments if each.base_offset < end_offset]):
        if wanted <= 0:
            break
        tail.insert(0, (segment, segment.offset_index.batch_before(segment.size - wanted)))
        wanted -= segment.size
    return tail


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
