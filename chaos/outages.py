"""How long nobody could write: gaps between acknowledgements, and from a fault to the next one. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from chaos.load import Ack

GAP_S = 1.0  # producers write every 40 ms: a second without an acknowledgement is an outage


class Outage(NamedTuple):
    seconds: float  # all gaps together
    longest_s: float


def outage_of(acks: Iterable[Ack], began_s: float, ended_s: float) -> Outage:
    """Of one partition."""
    times = [began_s, *sorted(ack.acked_s for ack in acks if began_s <= ack.acked_s <= ended_s), ended_s]
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    return Outage(sum(gap for gap in gaps if gap > GAP_S), max(gaps))


def seconds_until_written(acks: Sequence[Ack], fault_s: float) -> float | None:
    """From the fault to the first acknowledgement of a record sent after it: an answer that was on its
    way when the leader died says nothing about its successor."""
    later = [ack.acked_s for ack in acks if ack.sent_s >= fault_s]
    return min(later) - fault_s if later else None


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
