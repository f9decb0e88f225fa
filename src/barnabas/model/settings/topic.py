"""A topic's settings: what the topic sets itself, else what its broker says, else the default."""

from __future__ import annotations

from collections.abc import Mapping

from barnabas.model.settings.broker import BrokerSettings
from barnabas.model.settings.table import TOPIC_SETTINGS, TOPIC_SYNONYMS
from barnabas.model.settings.typed import TypedValues
from barnabas.model.settings.values import RequirementError, SettingError, Value


class TopicSettings(TypedValues):
    __slots__ = ("overrides",)

    def __init__(self, overrides: Mapping[str, str], broker: BrokerSettings) -> None:
        """`overrides` were validated when they were set; a bad one is a SettingError here too."""
        self.overrides = dict(overrides)
        super().__init__(
            {
                name: row.parse(overrides[name]) if name in overrides else inherited(name, broker)
                for name, row in TOPIC_SETTINGS.items()
            }
        )

    @property
    def compacted(self) -> bool:
        return "compact" in self.names("cleanup.policy")

    @property
    def deleting(self) -> bool:
        return "delete" in self.names("cleanup.policy")

    @property
    def segment_bytes(self) -> int:
        return self.optional_integer("internal.segment.bytes") or self.integer("segment.bytes")


def inherited(name: str, broker: BrokerSettings) -> Value:
    """The value of a topic setting that the topic does not set."""
    if name == "retention.ms":
        return broker.log_retention_ms  # every negative number means for ever
    for synonym in TOPIC_SYNONYMS.get(name, ()):
        value = broker[synonym.name]
        if value is not None:
            return value * synonym.factor if type(value) is int else value
    return TOPIC_SETTINGS[name].default_value


def validate(overrides: Mapping[str, str], broker: BrokerSettings) -> TopicSettings:
    """The settings a topic would have with these overrides; SettingError in Kafka's words if it may not."""
    for name in overrides:
        if name not in TOPIC_SETTINGS:
            raise SettingError(f"Unknown topic config name: {name}")
    settings = TopicSettings(overrides, broker)
    least, most = settings.integer("min.compaction.lag.ms"), settings.integer("max.compaction.lag.ms")
    if least > most:
        raise RequirementError(
            f"conflict topic config setting min.compaction.lag.ms ({least}) > max.compaction.lag.ms ({most})"
        )
    if settings.boolean("remote.storage.enable"):
        raise RequirementError(
            "Tiered Storage functionality is disabled in the broker. "
            "Topic cannot be configured with remote log storage."
        )
    return settings
