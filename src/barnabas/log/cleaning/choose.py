"""Which log to clean next, and how far. Pure: the log shows itself as a `LogView`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from barnabas.model.ids import TopicPartition

_LONG_MAX = 2**63 - 1


class SegmentView(Protocol):
    """Timestamps are asked for only when a lag is configured: they may cost a read."""

    @property
    def base_offset(self) -> int: ...

    @property
    def size(self) -> int: ...

    @property
    def first_timestamp(self) -> int: ...

    @property
    def max_timestamp(self) -> int: ...


@dataclass(frozen=True, slots=True)
class CompactionSettings:
    min_cleanable_dirty_ratio: float = 0.5
    min_compaction_lag_ms: int = 0
    max_compaction_lag_ms: int = _LONG_MAX
    delete_retention_ms: int = 86_400_000
    segment_bytes: int = 1 << 30
    segment_index_bytes: int = 10 << 20
    index_interval_bytes: int = 4096


@dataclass(frozen=True, slots=True)
class LogView:
    """A compacted log: its segments in order, the active one last."""

    partition: TopicPartition
    segments: Sequence[SegmentView]
    log_start_offset: int
    log_end_offset: int
    last_stable_offset: int
    last_clean_offset: int | None  # from the cleaner's checkpoint
    settings: CompactionSettings


@dataclass(frozen=True, slots=True)
class Candidate:
    """Dirty is [first_dirty_offset, first_uncleanable_offset); what lies before is rewritten along with it.
    `reset`: the checkpoint named an offset that the log does not have, so all of it counts as dirty."""

    log: LogView
    first_dirty_offset: int
    first_uncleanable_offset: int
    clean_bytes: int
    cleanable_bytes: int
    overdue: bool
    reset: bool

    @property
    def dirty_ratio(self) -> float:
        total = self.clean_bytes + self.cleanable_bytes
        return self.cleanable_bytes / total if total else 0.0

    @property
    def worth_cleaning(self) -> bool:
        if self.overdue and self.cleanable_bytes > 0:
            return True
        return self.dirty_ratio > self.log.settings.min_cleanable_dirty_ratio


def filthiest(logs: Iterable[LogView], now_ms: int) -> Candidate | None:
    worthy = [one for one in (examine(log, now_ms) for log in logs) if one.worth_cleaning]
    return max(worthy, key=lambda one: one.dirty_ratio, default=None)


def examine(log: LogView, now_ms: int) -> Candidate:
    first_dirty_offset, reset = _first_dirty_offset(log)
    dirty = _inactive_from(log, first_dirty_offset)
    barrier = max(first_dirty_offset, _barrier(log, dirty, now_ms))
    first_uncleanable_offset = _base_of_segment_holding(log, barrier)
    return Candidate(
        log,
        first_dirty_offset,
        first_uncleanable_offset,
        clean_bytes=sum(one.size for one in log.segments if one.base_offset < first_dirty_offset),
        cleanable_bytes=sum(one.size for one in dirty if one.base_offset < first_uncleanable_offset),
        overdue=_overdue(log.settings, dirty, now_ms),
        reset=reset,
    )


def _first_dirty_offset(log: LogView) -> tuple[int, bool]:
    last_clean_offset = log.last_clean_offset
    if last_clean_offset is None:
        return log.log_start_offset, False
    if not log.log_start_offset <= last_clean_offset <= log.log_end_offset:
        return log.log_start_offset, True
    return last_clean_offset, False


def _inactive_from(log: LogView, offset: int) -> Sequence[SegmentView]:
    """From the segment that holds `offset` up to the active one, which is never cleaned."""
    return [one for one, following in pairwise(log.segments) if following.base_offset > offset]


def _barrier(log: LogView, dirty: Sequence[SegmentView], now_ms: int) -> int:
    """The active segment, undecided transactions and records younger than the lag stay as they are."""
    barriers = [log.last_stable_offset, log.segments[-1].base_offset]
    lag_ms = log.settings.min_compaction_lag_ms
    if lag_ms > 0:
        young = (one.base_offset for one in dirty if one.max_timestamp > now_ms - lag_ms)
        barriers.extend(offset for offset in [next(young, None)] if offset is not None)
    return min(barriers)


def _base_of_segment_holding(log: LogView, offset: int) -> int:
    bases = [one.base_offset for one in log.segments]
    return max((base for base in bases if base <= offset), default=bases[0])


def _overdue(settings: CompactionSettings, dirty: Sequence[SegmentView], now_ms: int) -> bool:
    if settings.max_compaction_lag_ms >= _LONG_MAX:
        return False
    deadline_ms = now_ms - max(settings.max_compaction_lag_ms, 0)
    return any(0 < one.first_timestamp < deadline_ms for one in dirty)
