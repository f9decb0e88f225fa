"""One cleaning as data: what crosses to the child process and what comes back, a line of JSON each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TypeAlias

from barnabas.log.cleaning.choose import Candidate
from barnabas.log.producer_state import LastRecord

_MEGABYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class CleaningJob:
    """`segments` are the base offsets of everything before the first uncleanable offset, in order."""

    job_id: int
    partition: str
    directory: str
    segments: tuple[int, ...]
    first_dirty_offset: int
    first_uncleanable_offset: int
    now_ms: int
    delete_retention_ms: int
    segment_bytes: int
    segment_index_bytes: int
    index_interval_bytes: int
    dedupe_buffer_bytes: int = 128 * _MEGABYTE
    dedupe_buffer_load_factor: float = 0.9
    bytes_per_second_max: float = float("inf")
    batch_decompressed_bytes_max: int = 256 * _MEGABYTE
    # producer id, last data offset (-1: its last word was a marker), epoch
    producers: tuple[tuple[int, int, int], ...] = ()

    def to_line(self) -> bytes:
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> CleaningJob:
        fields = json.loads(line)
        fields["segments"] = tuple(fields["segments"])
        fields["producers"] = tuple((one[0], one[1], one[2]) for one in fields["producers"])
        return cls(**fields)


def job_for(
    candidate: Candidate,
    directory: str,
    last_records: Mapping[int, LastRecord],
    *,
    job_id: int,
    now_ms: int,
    dedupe_buffer_bytes: int = 128 * _MEGABYTE,
    dedupe_buffer_load_factor: float = 0.9,
    bytes_per_second_max: float = float("inf"),
) -> CleaningJob:
    """Producers whose last batch lies beyond the cleaned part have nothing there worth keeping."""
    log, end = candidate.log, candidate.first_uncleanable_offset
    return CleaningJob(
        job_id=job_id,
        partition=str(log.partition),
        directory=directory,
        segments=tuple(one.base_offset for one in log.segments if one.base_offset < end),
        first_dirty_offset=candidate.first_dirty_offset,
        first_uncleanable_offset=end,
        now_ms=now_ms,
        delete_retention_ms=log.settings.delete_retention_ms,
        segment_bytes=log.settings.segment_bytes,
        segment_index_bytes=log.settings.segment_index_bytes,
        index_interval_bytes=log.settings.index_interval_bytes,
        dedupe_buffer_bytes=dedupe_buffer_bytes,
        dedupe_buffer_load_factor=dedupe_buffer_load_factor,
        bytes_per_second_max=bytes_per_second_max,
        producers=tuple(
            (producer_id, -1 if last.last_data_offset is None else last.last_data_offset, last.epoch)
            for producer_id, last in last_records.items()
            if last.last_data_offset is None or last.last_data_offset < end
        ),
    )


@dataclass(frozen=True, slots=True)
class GroupCleaned:
    """`<base_offset>.*.cleaned` is durable and holds what is left of the old segments: swap it in."""

    job_id: int
    base_offset: int
    old_segments: tuple[int, ...]
    bytes_before: int
    bytes_after: int
    records_before: int
    records_after: int


@dataclass(frozen=True, slots=True)
class JobDone:
    """Everything before `end_offset` is clean: write it to the checkpoint. It is less than what was asked
    for when the keys did not fit into memory at once; the rest is found dirty next time."""

    job_id: int
    end_offset: int


@dataclass(frozen=True, slots=True)
class JobFailed:
    """The content cannot be cleaned (`uncleanable`), or the files changed under the work (try again), or
    the disk refused (`disk_error`: an errno; the log directory has a problem)."""

    job_id: int
    reason: str
    uncleanable: bool = False
    disk_error: int | None = None


Outcome: TypeAlias = GroupCleaned | JobDone | JobFailed

_KINDS: dict[str, type[GroupCleaned] | type[JobDone] | type[JobFailed]] = {
    "group": GroupCleaned,
    "done": JobDone,
    "failed": JobFailed,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def outcome_to_line(outcome: Outcome) -> bytes:
    return json.dumps({"kind": _NAMES[type(outcome)], **asdict(outcome)}).encode() + b"\n"


def outcome_from_line(line: bytes) -> Outcome:
    fields = json.loads(line)
    kind = _KINDS[fields.pop("kind")]
    if kind is GroupCleaned:
        fields["old_segments"] = tuple(fields["old_segments"])
    return kind(**fields)
