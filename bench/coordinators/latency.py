"""How long each of many requests took."""

from __future__ import annotations

import statistics
from collections.abc import Sequence


def percentiles_us(seconds: Sequence[float]) -> dict[str, float]:
    """p50 and p99 in microseconds."""
    if len(seconds) < 2:
        raise RuntimeError("too few requests were answered to speak of percentiles")
    return {"p50": statistics.median(seconds) * 1e6, "p99": statistics.quantiles(seconds, n=100)[98] * 1e6}
