"""Where the fields of every record lie: one step in Python per record, for its length; the rest in columns.

As strict as `records/walk.py`, which says what a record looks like.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from barnabas.ports import Buffer
from barnabas.records.arrow.selection import Region
from barnabas.records.arrow.varints import Bytes, Ints, read_varints, read_varlongs
from barnabas.records.errors import MalformedRecordsError
from barnabas.records.varint import read_varint


class Fields(NamedTuple):
    """One entry per record; a length of -1 is null. Positions are those of the data that was walked."""

    timestamp_delta: Ints
    offset_delta: Ints
    key_start: Ints
    key_length: Ints
    value_start: Ints
    value_length: Ints
    headers_start: Ints  # of their count
    end: Ints


def find_fields(data: Buffer, regions: Sequence[Region]) -> Fields:
    array = np.frombuffer(data, np.uint8)
    starts, ends = _records(data, regions)
    _, position = read_varints(array, starts, ends)
    position += 1  # attributes: unused
    timestamp_delta, position = read_varlongs(array, position, ends)
    offset_delta, position = read_varints(array, position, ends)
    key_length, key_start = read_varints(array, position, ends)
    value_length, value_start = read_varints(array, key_start + np.maximum(key_length, 0), ends)
    headers_start = value_start + np.maximum(value_length, 0)
    _check_headers(array, headers_start, ends)
    _check_deltas(offset_delta, regions)
    return Fields(
        timestamp_delta, offset_delta, key_start, key_length, value_start, value_length, headers_start, ends
    )


def _records(data: Buffer, regions: Sequence[Region]) -> tuple[Ints, Ints]:
    """Start (of its length) and end of every record."""
    # Bytes are indexed faster than any view on them, by more than their copy costs.
    content = bytes(data)
    starts: list[int] = []
    ends: list[int] = []
    for start, end, header in regions:
        _walk_lengths(content, start, end, header.count, starts)
        ends += starts[len(ends) + 1 :]
        if header.count:
            ends.append(end)
    return np.array(starts, np.int64), np.array(ends, np.int64)


def _walk_lengths(content: bytes, at: int, end: int, count: int, starts: list[int]) -> None:
    append = starts.append
    try:
        for _ in range(count):
            append(at)
            byte = content[at]
            if byte & 1:  # zigzag: a negative length
                raise MalformedRecordsError("A record has a negative size")
            if byte < 0x80:
                at += 1 + (byte >> 1)
            elif (second := content[at + 1]) < 0x80:
                at += 2 + ((byte & 0x7F | second << 7) >> 1)
            else:
                length, at = read_varint(content, at)
                at += length
    except IndexError:
        at = end + 1
    if at != end:
        raise MalformedRecordsError("Incorrect declared batch size: its records do not fill it exactly")


def _check_deltas(deltas: Ints, regions: Sequence[Region]) -> None:
    """Offsets rise inside a batch, and do not pass its last one."""
    counts = np.array([region.header.count for region in regions], np.int64)
    last_deltas = np.repeat([region.header.last_offset_delta for region in regions], counts)
    previous = np.empty_like(deltas)
    previous[1:] = deltas[:-1]
    firsts = np.cumsum(counts) - counts
    previous[firsts[counts > 0]] = -1
    if ((deltas <= previous) | (deltas > last_deltas)).any():
        raise MalformedRecordsError("The offset deltas of a batch do not rise up to its last one")


# --- headers ---------------------------------------------------------------------------------------------

_FEW = 16  # records that are still walked one by one, when the others have no more headers


def _check_headers(data: Bytes, positions: Ints, ends: Ints) -> None:
    counts, positions = read_varints(data, positions, ends)
    if (counts < 0).any() or (counts > ends - positions).any():
        raise MalformedRecordsError("A record has an impossible number of headers")
    active = np.flatnonzero(counts)
    done = 0
    while active.size > _FEW:
        positions[active] = _skip_headers(data, positions[active], ends[active])
        done += 1
        active = active[counts[active] > done]
    for record in active.tolist():
        positions[record] = _skip_all(
            data, int(positions[record]), int(ends[record]), int(counts[record]) - done
        )
    if (positions != ends).any():
        raise MalformedRecordsError("Invalid record size: its fields do not end where the record does")


def _skip_headers(data: Bytes, positions: Ints, ends: Ints) -> Ints:
    """Behind the next header of each of these records."""
    length, position = read_varints(data, positions, ends)
    if (length < 0).any():
        raise _negative_key()
    length, position = read_varints(data, position + length, ends)
    return position + np.maximum(length, 0)


def _skip_all(data: Bytes, position: int, end: int, count: int) -> int:
    content = data[:end].data
    try:
        for _ in range(count):
            length, position = read_varint(content, position)
            if length < 0:
                raise _negative_key()
            length, position = read_varint(content, position + length)
            position += max(length, 0)
    except IndexError:
        raise MalformedRecordsError("A record ends within its headers") from None
    return position


def _negative_key() -> MalformedRecordsError:
    return MalformedRecordsError("A header's key has a negative size")
