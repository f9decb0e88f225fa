"""Where a follower cuts its log when its leader's differs (KIP-101, KIP-279, KIP-595)."""

from __future__ import annotations

from typing import NamedTuple


class EpochEnd(NamedTuple):
    """An epoch and the offset at which it ended in somebody's log; -1 where that is not known."""

    epoch: int
    end_offset: int


def cut_offset(leader: EpochEnd, own: EpochEnd, log_end_offset: int, high_watermark: int) -> int:
    """`leader`: the largest epoch not above our last one that the leader knows, and where that ended there.
    `own`: the same of that epoch in our log. From the answer on, our log holds nothing that is ours alone; if
    it lacks the leader's epoch, the next fetch may find that it must be cut once more."""
    if leader.end_offset < 0:
        return min(high_watermark, log_end_offset)  # it cannot tell: what is committed is the same everywhere
    if leader.epoch < 0 or own.epoch < 0:
        return min(leader.end_offset, log_end_offset)
    if own.epoch != leader.epoch:
        return min(own.end_offset, log_end_offset)
    return min(own.end_offset, leader.end_offset, log_end_offset)
