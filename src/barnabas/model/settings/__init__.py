"""Settings are Kafka's: one row each, for the broker, its topics, groups and client metrics."""

from __future__ import annotations

from barnabas.model.settings.row import Importance, Mode, Scope, Setting, Synonym
from barnabas.model.settings.table import (
    BROKER_SETTINGS,
    BROKER_SYNONYMS,
    CLIENT_METRICS_SETTINGS,
    GROUP_SETTINGS,
    GROUP_SYNONYMS,
    SETTINGS,
    TOPIC_SETTINGS,
    TOPIC_SYNONYMS,
)
from barnabas.model.settings.values import Password, SettingError, Type, Value, to_text

__all__ = [
    "BROKER_SETTINGS",
    "BROKER_SYNONYMS",
    "CLIENT_METRICS_SETTINGS",
    "GROUP_SETTINGS",
    "GROUP_SYNONYMS",
    "SETTINGS",
    "TOPIC_SETTINGS",
    "TOPIC_SYNONYMS",
    "Importance",
    "Mode",
    "Password",
    "Scope",
    "Setting",
    "SettingError",
    "Synonym",
    "Type",
    "Value",
    "to_text",
]
