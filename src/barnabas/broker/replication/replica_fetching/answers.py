"""What a leader answered about one partition, carried out; and how to go on with it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from enum import Enum

from barnabas.broker.replication.following import CutLaterError
from barnabas.broker.replication.replica_fetching.followed import NO_EPOCH, Followed
from barnabas.log.checks import UnexpectedOffsetError
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.protocol.messages.fetch import PartitionData
from barnabas.records.errors import RecordsError
from barnabas.replication.follower_session import Asked

# Said while not every broker knows the same leader; the image puts it right within moments.
_SOON_OVER = frozenset({
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.UNKNOWN_LEADER_EPOCH,
    ErrorCode.UNKNOWN_TOPIC_ID,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
})  # fmt: skip


class Verdict(Enum):
    GO_ON = "ask for what comes next"
    PAUSE = "ask again later"
    SEARCH = "ask which offsets the leader has"
    STOP = "our disk has failed"


def take(followed: Followed, asked: Asked, data: PartitionData) -> Verdict:
    """`asked` is what the leader answers to: what has become of the partition meanwhile decides whether that
    is of use."""
    if asked.leader_epoch != followed.leader_epoch or not followed.is_current:
        return Verdict.GO_ON
    position = followed.partition.fetch_position
    if position is None or position[0] != asked.fetch_offset:
        return Verdict.GO_ON
    if data.error_code == ErrorCode.NONE:
        return _attempt(followed, lambda: _carry_out(followed, data))
    if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
        return Verdict.SEARCH
    level = logging.INFO if data.error_code in _SOON_OVER else logging.WARNING
    followed.complain(level, f"the leader answers {_name(data.error_code)} in epoch {followed.leader_epoch}")
    return Verdict.PAUSE


def _carry_out(followed: Followed, data: PartitionData) -> None:
    partition, records = followed.partition, data.records
    diverging = data.diverging_epoch
    if diverging is not None and diverging.end_offset >= 0:
        partition.diverged(diverging.epoch, diverging.end_offset)
        return
    if records:
        assert isinstance(records, memoryview)  # of the answer's frame: nothing is copied on the way
        partition.append_as_follower(records, 0, len(records))
    partition.heard_from_leader(data.high_watermark, data.log_start_offset)
    log = partition.log
    followed.is_in_sync = log is not None and log.log_end_offset >= data.high_watermark


def go_on_within(followed: Followed, start_offset: int, end_offset: int) -> Verdict:
    """The leader's log begins and ends there, and has nothing at our end: after an unclean election it may
    end before ours does; or it begins behind our end, since retention went on without us."""
    log = followed.partition.log
    if log is None:
        return Verdict.STOP
    if end_offset < log.log_end_offset:
        return _attempt(followed, lambda: followed.partition.diverged(NO_EPOCH, end_offset))
    if start_offset > log.log_end_offset:
        return _attempt(followed, lambda: followed.partition.start_over_at(start_offset))
    followed.complain(logging.WARNING, f"the leader has nothing at {log.log_end_offset}, and says it does")
    return Verdict.PAUSE


def _attempt(followed: Followed, change: Callable[[], None]) -> Verdict:
    """Change the log. Bytes that are no records may have been damaged on the way, so they are asked for once
    more; if they are the same again, the leader's disk is to blame, and nothing of it gets in here."""
    try:
        change()
    except CutLaterError:
        return Verdict.PAUSE
    except (RecordsError, UnexpectedOffsetError) as error:
        followed.complain(logging.ERROR, f"what the leader sent is not appended: {error}")
        return Verdict.PAUSE
    except ApiError as error:
        if followed.partition.log is None:
            return Verdict.STOP
        followed.complain(logging.ERROR, f"what the leader sent is not appended: {error}")
        return Verdict.PAUSE
    followed.went_well()
    return Verdict.GO_ON


def _name(code: int) -> str:
    try:
        return ErrorCode(code).name
    except ValueError:
        return f"error {code}"
