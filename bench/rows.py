"""The rows of the table: what is measured, in which unit, and the budget for it.

Both brokers are warmed up first, and every raw load runs twice and the second run counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from bench import confluent, librdkafka
from bench.disturbance import other_work, while_a_cold_reader_drains, while_a_topic_is_compacted
from bench.generator import FetchLoad, Measured, ProduceLoad
from bench.java import java_consume, java_consumer_performance, java_produce
from bench.meter import resident_mib
from bench.reserve import Reserve
from bench.scale import Scale
from bench.spans import Client, of_a_producer, of_both
from bench.subject import Subject

Figures = dict[str, float]
SIXTEEN_KB = ProduceLoad(1_000, 16, in_flight=5)
LARGE = ProduceLoad(1_000, 128, in_flight=5)


@dataclass(frozen=True, slots=True)
class Figure:
    """One column of numbers. The budget bounds our figure divided by Apache Kafka's, unless it is
    absolute.
    """

    key: str
    unit: str
    lower_is_better: bool = True
    ratio_max: float | None = None
    ratio_min: float | None = None
    absolute_max: float | None = None

    def budget_text(self) -> str:
        parts = []
        if self.ratio_max is not None:
            parts.append(f"≤ {self.ratio_max:.2g}×")
        if self.ratio_min is not None:
            parts.append(f"≥ {self.ratio_min:.2g}×")
        if self.absolute_max is not None:
            parts.append(f"≤ {self.absolute_max:g} {self.unit}")
        return ", ".join(parts)

    def is_within_budget(self, ours: float, ratio: float) -> bool:
        return (
            (self.ratio_max is None or ratio <= self.ratio_max)
            and (self.ratio_min is None or ratio >= self.ratio_min)
            and (self.absolute_max is None or ours <= self.absolute_max)
        )


@dataclass(frozen=True, slots=True)
class Row:
    """What takes long is measured once per round, the rest there and back."""

    key: str
    title: str
    run: Callable[[Subject, Scale], Figures]
    figures: tuple[Figure, ...]
    once: bool = False


MEGABYTES_PER_S = "MB/s"


def _throughput(ratio_min: float | None = None) -> Figure:
    return Figure("throughput", MEGABYTES_PER_S, lower_is_better=False, ratio_min=ratio_min)


def _cpu_per_gb(ratio_max: float | None = None) -> Figure:
    return Figure("CPU", "s/GB", ratio_max=ratio_max)


def _latencies(p50_ratio_max: float | None = None) -> tuple[Figure, ...]:
    return (Figure("p50", "µs", ratio_max=p50_ratio_max), Figure("p99", "µs"), Figure("p99.9", "µs"))


def _figures(measured: Measured, cpu_s: float) -> Figures:
    return {
        "throughput": measured.bytes / measured.seconds / 1e6,
        "CPU": cpu_s / (measured.bytes / 1e9),
        "rate": measured.requests / measured.seconds,
        "CPU per request": cpu_s / measured.requests * 1e6,
        "p50": measured.p50_us,
        "p99": measured.p99_us,
        "p99.9": measured.p999_us,
    }


def start(subject: Subject, scale: Scale) -> Figures:
    return {"time": subject.startup_s}


def memory(subject: Subject, scale: Scale) -> Figures:
    subject.filled_topic("memory", scale.bytes(500_000_000), SIXTEEN_KB)
    FetchLoad(1_048_576, seconds=scale.seconds).run(subject.port, "memory")
    return {"idle": subject.idle_mib, "after load": resident_mib(subject.broker.pid)}


def warm_up(subject: Subject, scale: Scale) -> None:
    """Some of everything before anything counts: just-in-time compilation takes seconds of load to
    settle.
    """
    topic = subject.create_topic("warm-up")
    for load in (
        ProduceLoad(100, connections=16, seconds=scale.seconds),
        replace(SIXTEEN_KB, seconds=scale.seconds),
        FetchLoad(16_384, seconds=scale.seconds),
        FetchLoad(1_048_576, seconds=scale.seconds),
    ):
        load.run(subject.port, topic)


def small_requests(connections: int) -> Callable[[Subject, Scale], Figures]:
    def run(subject: Subject, scale: Scale) -> Figures:
        topic = subject.fresh_topic(f"small-{connections}")
        load = ProduceLoad(100, connections=connections, seconds=scale.seconds)
        load.run(subject.port, topic)
        meter = subject.meter()
        return _figures(load.run(subject.port, topic), meter.seconds())

    return run


def produce_batches(topic: str, shape: ProduceLoad) -> Callable[[Subject, Scale], Figures]:
    def run(subject: Subject, scale: Scale) -> Figures:
        load = replace(shape, seconds=scale.seconds)
        subject.filled_topic(topic, 0, shape)
        first = load.run(subject.port, topic)
        subject.note_filled(topic, first)
        subject.drop_from_page_cache(topic)
        with Reserve(first.bytes * 5 // 4):
            meter = subject.meter()
            measured = load.run(subject.port, topic)
            cpu_s = meter.seconds()
        subject.note_filled(topic, measured)
        return _figures(measured, cpu_s)

    return run


def fetch(fetch_bytes: int, times_as_long: int = 1) -> Callable[[Subject, Scale], Figures]:
    def run(subject: Subject, scale: Scale) -> Figures:
        topic = subject.filled_topic("batches-16k", scale.bytes(500_000_000), SIXTEEN_KB)
        subject.bring_into_page_cache(topic)
        FetchLoad(fetch_bytes, seconds=scale.seconds).run(subject.port, topic)
        load = FetchLoad(fetch_bytes, seconds=scale.seconds * times_as_long)
        meter = subject.meter()
        return _figures(load.run(subject.port, topic), meter.seconds())

    return run


def small_fetches_beside_other_work(
    cores: int, times_as_long: int = 1
) -> Callable[[Subject, Scale], Figures]:
    measure = fetch(16_384, times_as_long)

    def run(subject: Subject, scale: Scale) -> Figures:
        with other_work(cores):
            return measure(subject, scale)

    return run


def through(name: str, load: Callable[..., float], client: Client) -> Callable[[Subject, Scale], Figures]:
    def run(subject: Subject, scale: Scale) -> Figures:
        records, record_bytes = scale.records(1_000_000), 1_024
        size = records * record_bytes
        first = subject.fresh_topic(f"{name}-first")
        load(client, subject.bootstrap, first, records, record_bytes)
        topic = subject.fresh_topic(name)
        subject.drop_from_page_cache(first)
        with Reserve(size * 3):  # the log, and what the client has not sent yet
            meter = subject.meter()
            megabytes_per_s = load(client, subject.bootstrap, topic, records, record_bytes)
        return {"throughput": megabytes_per_s, "CPU": meter.seconds() / (size / 1e9)}

    return run


def end_to_end(subject: Subject, scale: Scale) -> Figures:
    topic = subject.fresh_topic("end-to-end")
    records = max(500, scale.records(2_500))
    figures = confluent.run("endtoend", subject.bootstrap, topic, records, 500)
    return {"p50": figures["p50_us"], "p99": figures["p99_us"], "p99.9": figures["p999_us"]}


CPU_PER_REQUEST = Figure("CPU per request", "µs", absolute_max=60)

ROWS = (
    Row(
        "start",
        "start until it answers",
        start,
        (Figure("time", "s", ratio_max=0.2, absolute_max=1),),
        once=True,
    ),
    Row(
        "small-1",
        "1 record per request, 1 connection",
        small_requests(1),
        (CPU_PER_REQUEST, *_latencies(p50_ratio_max=1)),
    ),
    Row(
        "small-16",
        "1 record per request, 16 connections",
        small_requests(16),
        (
            Figure("rate", "requests/s", lower_is_better=False, ratio_min=1.2),
            Figure("CPU per request", "µs"),
            *_latencies(),
        ),
    ),
    Row(
        "produce-16k",
        "produce, 16 KB batches",
        produce_batches("batches-16k", SIXTEEN_KB),
        (_throughput(2), _cpu_per_gb(1 / 3), *_latencies()),
    ),
    Row(
        "produce-128k",
        "produce, 128 KB batches",
        produce_batches("batches-128k", LARGE),
        (_throughput(), _cpu_per_gb(1 / 2)),
    ),
    Row("fetch-1m", "fetch, 1 MiB", fetch(1_048_576), (_throughput(1), _cpu_per_gb(1))),
    # The budget was measured on two busy cores, nobody says how busy. It stands at all three.
    Row("fetch-16k", "fetch, 16 KB, idle cores", fetch(16_384), (_throughput(2.5), _cpu_per_gb(1 / 3))),
    Row(
        "fetch-16k-busy",
        "fetch, 16 KB, one core busy with other work",
        small_fetches_beside_other_work(1),
        (_throughput(2.5), _cpu_per_gb(1 / 3)),
    ),
    Row(
        "fetch-16k-both-busy",
        "fetch, 16 KB, both cores busy with other work",
        # The kernel moves client and broker to one core and apart again, every second or so, and either of
        # the two costs several times the other: a short look shows which of them it was.
        small_fetches_beside_other_work(2, times_as_long=6),
        (_throughput(2.5), _cpu_per_gb(1 / 3)),
    ),
    Row(
        "librdkafka",
        "librdkafka producer, 1 KiB, acks=all",
        through("librdkafka", of_a_producer, librdkafka.run),
        (_throughput(1.5), _cpu_per_gb()),
    ),
    Row(
        "librdkafka-both",
        "librdkafka producer and consumer at once",
        through("librdkafka-both", of_both, librdkafka.run),
        (_throughput(1.5), _cpu_per_gb()),
    ),
    Row(
        "confluent-both",
        "confluent-kafka producer and consumer at once",
        through("confluent-both", of_both, confluent.run),
        (_throughput(), _cpu_per_gb()),
    ),
    Row("end-to-end", "end to end, confluent-kafka, 500/s", end_to_end, _latencies(p50_ratio_max=1)),
    Row(
        "java-produce",
        "Java ProducerPerformance, 1 KiB, acks=all",
        java_produce,
        (_throughput(), _cpu_per_gb()),
        once=True,
    ),
    Row(
        "java-consume",
        "Java consumer without a group, 1 KiB",
        java_consume,
        (_throughput(), _cpu_per_gb()),
        once=True,
    ),
    Row(
        "java-group",
        "Java ConsumerPerformance, 1 KiB",
        java_consumer_performance,
        (_throughput(), _cpu_per_gb()),
        once=True,
    ),
    Row(
        "memory",
        "resident memory",
        memory,
        (Figure("idle", "MiB", absolute_max=60), Figure("after load", "MiB", absolute_max=120)),
        once=True,
    ),
    Row(
        "cold-reader",
        "produce p99 while a cold reader drains a backlog",
        while_a_cold_reader_drains,
        (
            Figure("p99 alone", "µs"),
            Figure("p99 beside", "µs"),
            Figure("beside / alone", "×", absolute_max=2),
            Figure("alone, half seconds", "µs"),
            Figure("beside, half seconds", "µs"),
            Figure("reader", MEGABYTES_PER_S, lower_is_better=False),
        ),
        once=True,
    ),
    Row(
        "compaction",
        "produce p99 while a large topic is compacted",
        while_a_topic_is_compacted,
        (
            Figure("p99 alone", "µs"),
            Figure("p99 beside", "µs"),
            Figure("beside / alone", "×", absolute_max=2),
        ),
        once=True,
    ),
)
