"""Re-reading a segment whose end nobody vouches for: every batch is checked, the first bad byte ends it."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from barnabas.log import names
from barnabas.log.leader_epochs import LeaderEpochs
from barnabas.log.producer_state import ProducerStates
from barnabas.log.producers import note_producer
from barnabas.log.segment import RELATIVE_OFFSET_MAX, Segment
from barnabas.log.transaction_index import AbortedTransaction
from barnabas.ports import File
from barnabas.records.batch import HEADER_SIZE, LOG_OVERHEAD, MAGIC, BatchHeader, crc_matches, read_header

_LOG = logging.getLogger(__name__)

_CHUNK_BYTES = 256 * 1024


def recover_segment(segment: Segment, producers: ProducerStates, leader_epochs: LeaderEpochs) -> int:
    """Rebuild the indexes and producer state from the batches, cut what is not sound. Returns the bytes cut.

    `producers` stands at the segment's base offset and ends at its end.
    """
    segment.reset_indexes()
    segment.transaction_index.reset()
    producers.end_offset = max(producers.end_offset, segment.base_offset)
    valid_bytes = 0
    for chunk, at, position, header in _sound_batches(segment):
        segment.index_batch(position, header)
        if header.leader_epoch >= 0:
            leader_epochs.found(header.leader_epoch, header.base_offset)
        if header.has_producer_id:
            _note(segment, producers, chunk, at, header)
        producers.end_offset = header.next_offset
        valid_bytes = position + header.size
    cut = segment.size - valid_bytes
    if cut:
        _LOG.warning(
            "Found invalid messages in log segment %s at byte offset %d: cutting %d bytes.",
            segment.path(names.LOG),
            valid_bytes,
            cut,
        )
        segment.cut_bytes(valid_bytes)
    segment.seal()
    return cut


def _note(
    segment: Segment, producers: ProducerStates, chunk: memoryview, at: int, header: BatchHeader
) -> None:
    completed = note_producer(producers, chunk, at, header, header.base_offset, header.max_timestamp)
    if completed is None:
        return
    if completed.aborted:
        segment.transaction_index.append(
            AbortedTransaction(
                completed.producer_id,
                completed.first_offset,
                completed.last_offset,
                completed.last_stable_offset,
            )
        )
    producers.complete(completed)


def _sound_batches(segment: Segment) -> Iterator[tuple[memoryview, int, int, BatchHeader]]:
    """(chunk, place in the chunk, place in the file, header) of each batch until the first unsound one."""
    position = 0
    expected = segment.base_offset
    limit = segment.base_offset + RELATIVE_OFFSET_MAX
    chunk, chunk_start = memoryview(b""), 0
    while position + HEADER_SIZE <= segment.size:
        at = position - chunk_start
        size = _size_at(chunk, at)
        if at + max(size, HEADER_SIZE) > len(chunk):
            chunk, chunk_start = _read(segment.file, position, segment.size, size), position
            at = 0
            size = _size_at(chunk, 0)
            if size > len(chunk):
                chunk = _read(segment.file, position, segment.size, size)
        if not HEADER_SIZE <= size <= len(chunk) - at:
            return
        header = read_header(chunk, at)
        if header.magic != MAGIC or header.last_offset_delta < 0:
            return
        if not expected <= header.base_offset or header.last_offset > limit:
            return
        if not crc_matches(chunk, at, header):
            return
        yield chunk, at, position, header
        expected = header.next_offset
        position += size


def _size_at(chunk: memoryview, at: int) -> int:
    """Size of the batch that begins there; 0 if its length is not in the chunk."""
    if at + LOG_OVERHEAD > len(chunk):
        return 0
    return LOG_OVERHEAD + int.from_bytes(chunk[at + 8 : at + LOG_OVERHEAD], "big", signed=True)


def _read(file: File, position: int, end: int, size: int) -> memoryview:
    # `size` comes from the file and may be garbage; the file's own end bounds it.
    return memoryview(file.read(position, min(max(_CHUNK_BYTES, size), end - position)))
