"""Replication throttles (KIP-73): which replicas are meant, and how fast they have been lately.

The rate is Kafka's: the bytes of the last samples over the time they cover, and never over less than all
samples but the current one, so that a burst after a quiet time counts as what it is on average.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

ALL_REPLICAS = "*"


def names_replica(throttled: Sequence[str], partition: int, broker_id: int) -> bool:
    """Whether a topic's list of throttled replicas (`partition:broker` pairs, or `*`) means this one."""
    return bool(throttled) and (throttled[0] == ALL_REPLICAS or f"{partition}:{broker_id}" in throttled)


class ThrottleWindow:
    """What passed in the last `samples` times `sample_ms`."""

    def __init__(self, samples: int, sample_ms: int) -> None:
        self._samples_max = samples
        self._sample_ms = sample_ms
        self._samples: deque[tuple[int, int]] = deque()  # when it began, its bytes; oldest first
        self._total = 0

    def record(self, size: int, now_ms: int) -> None:
        self._forget(now_ms)
        samples = self._samples
        if samples and now_ms - samples[-1][0] < self._sample_ms:
            began_ms, before = samples.pop()
            samples.append((began_ms, before + size))
        else:
            samples.append((now_ms, size))
        self._total += size

    def bytes_per_second(self, now_ms: int) -> float:
        self._forget(now_ms)
        if not self._samples:
            return 0.0
        covered_ms = now_ms - self._samples[0][0]
        least_ms = max(1, self._samples_max - 1) * self._sample_ms
        return self._total * 1000 / max(covered_ms, least_ms)

    def exceeds(self, limit: int | None, now_ms: int) -> bool:
        return limit is not None and self.bytes_per_second(now_ms) > limit

    def next_look_ms(self, now_ms: int) -> int:
        """When it is worth looking again whether the rate has fallen."""
        return now_ms + max(1, self._sample_ms // 10)

    def _forget(self, now_ms: int) -> None:
        oldest_ms = now_ms - self._samples_max * self._sample_ms
        while self._samples and self._samples[0][0] <= oldest_ms:
            self._total -= self._samples.popleft()[1]
