"""Appending what a leader sent: its bytes as they are, after a look at what a leader cannot get wrong unless
something broke on the way. One pass over the headers, one write per segment."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.log.checks import Batches, UnexpectedOffsetError
from barnabas.records.batch import LOG_OVERHEAD, check_crc, crc_matches, headers


def continuing_batches(view: memoryview, start: int, end: int, log_end_offset: int) -> Batches:
    """Every whole batch with its position: sound, and behind the one before. A cut one at the end is left
    out; nothing counts if one of them is wrong."""
    batches: Batches = []
    expected = log_end_offset
    for position, header in headers(view, start, end):
        if not crc_matches(view, position, header):
            check_crc(view, position, header)  # says what is wrong
        base_offset, last_offset_delta = header[0], header[6]
        if base_offset < expected or last_offset_delta < 0:
            raise UnexpectedOffsetError(expected, base_offset, base_offset + last_offset_delta)
        expected = base_offset + last_offset_delta + 1
        batches.append((position, header))
    return batches


def fitting(batches: Batches, segment_bytes: int) -> Iterator[Batches]:
    """In runs that fit into a segment. One that is larger was written when the limit was another, and stands
    alone."""
    first_at = batches[0][0]
    last_at, last = batches[-1]
    if last_at + last[1] + LOG_OVERHEAD - first_at <= segment_bytes:
        yield batches
        return
    run: Batches = []
    for position, header in batches:
        if run and position + header[1] + LOG_OVERHEAD - run[0][0] > segment_bytes:
            yield run
            run = []
        run.append((position, header))
    yield run
