"""Text to typed value and back, with the rules and the error sentences of Kafka's ConfigDef.

Java's number syntax is not Python's: `1_000` and `inf` are no numbers here, `5d` and `NaN` are.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import TypeAlias


class Type(Enum):
    BOOLEAN = "BOOLEAN"
    STRING = "STRING"
    INT = "INT"
    SHORT = "SHORT"
    LONG = "LONG"
    DOUBLE = "DOUBLE"
    LIST = "LIST"
    CLASS = "CLASS"
    PASSWORD = "PASSWORD"


class SettingError(ValueError):
    """A setting that cannot be accepted, in one sentence."""


class RequirementError(SettingError):
    """Settings that are fine one by one and do not go together."""


def require(condition: bool, sentence: str) -> None:
    if not condition:
        raise RequirementError(sentence)


class Password:
    """A secret that does not print itself."""

    __slots__ = ("secret",)

    def __init__(self, secret: str) -> None:
        self.secret = secret

    def __repr__(self) -> str:
        return "[hidden]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Password) and other.secret == self.secret

    def __hash__(self) -> int:
        return hash(self.secret)


Value: TypeAlias = bool | int | float | str | tuple[str, ...] | Password | None

_BITS = {Type.SHORT: 15, Type.INT: 31, Type.LONG: 63}
# Patterns stay text until they are needed: compiling them would double the time this module takes to import.
_WHOLE = r"[+-]?\d+"
_REAL = r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[fFdD]?|[+-]?NaN|([+-]?)Infinity"
_COMMA = r"\s*,\s*"
_JAVA_BLANKS = "".join(map(chr, range(0x21)))


def refusal(name: str, value: object, reason: str) -> SettingError:
    """Kafka's sentence for a bad value; tools print it as it is."""
    shown = f"[{', '.join(value)}]" if isinstance(value, tuple) else value
    return SettingError(f"Invalid value {shown} for configuration {name}: {reason}")


def parse_text(name: str, kind: Type, text: str) -> Value:
    trimmed = text.strip(_JAVA_BLANKS)
    if kind in _BITS:
        return _whole(name, kind, text, trimmed)
    if kind is Type.BOOLEAN:
        lowered = trimmed.lower()
        if lowered not in {"true", "false"}:
            raise refusal(name, text, "Expected value to be either true or false")
        return lowered == "true"
    if kind is Type.LIST:
        return tuple(re.split(_COMMA, trimmed)) if trimmed else ()
    if kind is Type.DOUBLE:
        return _real(name, text, trimmed)
    if kind is Type.PASSWORD:
        return Password(trimmed)
    return trimmed


def _whole(name: str, kind: Type, text: str, trimmed: str) -> int:
    if re.fullmatch(_WHOLE, trimmed) is not None and len(trimmed) < 40:
        number = int(trimmed)
        if -(1 << _BITS[kind]) <= number < 1 << _BITS[kind]:
            return number
    raise refusal(name, text, f"Not a number of type {kind.value}")


def _real(name: str, text: str, trimmed: str) -> float:
    match = re.fullmatch(_REAL, trimmed)
    if match is None:
        raise refusal(name, text, "Not a number of type DOUBLE")
    if match[1] is not None:
        return float(match[1])
    return float("nan") if match[2] is None else float(match[2] + "inf")


def to_text(value: Value) -> str | None:
    """The form Kafka prints: `true`, `a,b`, `1.0E20`, `[hidden]`."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return java_double(value)
    if isinstance(value, tuple):
        return ",".join(value)
    return str(value)


def java_double(number: float) -> str:
    """Java writes plain decimals from 0.001 up to ten million, and 1.0E20 beyond."""
    if number != number:  # noqa: PLR0124 - NaN is the only number that differs from itself
        return "NaN"
    if number in {float("inf"), float("-inf")}:
        return "Infinity" if number > 0 else "-Infinity"
    if number == 0 or 1e-3 <= abs(number) < 1e7:
        return repr(number)
    sign = "-" if number < 0 else ""
    mantissa, _, exponent = f"{abs(number)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    power = int(exponent or 0) + len(whole.lstrip("0")) - 1
    digits = (whole + fraction).lstrip("0")
    if not whole.strip("0"):
        power = int(exponent or 0) - (len(fraction) - len(fraction.lstrip("0"))) - 1
    return f"{sign}{digits[0]}.{digits[1:].rstrip('0') or '0'}E{power}"
