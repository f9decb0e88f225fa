"""What a parsed value must satisfy. Each check says no in Kafka's words and describes itself for the docs."""

from __future__ import annotations

import re
from typing import Protocol

from barnabas.model.settings.values import SettingError, Value, refusal, to_text


class Check(Protocol):
    def validate(self, name: str, value: Value) -> None:
        """SettingError if `value` is not acceptable."""
        ...

    def describe(self) -> str:
        """Valid values, as Kafka's docs write them; may be empty."""
        ...


def _number(bound: float) -> str:
    return str(int(bound)) if bound == int(bound) else str(bound)


class Range:
    __slots__ = ("maximum", "minimum")

    def __init__(self, minimum: float, maximum: float | None = None) -> None:
        self.minimum = minimum
        self.maximum = maximum

    def validate(self, name: str, value: Value) -> None:
        assert isinstance(value, int | float), "only numbers have a range"
        if value < self.minimum:
            raise refusal(name, to_text(value), f"Value must be at least {_number(self.minimum)}")
        if self.maximum is not None and value > self.maximum:
            raise refusal(name, to_text(value), f"Value must be no more than {_number(self.maximum)}")

    def describe(self) -> str:
        return f"[{_number(self.minimum)},...{'' if self.maximum is None else ',' + _number(self.maximum)}]"


class OneOf:
    __slots__ = ("names",)

    def __init__(self, *names: str) -> None:
        self.names = names

    def validate(self, name: str, value: Value) -> None:
        if value not in self.names:
            raise refusal(name, value, f"String must be one of: {', '.join(self.names)}")

    def describe(self) -> str:
        return f"[{', '.join(self.names)}]"


class OneOfAnyCase:
    __slots__ = ("names",)

    def __init__(self, *names: str) -> None:
        self.names = names

    def validate(self, name: str, value: Value) -> None:
        if str(value).upper() not in self.names:
            raise refusal(name, value, f"String must be one of (case insensitive): {', '.join(self.names)}")

    def describe(self) -> str:
        return f"(case insensitive) [{', '.join(self.names)}]"


class ListOf:
    """A list without gaps, of the given names or of any; repetitions are dropped before it is checked."""

    __slots__ = ("empty_allowed", "names")

    def __init__(self, *names: str, empty_allowed: bool = True) -> None:
        self.names = names
        self.empty_allowed = empty_allowed

    def validate(self, name: str, value: Value) -> None:
        assert isinstance(value, tuple), "only lists are checked item by item"
        if not value and not self.empty_allowed:
            valid = self.describe() or "any non-empty value"
            raise SettingError(f"Configuration '{name}' must not be empty. Valid values include: {valid}")
        for item in value:
            if self.names and item not in self.names:
                raise refusal(name, item, f"String must be one of: {', '.join(self.names)}")
            if not item:
                raise SettingError(f"Configuration '{name}' values must not be empty.")

    def describe(self) -> str:
        return f"[{', '.join(self.names)}]" if self.names else ""


class NonEmpty:
    __slots__ = ()

    def validate(self, name: str, value: Value) -> None:
        if value == "":
            raise refusal(name, value, "String must be non-empty")

    def describe(self) -> str:
        return "non-empty string"


class NonNull:
    """Text always is; the check is here because the docs mention it."""

    __slots__ = ()

    def validate(self, name: str, value: Value) -> None:
        assert value is not None, f"{name} parsed to nothing"

    def describe(self) -> str:
        return "non-null string"


class GzipLevel:
    __slots__ = ()

    def validate(self, name: str, value: Value) -> None:
        assert isinstance(value, int), "a level is a whole number"
        if value != -1 and not 1 <= value <= 9:
            raise refusal(name, value, "Value must be between 1 and 9 or equal to -1")

    def describe(self) -> str:
        return "[1,...,9] or -1"


_THROTTLED = "[partitionId]:[brokerId],[partitionId]:[brokerId],..."


class ThrottledReplicas:
    __slots__ = ()

    def validate(self, name: str, value: Value) -> None:
        assert isinstance(value, tuple), "throttled replicas come as a list"
        pairs = all(re.fullmatch(r"[0-9]+:[0-9]+", item) for item in value)
        if value != ("*",) and not pairs:
            raise refusal(
                name,
                value,
                f"{name} must be the literal '*' or a list of replicas in the following format: {_THROTTLED}",
            )

    def describe(self) -> str:
        return _THROTTLED


# Patterns stay text until they are needed: compiling them would double the time this module takes to import.
_HOST_PORT = r"(?:[0-9a-zA-Z\-%._]*://)?\[?([0-9a-zA-Z\-%._:]*)\]?:([0-9]+)"


def split_host_port(text: str) -> tuple[str, int] | None:
    """`host:port`, `[::1]:port` or `protocol://host:port`; None if the text is none of them."""
    match = re.fullmatch(_HOST_PORT, text)
    return None if match is None else (match[1], int(match[2]))


class QuorumVoters:
    __slots__ = ()

    def validate(self, name: str, value: Value) -> None:
        assert isinstance(value, tuple), "voters come as a list"
        form = "Each entry should be in the form `{id}@{host}:{port}`."
        for entry in value:
            voter, separator, address = entry.partition("@")
            if not separator or "@" in address:
                raise SettingError(f"Invalid configuration value for {name}. {form}")
            if re.fullmatch(r"[+-]?\d+", voter) is None:
                raise SettingError(
                    f"Failed to parse voter ID as an integer from {voter} for the configuration {name}. "
                    f"{form}"
                )
            if split_host_port(address) is None:
                raise SettingError(
                    f"Failed to parse host name from entry {entry} for the configuration {name}. {form}"
                )

    def describe(self) -> str:
        return "non-empty list"


class BootstrapServers:
    __slots__ = ()

    def validate(self, name: str, value: Value) -> None:
        assert isinstance(value, tuple), "servers come as a list"
        for entry in value:
            if split_host_port(entry) is None:
                raise SettingError(
                    f"Failed to parse host name from {entry} for the configuration {name}. "
                    'Each entry should be in the form "{host}:{port}"'
                )

    def describe(self) -> str:
        return "non-empty list"


_DURATION = r"(?i)by_duration:P(?=.)(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+(\.\d{0,9})?S)?)?"


class OffsetReset:
    __slots__ = ()

    def validate(self, name: str, value: Value) -> None:
        text = str(value)
        if text not in {"earliest", "latest"} and re.fullmatch(_DURATION, text) is None:
            raise refusal(
                name,
                value,
                f"Invalid value `{text}` for configuration {name}. The value must be either 'earliest', "
                "'latest' or of the format 'by_duration:<PnDTnHnMn.nS>'.",
            )

    def describe(self) -> str:
        return "[latest, earliest, by_duration:PnDTnHnMn.nS]"


# Checks that many rows share.
ANY_LIST = ListOf()
NON_EMPTY_LIST = ListOf(empty_allowed=False)
NON_EMPTY = NonEmpty()
CODECS = OneOf("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")
CLEANUP_POLICIES = ListOf("compact", "delete")
TIMESTAMP_TYPES = OneOf("CreateTime", "LogAppendTime")
GZIP_LEVELS = GzipLevel()
LZ4_LEVELS = Range(1, 17)
ZSTD_LEVELS = Range(-131072, 22)
