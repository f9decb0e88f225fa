"""Loads through Java's own client: Kafka's ProducerPerformance, and a consumer that needs no group."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from bench.apache_kafka import java_command, run_tool
from bench.scale import Scale
from bench.subject import Subject

RECORD_BYTES = 1_024
TOPIC = "java"
_CONSUMER = Path(__file__).parent / "java" / "Consume.java"


def java_produce(subject: Subject, scale: Scale) -> dict[str, float]:
    subject.create_topic(TOPIC)
    meter = subject.meter()
    seconds = _produce(subject, scale)
    return _figures(scale, seconds, meter.seconds())


def java_consume(subject: Subject, scale: Scale) -> dict[str, float]:
    _ensure_produced(subject, scale)
    command = [
        *java_command(options=("-Xmx512m",)),
        str(_CONSUMER),
        subject.bootstrap,
        TOPIC,
        str(_records(scale)),
    ]
    meter = subject.meter()
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    return _figures(scale, float(done.stdout), meter.seconds())


def java_consumer_performance(subject: Subject, scale: Scale) -> dict[str, float]:
    """Kafka's own tool reads as a consumer group, so it has nothing to say about a broker without groups."""
    _ensure_produced(subject, scale)
    meter = subject.meter()
    done = run_tool(
        "org.apache.kafka.tools.ConsumerPerformance",
        *("--bootstrap-server", subject.bootstrap, "--topic", TOPIC, "--num-records", _records(scale)),
        *("--timeout", 10_000),
        timeout_s=600,
    )
    # start, end, MB, MB/s, records, records/s, rebalance ms, fetch ms, fetch MB/s, fetch records/s
    columns = [line.split(", ") for line in done.stdout.splitlines() if line[:2] == "20"]
    if not columns or int(columns[-1][4]) < _records(scale):
        raise RuntimeError("ConsumerPerformance read nothing: it needs consumer groups.")
    return _figures(scale, float(columns[-1][7]) / 1_000, meter.seconds())


def _ensure_produced(subject: Subject, scale: Scale) -> None:
    if subject.topic_bytes(TOPIC) == 0:
        subject.create_topic(TOPIC)
        _produce(subject, scale)


def _records(scale: Scale) -> int:
    return scale.records(300_000)


def _produce(subject: Subject, scale: Scale) -> float:
    arguments = ["--topic", TOPIC, "--num-records", _records(scale), "--record-size", RECORD_BYTES]
    properties = [f"bootstrap.servers={subject.bootstrap}", "acks=all", "batch.size=131072", "linger.ms=5"]
    done = run_tool(
        "org.apache.kafka.tools.ProducerPerformance",
        *arguments,
        "--throughput",
        -1,
        "--producer-props",
        *properties,
        timeout_s=600,
    )
    rates = re.findall(r"([\d.]+) records/sec", done.stdout)
    if done.returncode != 0 or not rates:
        raise RuntimeError(f"ProducerPerformance failed: {(done.stderr or done.stdout)[-500:]}")
    return _records(scale) / float(rates[-1])


def _figures(scale: Scale, seconds: float, cpu_s: float) -> dict[str, float]:
    size = _records(scale) * RECORD_BYTES
    return {"throughput": size / seconds / 1e6, "CPU": cpu_s / (size / 1e9)}
