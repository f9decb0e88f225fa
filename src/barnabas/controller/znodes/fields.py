"""Reading and writing the JSON of the tree's values, with one kind of complaint."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)


class MalformedNodeError(Exception):
    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path


def encode(value: Mapping[str, Any]) -> bytes:
    return _ENCODER.encode(value).encode()


def decode(path: str, data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as problem:
        raise MalformedNodeError(path, f"not JSON: {problem}") from None
    if not isinstance(value, dict):
        raise MalformedNodeError(path, "not a JSON object")
    return value


def required(path: str, value: Mapping[str, Any], name: str) -> Any:
    if name not in value:
        raise MalformedNodeError(path, f"'{name}' is missing")
    return value[name]


def integer(path: str, value: object) -> int:
    """Kafka writes some numbers as strings."""
    try:
        if isinstance(value, str):
            return int(value)
    except ValueError:
        pass
    else:
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    raise MalformedNodeError(path, f"{value!r} is not a number")


def json_list(path: str, value: object) -> list[Any]:
    if not isinstance(value, list):
        raise MalformedNodeError(path, f"{value!r} is not a list")
    return value


def integers(path: str, value: object) -> tuple[int, ...]:
    return tuple(integer(path, item) for item in json_list(path, value))


def json_object(path: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise MalformedNodeError(path, f"{value!r} is not an object")
    return value
