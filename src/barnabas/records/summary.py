"""What a leader wants to know of all records of a batch at once, without an object for each of them."""

from __future__ import annotations

from typing import NamedTuple

from barnabas.records.arrow import native
from barnabas.records.batch import BatchHeader


class Summary(NamedTuple):
    earliest_delta: int  # of the timestamps
    latest_delta: int
    without_key: int


def summarise(payload: bytes, header: BatchHeader) -> Summary | None:
    """None if the records are not sound, or there are none, or nobody can tell so quickly: whoever walks
    through them finds out.

    The C of it lets other threads run. Twenty milliseconds of Python for a megabyte of small records would
    hold everybody up, on whichever thread.
    """
    if native.summarise is None:
        return None
    found = native.summarise(payload, header.count, header.last_offset_delta)
    return None if found is None else Summary(*found)
