"""Making a log shorter: from the front by retention and DeleteRecords, from the end by truncation."""

from __future__ import annotations

import logging

from barnabas.log import retention
from barnabas.log.core import LogCore
from barnabas.log.replay import rebuild_producers
from barnabas.model.errors import ApiError, ErrorCode

_LOG = logging.getLogger(__name__)


def advance_log_start(log: LogCore, offset: int) -> bool:
    """Records below the offset are gone for every reader; the files follow at the next retention check."""
    if offset > log.high_watermark:
        raise ApiError(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"Cannot increment the log start offset to {offset} of partition {log.topic_partition} since it "
            f"is larger than the high watermark {log.high_watermark}",
        )
    if offset <= log.log_start_offset:
        return False
    log.log_start_offset = offset
    log.leader_epochs.truncate_from_start(offset)
    log.producers.on_log_start_offset(offset)
    return True


def delete_old_segments(log: LogCore, now_ms: int) -> int:
    going = retention.expired(log, now_ms)
    if not going:
        return 0
    if len(going) == len(log.segments):
        log.roll(now_ms)  # a log always has an active segment
    _LOG.info("Deleting %d old segments of %s", len(going), log.topic_partition)
    log.doom(going, now_ms)
    advance_log_start(log, log.segments.first.base_offset)
    return len(going)


def truncate_to(log: LogCore, offset: int, now_ms: int) -> bool:
    """Forget everything at or past the offset. False if there was nothing."""
    if offset >= log.log_end_offset:
        # A conflicting epoch entry may sit at the very end even when no record does.
        log.leader_epochs.truncate_from_end(offset)
        return False
    if log.segments.first.base_offset > offset:
        truncate_fully_and_start_at(log, offset, now_ms)
        return True
    going = [segment for segment in log.segments if segment.base_offset > offset]
    log.doom(going, now_ms)
    log.active = log.segments.last
    log.active.truncate_to(offset)
    if going:
        log.active.cut_waits = True
    log.log_end_offset = offset
    log.leader_epochs.truncate_from_end(offset)
    log.leader_epochs.flush()
    log.disown_flushes(offset)
    log.log_start_offset = min(log.log_start_offset, offset)
    rebuild_producers(log.producers, log.segments, log.log_start_offset, offset, now_ms)
    log.update_high_watermark(log.high_watermark)
    return True


def truncate_fully_and_start_at(
    log: LogCore, offset: int, now_ms: int, log_start_offset: int | None = None
) -> None:
    """An empty log whose next record gets `offset`."""
    log.doom(log.segments, now_ms)
    log.log_end_offset = offset
    log.log_start_offset = offset if log_start_offset is None else log_start_offset
    log.begin_at(offset, now_ms)
    log.disown_flushes(offset)
    log.leader_epochs.clear()
    log.leader_epochs.flush()
    log.producers.truncate_fully_and_start_at(offset)
    log.update_high_watermark(log.log_start_offset)
