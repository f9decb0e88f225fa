"""How much one client's produce latency suffers from what the broker does for others.

A paced producer (open loop: a request counts from when it was due) runs alone, then beside the disturbance.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bench.generator import FetchLoad, Measured, ProduceLoad, Running
from bench.quiet import wait_until_quiet
from bench.scale import Scale
from bench.subject import Subject

REQUESTS_PER_SECOND = 500
BACKLOG = ProduceLoad(1_000, 128, in_flight=5)
KEYED_BACKLOG = ProduceLoad(1_000, 128, in_flight=5, keys=8_192)
COMPACTION_WAIT_S = 240
LOOKS = 5  # the median is not that of the one in which the host was busy


@contextmanager
def other_work(cores: int) -> Iterator[None]:
    """Programs that have nothing to do with either broker keep so many cores busy."""
    programs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(cores)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def while_a_cold_reader_drains(subject: Subject, scale: Scale) -> dict[str, float]:
    backlog = subject.filled_topic("backlog", scale.backlog_bytes, BACKLOG)
    reader = FetchLoad(1_048_576, seconds=3_600, bytes_max=scale.backlog_bytes)
    topic = subject.create_topic("beside-reader")
    alone: list[Measured] = []
    beside: list[Measured] = []
    drained: list[Measured] = []
    for _ in range(LOOKS):
        wait_until_quiet()
        alone.append(_load(scale.seconds).run(subject.port, topic))
        subject.drop_from_page_cache(backlog)
        wait_until_quiet()
        _practise(subject, topic)
        paced, other = _beside(subject, topic, reader.start(subject.port, backlog))
        beside.append(paced)
        drained.append(other)
    return _figures([one.p99_us for one in alone], [one.p99_us for one in beside]) | {
        "alone, half seconds": statistics.median(_windows(alone)),
        "beside, half seconds": statistics.median(_windows(beside)),
        "reader": statistics.median(one.bytes / one.seconds / 1e6 for one in drained),
    }


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


def _windows(measured: list[Measured]) -> list[float]:
    """Of every half second; of the whole where that is shorter."""
    return [p99_us for one in measured for p99_us in one.windows_p99_us or [one.p99_us]]


def _beside(subject: Subject, topic: str, other: Running) -> tuple[Measured, Measured]:
    """The producer from when the other client began until it ends, and not longer; and the other one."""
    paced = _load(seconds=3_600).start(subject.port, topic)
    try:
        disturbing = other.result()
        return paced.stop(), disturbing
    finally:
        paced.close()
        other.close()


def _practise(subject: Subject, topic: str) -> None:
    """Who was idle for seconds is slow at first, its memory being far away; nobody is charged for that."""
    _paced(subject, topic, 1)
    FetchLoad(1_048_576, seconds=0.3).run(subject.port, topic)


def _paced(subject: Subject, topic: str, seconds: float) -> float:
    return _load(seconds).run(subject.port, topic).p99_us


def _load(seconds: float) -> ProduceLoad:
    return ProduceLoad(100, connections=4, seconds=seconds, requests_per_second=REQUESTS_PER_SECOND)


def _figures(alone: list[float], beside: list[float]) -> dict[str, float]:
    alone_us, beside_us = statistics.median(alone), statistics.median(beside)
    return {"p99 alone": alone_us, "p99 beside": beside_us, "beside / alone": beside_us / alone_us}
