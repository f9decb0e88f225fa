"""What a log answers."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from barnabas.ports import FileSlice

# What `hot.plain_batch` says of a batch in a request: where it begins and ends, its checksum, last offset
# delta, largest timestamp and producer id.
PlainBatch: TypeAlias = tuple[int, int, int, int, int, int]


class Appended(NamedTuple):
    first_offset: int
    last_offset: int
    log_append_time_ms: int  # -1 unless the topic stamps LogAppendTime (or the batch was a duplicate)
    log_start_offset: int
    duplicate: bool = False
    size: int = 0

    @property
    def records(self) -> int:
        return self.last_offset - self.first_offset + 1


class OffsetMetadata(NamedTuple):
    """Where an offset lies: enough to count bytes between two of them without reading."""

    offset: int
    segment_base_offset: int
    position: int


class Read(NamedTuple):
    slice: FileSlice | None
    offset: int = -1  # that was asked for
    segment_base_offset: int = -1  # of the segment that holds the slice
    first_batch_incomplete: bool = False  # it exceeds max_bytes, and not even one batch was demanded


NOTHING = Read(None)


class TimestampOffset(NamedTuple):
    timestamp: int
    offset: int
    leader_epoch: int


class Doomed(NamedTuple):
    """A file, already renamed out of the way, that its owner removes when `due_ms` comes."""

    path: str
    due_ms: int
