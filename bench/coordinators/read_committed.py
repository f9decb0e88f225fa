"""Reading a log that ten producers filled at once with transactions, every tenth of them aborted."""

from __future__ import annotations

from bench.coordinators.confluent import run as run_librdkafka
from bench.coordinators.transactions import RECORDS, TransactionalProducer, run_to_end
from bench.generator import FetchLoad
from bench.scale import Scale
from bench.subject import Subject

Figures = dict[str, float]
TOPIC = "one-tenth-aborted"
PRODUCERS = 10
ABORT_EVERY = 10
RECORD_BYTES = 1_000
READ_COMMITTED = 1


def fetched(subject: Subject, scale: Scale) -> Figures:
    """1 MiB at a time, as fast as one connection takes them."""
    _ensure_filled(subject, scale)
    load = FetchLoad(1_048_576, seconds=scale.seconds, isolation_level=READ_COMMITTED)
    load.run(subject.port, TOPIC)
    meter = subject.meter()
    measured = load.run(subject.port, TOPIC)
    cpu_s = meter.seconds()
    return {"throughput": measured.bytes / measured.seconds / 1e6, "CPU": cpu_s / (measured.bytes / 1e9)}


def through_librdkafka(subject: Subject, scale: Scale) -> Figures:
    """The client drops what the broker lists as aborted, and this one sees that none is left."""
    _ensure_filled(subject, scale)
    committed = PRODUCERS * _transactions(scale) * RECORDS * (ABORT_EVERY - 1) // ABORT_EVERY
    run_librdkafka("consume", subject.bootstrap, TOPIC, committed)
    meter = subject.meter()
    figures = run_librdkafka("consume", subject.bootstrap, TOPIC, committed)
    size = committed * RECORD_BYTES
    return {"throughput": size / figures["seconds"] / 1e6, "CPU": meter.seconds() / (size / 1e9)}


def _ensure_filled(subject: Subject, scale: Scale) -> None:
    if subject.topic_bytes(TOPIC):
        return
    subject.create_topic(TOPIC)
    run_to_end(
        subject.port,
        [
            TransactionalProducer(
                f"{TOPIC}-{number}",
                TOPIC,
                1,
                RECORD_BYTES,
                abort_every=ABORT_EVERY,
                transactions_max=_transactions(scale),
            )
            for number in range(PRODUCERS)
        ],
    )


def _transactions(scale: Scale) -> int:
    """Of each producer, a multiple of how often it aborts."""
    return max(1, scale.records(200) // ABORT_EVERY) * ABORT_EVERY
