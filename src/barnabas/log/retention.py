"""Which segments have outlived their topic's retention. Pure decisions."""

from __future__ import annotations

from collections.abc import Callable

from barnabas.log import names
from barnabas.log.core import LogCore
from barnabas.log.segment import Segment

_Rule = Callable[[Segment, Segment | None], bool]


def expired(log: LogCore, now_ms: int) -> list[Segment]:
    """The oldest segments that may go now; all of them if the whole log has expired.

    Nothing at or above the high watermark goes, so the log start can never pass it.
    """
    rules: list[_Rule] = [_below_log_start(log)]
    if log.config.delete:
        rules += [_too_old(log, now_ms), _too_big(log)]
    return max((_prefix(log, rule) for rule in rules), key=len)


def _prefix(log: LogCore, rule: _Rule) -> list[Segment]:
    going: list[Segment] = []
    ordered = list(log.segments)
    for segment, following in zip(ordered, [*ordered[1:], None], strict=True):
        if following is None and segment.size == 0:
            break
        upper_offset = log.log_end_offset if following is None else following.base_offset
        if log.high_watermark < upper_offset or not rule(segment, following):
            break
        going.append(segment)
    return going


def _below_log_start(log: LogCore) -> _Rule:
    return lambda _segment, following: following is not None and following.base_offset <= log.log_start_offset


def _too_old(log: LogCore, now_ms: int) -> _Rule:
    retention_ms = log.config.retention_ms
    if retention_ms < 0:
        return _never
    return lambda segment, _following: now_ms - largest_timestamp(log, segment) > retention_ms


def largest_timestamp(log: LogCore, segment: Segment) -> int:
    """Records without time age with their file."""
    largest = segment.max_timestamp
    return largest if largest >= 0 else log.modified_ms(segment.path(names.LOG))


def _too_big(log: LogCore) -> _Rule:
    retention_bytes = log.config.retention_bytes
    excess = log.size - retention_bytes
    if retention_bytes < 0 or excess <= 0:
        return _never

    def rule(segment: Segment, _following: Segment | None) -> bool:
        nonlocal excess
        if excess - segment.size < 0:
            return False
        excess -= segment.size
        return True

    return rule


def _never(_segment: Segment, _following: Segment | None) -> bool:
    return False
