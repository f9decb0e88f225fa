"""Which replica a consumer had best read from (KIP-392): one in its own rack, if that costs it nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

RACK_AWARE = "org.apache.kafka.common.replica.RackAwareReplicaSelector"


class Candidate(NamedTuple):
    """An in-sync follower that lives and has the offset. Ordered by how near it is to the leader's end."""

    log_end_offset: int
    last_caught_up_ms: int
    broker_id: int


def nearest(
    rack_id: str, leader_rack: str | None, candidates: Iterable[tuple[str | None, Candidate]]
) -> int | None:
    """The most caught-up follower in the consumer's rack. None: the leader, which is there itself, or nobody
    is."""
    if not rack_id or leader_rack == rack_id:
        return None
    there = [candidate for rack, candidate in candidates if rack == rack_id]
    return max(there).broker_id if there else None
