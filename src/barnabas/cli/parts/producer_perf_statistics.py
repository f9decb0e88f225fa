"""What kafka-producer-perf-test counts, and how Kafka prints it. Times are passed in."""

from __future__ import annotations

from dataclasses import dataclass, field

SAMPLES_MAX = 500_000
_MEGABYTE = 1024 * 1024


@dataclass(slots=True)
class Window:
    """Records acknowledged since `start_ms`."""

    start_ms: float
    count: int = 0
    size: int = 0
    latency_ms_total: int = 0
    latency_ms_max: int = 0

    def add(self, latency_ms: int, size: int) -> None:
        self.count += 1
        self.size += size
        self.latency_ms_total += latency_ms
        self.latency_ms_max = max(self.latency_ms_max, latency_ms)

    def rates(self, now_ms: float) -> tuple[float, float]:
        """Records and megabytes per second."""
        elapsed_ms = max(now_ms - self.start_ms, 1.0)
        return 1000 * self.count / elapsed_ms, 1000 * self.size / elapsed_ms / _MEGABYTE

    def line(self, now_ms: float) -> str:
        records, megabytes = self.rates(now_ms)
        return (
            f"{self.count} records sent, {records:.1f} records/sec ({megabytes:.2f} MB/sec), "
            f"{self.latency_ms_total / self.count:.1f} ms avg latency, "
            f"{float(self.latency_ms_max):.1f} ms max latency."
        )


@dataclass(slots=True)
class Totals:
    """A whole run, or the steady part of it: every latency, or every n-th when there are too many to keep."""

    window: Window
    sample_every: int
    steady: bool = False
    latencies_ms: list[int] = field(default_factory=list)

    @staticmethod
    def begin(record_count: int, now_ms: float, steady: bool = False) -> Totals:
        return Totals(Window(now_ms), max(1, record_count // min(max(record_count, 1), SAMPLES_MAX)), steady)

    def add(self, latency_ms: int, size: int) -> None:
        if self.window.count % self.sample_every == 0:
            self.latencies_ms.append(latency_ms)
        self.window.add(latency_ms, size)

    def line(self, now_ms: float) -> str:
        window = self.window
        records, megabytes = window.rates(now_ms)
        average = window.latency_ms_total / window.count if window.count else float("nan")
        p50, p95, p99, p999 = (self._percentile(share) for share in (0.5, 0.95, 0.99, 0.999))
        return (
            f"{window.count}{' steady state' if self.steady else ''} records sent, "
            f"{records:f} records/sec ({megabytes:.2f} MB/sec), "
            f"{average:.2f} ms avg latency, {float(window.latency_ms_max):.2f} ms max latency, "
            f"{p50} ms 50th, {p95} ms 95th, {p99} ms 99th, {p999} ms 99.9th."
        )

    def _percentile(self, share: float) -> int:
        ordered = sorted(self.latencies_ms)
        return ordered[int(share * len(ordered))] if ordered else 0


class Throttle:
    """Keeps near a number of records per second by sleeping now and then, two milliseconds at least."""

    _SLEEP_SECONDS_MIN = 0.002

    def __init__(self, records_per_second: float, start_seconds: float) -> None:
        self._rate = records_per_second
        self._start_seconds = start_seconds
        self._owed_seconds = 0.0

    def pause_seconds(self, sent: int, now_seconds: float) -> float:
        """How long to sleep now: 0 most of the time. A rate below zero means no limit."""
        elapsed_seconds = now_seconds - self._start_seconds
        if self._rate <= 0 or elapsed_seconds <= 0 or sent / elapsed_seconds <= self._rate:
            return 0.0
        self._owed_seconds += 1 / self._rate
        if self._owed_seconds < self._SLEEP_SECONDS_MIN:
            return 0.0
        owed, self._owed_seconds = self._owed_seconds, 0.0
        return owed
