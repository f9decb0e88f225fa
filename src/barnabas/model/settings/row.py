"""A setting is one row: name, type, default, check, importance, how it may change, and what it is for.

The tables made of these rows feed the broker's start, DescribeConfigs, the tools and `docs/settings.md`.
"""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import NamedTuple

from barnabas.model.settings.checks import Check, ListOf
from barnabas.model.settings.values import SettingError, Type, Value, parse_text


class Importance(Enum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Mode(Enum):
    """How a broker setting may change while the broker runs."""

    READ_ONLY = "read-only"
    PER_BROKER = "per-broker"
    CLUSTER_WIDE = "cluster-wide"


class Scope(IntEnum):
    """What a setting belongs to, numbered as the protocol's config resource types."""

    TOPIC = 2
    BROKER = 4
    CLIENT_METRICS = 16
    GROUP = 32


class Setting(NamedTuple):
    name: str
    type: Type
    default: str | None  # as text, in the form tools print; None is Kafka's null
    check: Check | None
    importance: Importance
    mode: Mode
    doc: str
    internal: bool = False  # understood, but neither documented nor listed by DescribeConfigs
    retired: str = ""  # for keys of older Kafka versions: what became of them

    def parse(self, text: str) -> Value:
        """The typed value of `text`; SettingError in Kafka's words if it is not one."""
        value = parse_text(self.name, self.type, text)
        if isinstance(self.check, ListOf) and isinstance(value, tuple):
            value = tuple(dict.fromkeys(value))
        if self.check is not None:
            self.check.validate(self.name, value)
        return value

    @property
    def default_value(self) -> Value:
        """Defaults are not checked: some of Kafka's own (null, empty) would not pass their check."""
        return None if self.default is None else parse_text(self.name, self.type, self.default)

    @property
    def sensitive(self) -> bool:
        return self.type is Type.PASSWORD


class Synonym(NamedTuple):
    """A broker setting that stands in for another one, in a coarser unit perhaps."""

    name: str
    factor: int = 1

    def convert(self, text: str) -> str:
        return text if self.factor == 1 else str(int(text) * self.factor)


__all__ = ["Check", "Importance", "Mode", "Scope", "Setting", "SettingError", "Synonym", "Type", "Value"]
