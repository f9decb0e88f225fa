"""Everything the options of a reader say, checked, before anything is asked of a broker."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches

from barnabas.spark.errors import PipelineError
from barnabas.spark.options import Options
from barnabas.spark.planning_errors import warn
from barnabas.spark.source.places import (
    LATEST,
    Everywhere,
    Place,
    ending_place,
    refuse_ending,
    starting_place,
)
from barnabas.spark.source.schema import with_headers
from barnabas.spark.source.selection import Selection, selection_of

KNOWN = (
    "subscribe",
    "subscribePattern",
    "assign",
    "startingOffsets",
    "endingOffsets",
    "startingTimestamp",
    "endingTimestamp",
    "startingOffsetsByTimestamp",
    "endingOffsetsByTimestamp",
    "startingOffsetsByTimestampStrategy",
    "failOnDataLoss",
    "maxOffsetsPerTrigger",
    "minOffsetsPerTrigger",
    "maxTriggerDelay",
    "minPartitions",
    "maxRecordsPerPartition",
    "includeHeaders",
    "groupId",
    "groupIdPrefix",
    "kafkaConsumer.pollTimeoutMs",
    "fetchOffset.numRetries",
    "fetchOffset.retryIntervalMs",
)
_REFUSED = {
    "auto.offset.reset": (
        "set the source option startingOffsets to earliest or latest instead: "
        "Spark keeps the offsets, in the checkpoint"
    ),
    "key.deserializer": "keys are binary: use DataFrame operations to deserialize them",
    "value.deserializer": "values are binary: use DataFrame operations to deserialize them",
    "enable.auto.commit": "Spark keeps the offsets, in the checkpoint; groupId names a group that shows them",
    "interceptor.classes": "an interceptor could change what is read",
}
_ISOLATION_LEVELS = {"read_uncommitted": False, "read_committed": True}
_MILLISECONDS = {
    "us": 0.001,
    "ms": 1,
    "": 1,
    "s": 1_000,
    "m": 60_000,
    "min": 60_000,
    "h": 3_600_000,
    "d": 86_400_000,
}
_DURATION = re.compile(r"(\d+)\s*([a-z]*)")
_POLL_TIMEOUT_MS = 120_000
_FETCH_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """Pickles: tasks get a copy."""

    selection: Selection
    start: Place
    end: Place  # of a stream: never looked at
    fail_on_data_loss: bool
    read_committed: bool
    include_headers: bool
    group_id: str | None  # the consumer group that shows progress; None: nobody asked for one
    min_partitions: int | None
    max_records_per_partition: int | None
    max_offsets_per_trigger: int | None
    min_offsets_per_trigger: int | None
    max_trigger_delay_ms: int
    poll_timeout_ms: int  # how long a task waits for records that must be there
    offset_retries: int
    offset_retry_interval_ms: int
    fetch_bytes: int  # of one answer
    rack_id: str  # where we are, for brokers that know a replica nearby


def check_options(options: Options) -> None:
    """Of a reader that may become a stream or a batch: everything that is wrong in both."""
    for name in options.names():
        if (meant := _meant(name)) is not None:
            warn(f"Option {name} is not known and means nothing: is it {meant} that you want?")
    try:
        source_settings(options, streaming=True)
    except PipelineError:
        source_settings(options, streaming=False)


def source_settings(options: Options, streaming: bool) -> SourceSettings:
    _refuse_client_settings(options)
    _ = options.bootstrap  # is it there?
    if streaming:
        refuse_ending(options)
    per_trigger_max = options.integer("maxOffsetsPerTrigger", lowest=1)
    per_trigger_min = options.integer("minOffsetsPerTrigger", lowest=1)
    if per_trigger_min and per_trigger_max and per_trigger_min > per_trigger_max:
        raise PipelineError(
            f"Option minOffsetsPerTrigger ({per_trigger_min}) must not be greater than "
            f"maxOffsetsPerTrigger ({per_trigger_max})."
        )
    return SourceSettings(
        selection=selection_of(options),
        start=starting_place(options, streaming),
        end=Everywhere(LATEST) if streaming else ending_place(options),
        fail_on_data_loss=options.flag("failOnDataLoss", True),
        read_committed=_read_committed(options),
        include_headers=with_headers(options),
        group_id=_group_id(options),
        min_partitions=options.integer("minPartitions", lowest=1),
        max_records_per_partition=options.integer("maxRecordsPerPartition", lowest=1),
        max_offsets_per_trigger=per_trigger_max,
        min_offsets_per_trigger=per_trigger_min,
        max_trigger_delay_ms=_duration_ms("maxTriggerDelay", options.text("maxTriggerDelay") or "15m"),
        poll_timeout_ms=_number(options, "kafkaConsumer.pollTimeoutMs", _POLL_TIMEOUT_MS, 1),
        offset_retries=_number(options, "fetchOffset.numRetries", 3, 0),
        offset_retry_interval_ms=_number(options, "fetchOffset.retryIntervalMs", 1_000, 0),
        fetch_bytes=_number(options, "kafka.max.partition.fetch.bytes", _FETCH_BYTES, 1),
        rack_id=options.text("kafka.client.rack") or "",
    )


def _meant(name: str) -> str | None:
    """The option that this one is a misspelling of. Others' options are none of our business."""
    by_lower = {known.lower(): known for known in KNOWN}
    if name in by_lower or name.startswith("kafka."):
        return None
    close = get_close_matches(name, by_lower, n=1, cutoff=0.85)
    return by_lower[close[0]] if close else None


def _refuse_client_settings(options: Options) -> None:
    for name, why in _REFUSED.items():
        if options.text(f"kafka.{name}") is not None:
            raise PipelineError(f"Kafka option '{name}' is not supported: {why}.")


def _read_committed(options: Options) -> bool:
    text = options.text("kafka.isolation.level") or "read_uncommitted"
    if text not in _ISOLATION_LEVELS:
        raise PipelineError(
            f"Option kafka.isolation.level must be read_committed or read_uncommitted, not {text!r}."
        )
    return _ISOLATION_LEVELS[text]


def _group_id(options: Options) -> str | None:
    text = options.text("kafka.group.id") or options.text("groupId")
    if text is not None and not text.strip():
        raise PipelineError(
            "Option groupId is empty: name the consumer group that shows progress, or leave it out."
        )
    return text


def _number(options: Options, name: str, default: int, lowest: int) -> int:
    value = options.integer(name, lowest)
    return default if value is None else value


def _duration_ms(name: str, text: str) -> int:
    """As Spark writes times: 90s, 15m, 1h, or milliseconds."""
    found = _DURATION.fullmatch(text.strip().lower())
    if found is None or found[2] not in _MILLISECONDS:
        raise PipelineError(f"Option {name} must be a time such as 90s, 15m or 1h, not {text!r}.")
    return int(int(found[1]) * _MILLISECONDS[found[2]])
