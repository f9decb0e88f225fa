"""What the options say about writing, checked once where the write is planned. Pickles: tasks get a copy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from barnabas.records.compress import Codec
from barnabas.spark.errors import PipelineError
from barnabas.spark.options import Options
from barnabas.wire import Cluster

EXACTLY_ONCE = "exactly-once"
AT_LEAST_ONCE = "at-least-once"
TRANSACTION_TIMEOUT_MS = 900_000  # the most that brokers allow unless told otherwise
TRANSACTION_TIMEOUT_MIN_MS = 60_000  # what Kafka's producers ask for, where brokers allow less than the above

_BATCH_BYTES = 256 << 10
_REQUEST_BYTES_MAX = 1 << 20
_GATHERED_BATCHES = 32  # so that each of a task's partitions gets full batches
_GATHERED_BYTES_MIN = 64 << 10
_DELIVERY_TIMEOUT_MS = 120_000
_CODECS = {
    "none": Codec.NONE,
    "gzip": Codec.GZIP,
    "snappy": Codec.SNAPPY,
    "lz4": Codec.LZ4,
    "zstd": Codec.ZSTD,
}
_DELIVERIES = {EXACTLY_ONCE: EXACTLY_ONCE, AT_LEAST_ONCE: AT_LEAST_ONCE}
_REFUSED = ("kafka.key.serializer", "kafka.value.serializer")

T = TypeVar("T")


@dataclass(frozen=True)
class Sink:
    bootstrap: str
    properties: dict[str, str]
    topic: str | None
    delivery: str
    transactional_id: str | None
    transaction_timeout_ms: int | None
    attempts: int
    codec: int
    level: int | None
    batch_bytes: int
    request_bytes_max: int
    delivery_timeout_ms: int
    message_bytes_max: int

    @property
    def exactly_once(self) -> bool:
        return self.delivery == EXACTLY_ONCE

    @property
    def gathered_bytes(self) -> int:
        """Rows held back before they are sorted by partition and sent: what a task holds of its input."""
        return max(_GATHERED_BATCHES * self.batch_bytes, _GATHERED_BYTES_MIN)

    def connect(self) -> Cluster:
        # A transaction's coordinator is busy for milliseconds after each end: do not wait a tenth of a
        # second.
        return Cluster.connect(self.bootstrap, {"retry.backoff.ms": "20", **self.properties})


def sink_of(options: Options) -> Sink:
    for name in _REFUSED:
        if options.text(name) is not None:
            raise PipelineError(
                f"Option {name} is not supported: keys and values are strings or binary, "
                "so turn them into that with the functions of Spark."
            )
    codec = _one_of(options, "kafka.compression.type", "none", _CODECS)
    level = options.integer(f"kafka.compression.{Codec(codec).name.lower()}.level", lowest=-(1 << 17))
    request_bytes_max = _or(options.integer("kafka.max.request.size", 1), _REQUEST_BYTES_MAX)
    return Sink(
        bootstrap=options.bootstrap,
        properties=options.kafka,
        topic=options.text("topic"),
        delivery=_one_of(options, "delivery", EXACTLY_ONCE, _DELIVERIES),
        transactional_id=options.text("transactionalId") or options.text("kafka.transactional.id"),
        transaction_timeout_ms=options.integer("kafka.transaction.timeout.ms", 1),
        attempts=_or(options.integer("attempts", 1), 4),
        codec=codec,
        level=level,
        batch_bytes=min(_or(options.integer("kafka.batch.size"), _BATCH_BYTES), request_bytes_max),
        request_bytes_max=request_bytes_max,
        delivery_timeout_ms=_or(options.integer("kafka.delivery.timeout.ms", 1), _DELIVERY_TIMEOUT_MS),
        message_bytes_max=_or(options.integer("maxTaskMessageBytes"), 64 << 20),
    )


def _or(value: int | None, default: int) -> int:
    return default if value is None else value


def _one_of(options: Options, name: str, default: str, choices: dict[str, T]) -> T:
    text = (options.text(name) or default).lower()
    if text not in choices:
        raise PipelineError(f"Option {name} must be one of {', '.join(choices)}, not {text!r}.")
    return choices[text]
