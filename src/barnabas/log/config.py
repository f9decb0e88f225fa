"""What a partition's log needs to know about its topic: the topic settings, typed, with Kafka's defaults.

`_SETTINGS` is the one place that ties a Kafka setting's name to its field and its type.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import Enum

LONG_MAX = 2**63 - 1
DAY_MS = 24 * 60 * 60 * 1000


class TimestampType(Enum):
    CREATE_TIME = "CreateTime"
    LOG_APPEND_TIME = "LogAppendTime"


@dataclass(frozen=True, slots=True)
class LogConfig:
    segment_bytes: int = 1024 * 1024 * 1024
    segment_ms: int = 7 * DAY_MS
    segment_jitter_ms: int = 0
    segment_index_bytes: int = 10 * 1024 * 1024
    index_interval_bytes: int = 4096
    retention_ms: int = 7 * DAY_MS  # -1: for ever
    retention_bytes: int = -1  # -1: without limit
    cleanup_policy: frozenset[str] = frozenset({"delete"})
    delete_retention_ms: int = DAY_MS
    min_compaction_lag_ms: int = 0
    max_compaction_lag_ms: int = LONG_MAX
    min_cleanable_dirty_ratio: float = 0.5
    message_timestamp_type: TimestampType = TimestampType.CREATE_TIME
    message_timestamp_before_max_ms: int = LONG_MAX
    message_timestamp_after_max_ms: int = 60 * 60 * 1000
    max_message_bytes: int = 1024 * 1024 + 12
    compression_type: str = "producer"
    compression_gzip_level: int = -1
    compression_lz4_level: int = 9
    compression_zstd_level: int = 3
    flush_messages: int = LONG_MAX
    flush_ms: int = LONG_MAX
    file_delete_delay_ms: int = 60_000
    min_insync_replicas: int = 1
    unclean_leader_election_enable: bool = False

    @property
    def compact(self) -> bool:
        return "compact" in self.cleanup_policy

    @property
    def delete(self) -> bool:
        return "delete" in self.cleanup_policy

    @property
    def log_append_time(self) -> bool:
        return self.message_timestamp_type is TimestampType.LOG_APPEND_TIME

    @classmethod
    def from_settings(cls, settings: Mapping[str, object], base: LogConfig | None = None) -> LogConfig:
        """Keyed by Kafka's topic-setting names; names that do not concern the log are passed over.
        `base` supplies what is absent (the broker's own defaults)."""
        changes = {
            field: _typed(name, kind, settings[name])
            for name, (field, kind) in _SETTINGS.items()
            if settings.get(name) is not None
        }
        return replace(base or cls(), **changes)  # type: ignore[arg-type]


def _kind(annotation: object) -> str:
    return str(annotation).partition("[")[0]


_SETTINGS: dict[str, tuple[str, str]] = {
    field.name.replace("_", "."): (field.name, _kind(field.type)) for field in fields(LogConfig)
}


def _typed(name: str, kind: str, value: object) -> object:
    text = value.strip() if isinstance(value, str) else value
    if kind == "int" and isinstance(text, int | str):
        return int(text)
    if kind == "float" and isinstance(text, int | float | str):
        return float(text)
    if kind == "bool":
        return text if isinstance(text, bool) else str(text).lower() == "true"
    if kind == "frozenset":
        return _policies(text)
    if kind == "TimestampType":
        return text if isinstance(text, TimestampType) else TimestampType(str(text))
    if kind == "str":
        return str(text)
    raise ValueError(f"Invalid value {value!r} for configuration {name}: not a {kind}")


def _policies(value: object) -> frozenset[str]:
    if isinstance(value, str):
        return frozenset(part.strip() for part in value.split(",") if part.strip())
    if isinstance(value, list | tuple | set | frozenset):
        return frozenset(str(part) for part in value)
    raise ValueError(f"Invalid value {value!r} for configuration cleanup.policy")
