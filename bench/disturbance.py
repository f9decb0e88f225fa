"""How much one client's produce latency suffers from what the broker does for others.

A paced producer (open loop: a request counts from when it was due) runs alone, then beside the disturbance.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from bench.generator import FetchLoad, ProduceLoad
from bench.scale import Scale
from bench.subject import Subject

REQUESTS_PER_SECOND = 500
BACKLOG = ProduceLoad(1_000, 128, in_flight=5)
KEYED_BACKLOG = ProduceLoad(1_000, 128, in_flight=5, keys=8_192)
COMPACTION_WAIT_S = 240


def while_a_cold_reader_drains(subject: Subject, scale: Scale) -> dict[str, float]:
    backlog = subject.filled_topic("backlog", scale.backlog_bytes, BACKLOG)
    subject.drop_from_page_cache(backlog)
    alone = _p99_us_alone(subject, "beside-reader", scale.seconds)
    subject.drop_from_page_cache(backlog)
    reader = FetchLoad(1_048_576, seconds=3_600, bytes_max=scale.backlog_bytes).start(subject.port, backlog)
    try:
        beside = _p99_us_while(subject, "beside-reader", scale.seconds, reader.is_running)
    finally:
        reader.stop()
    return _figures(alone, beside)


def while_a_topic_is_compacted(subject: Subject, scale: Scale) -> dict[str, float]:
    topic = "compacted"
    segments = {"segment.bytes": "67108864", "cleanup.policy": "delete"}
    subject.filled_topic(topic, scale.backlog_bytes, KEYED_BACKLOG, segments)
    size = subject.topic_bytes(topic)
    alone = _p99_us_alone(subject, "beside-cleaner", scale.seconds)
    subject.alter_topic(topic, {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01"})
    deadline = time.monotonic() + COMPACTION_WAIT_S

    def is_compacting() -> bool:
        if time.monotonic() > deadline:
            raise RuntimeError(f"the topic was not compacted within {COMPACTION_WAIT_S} s")
        return subject.topic_bytes(topic) > size / 2

    beside = _p99_us_while(subject, "beside-cleaner", scale.seconds, is_compacting)
    return _figures(alone, beside)


def _p99_us_alone(subject: Subject, topic: str, seconds: float) -> list[float]:
    subject.create_topic(topic)
    return [_paced(subject, topic, seconds) for _ in range(3)]


def _p99_us_while(subject: Subject, topic: str, seconds: float, lasts: Callable[[], bool]) -> list[float]:
    """One figure per window for as long as the disturbance lasts, at least one."""
    figures: list[float] = []
    while not figures or lasts():
        figures.append(_paced(subject, topic, seconds))
    return figures


def _paced(subject: Subject, topic: str, seconds: float) -> float:
    load = ProduceLoad(100, connections=4, seconds=seconds, requests_per_second=REQUESTS_PER_SECOND)
    return load.run(subject.port, topic).p99_us


def _figures(alone: list[float], beside: list[float]) -> dict[str, float]:
    alone_us, beside_us = statistics.median(alone), statistics.median(beside)
    return {"p99 alone": alone_us, "p99 beside": beside_us, "beside / alone": beside_us / alone_us}
