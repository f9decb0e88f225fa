"""What is measured of the two connectors, and on which topics; read by the parent and by Spark's process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bench.rows import Figure

CONNECTOR, OURS = "Spark's connector", "Barnabas"
FORMATS = {CONNECTOR: "kafka", OURS: "barnabas"}

Kind = Literal["read", "stream", "latency", "write", "write stream"]


@dataclass(frozen=True, slots=True)
class Backlog:
    """A topic that is filled once and read by both."""

    record_bytes: int
    codec: str = "none"
    partitions: int = 2

    @property
    def topic(self) -> str:
        return f"bench-{self.record_bytes}-{self.codec}-{self.partitions}"

    def records(self, share: float) -> int:
        """Less of the larger ones: what counts is that Spark's own start of a job does not."""
        return int((2_000_000 if self.record_bytes < 500 else 500_000) * share)


@dataclass(frozen=True, slots=True)
class SparkRow:
    key: str
    title: str
    kind: Kind
    figures: tuple[Figure, ...]
    backlog: Backlog | None = None
    tasks: int = 2


_CPU = Figure("CPU", "s per million rows")
_LATENCIES = (Figure("p50", "ms"), Figure("p99", "ms"))


def _rate(ratio_min: float | None = None) -> tuple[Figure, ...]:
    rows = Figure("rate", "rows/s", lower_is_better=False, ratio_min=ratio_min)
    return (rows, Figure("throughput", "MB/s", lower_is_better=False), _CPU)


def _read(size: int, codec: str) -> SparkRow:
    named = "" if codec == "none" else f", {codec}"
    backlog = Backlog(size, codec)
    key = f"read-{size}" + ("" if codec == "none" else f"-{codec}")
    return SparkRow(key, f"batch read, {size} B{named}", "read", _rate(2.0), backlog)


ROWS = (
    *(_read(size, codec) for size in (100, 1000) for codec in ("none", "lz4", "zstd")),
    SparkRow("read-one-task", "one partition, one task", "read", _rate(), Backlog(100, partitions=1), 1),
    SparkRow("read-two-tasks", "one partition, two tasks", "read", _rate(), Backlog(100, partitions=1), 2),
    SparkRow("stream", "streaming, 100 B", "stream", _rate(1.0), Backlog(100)),
    SparkRow("latency", "micro-batch at trigger 0", "latency", _LATENCIES),
    SparkRow("write", "batch write, exactly once vs at least once", "write", _rate(0.8)),
    SparkRow("write-stream", "streaming write, the same", "write stream", _rate(0.8)),
)
