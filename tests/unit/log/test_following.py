"""What a follower notes of many batches at once is what it would note of each."""

from __future__ import annotations

import pytest

from barnabas.log.config import LogConfig
from barnabas.log.open_files import OpenFiles
from barnabas.log.segment import Segment
from barnabas.sim.disk import SimulatedDisk


def segment() -> Segment:
    disk = SimulatedDisk()
    disk.make_directories("/log")
    made = Segment.create(OpenFiles(disk, 10), "/log", 100, LogConfig(), 0)
    made.index_interval_bytes = 1000
    return made


def state(made: Segment) -> tuple[object, ...]:
    index, times = made.offset_index, made.time_index
    return (
        made.size,
        made.max_timestamp,
        made.max_timestamp_offset,
        made.first_timestamp,
        made.bytes_since_index_entry,
        list(index.offsets),
        list(index.positions),
        [index.known_batch(entry, offset) for entry, offset in enumerate(index.offsets)],
        list(times.timestamps),
        list(times.offsets),
        made.recent_offsets[-400:],
        made.recent_positions[-400:],
    )


@pytest.mark.parametrize("sizes", [[300], [300, 2000, 100], [61 + step % 700 for step in range(3000)]])
def test_many_batches_are_noted_as_one_by_one(sizes: list[int]) -> None:
    notes = []
    offset = 99
    for number, size in enumerate(sizes):
        offset += 1 + number % 3
        notes.append((offset, 5_000 + (number * 37) % 101, size))
    together, apart = segment(), segment()
    for made in (together, apart):
        made.note(100, 4_990, 500)
    together.note_all(notes)
    for note in notes:
        apart.note(*note)
    assert state(together) == state(apart)
