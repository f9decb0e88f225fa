"""Reading and writing the JSON of the tree's values, with one kind of complaint."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast


class MalformedNodeError(Exception):
    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path


def encode(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def decode(path: str, data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except ValueError as problem:
        raise MalformedNodeError(path, f"not JSON: {problem}") from None
    if not isinstance(value, dict):
        raise MalformedNodeError(path, "not a JSON object")
    return value


def required(path: str, value: Mapping[str, Any], name: str) -> Any:
    if name not in value:
        raise MalformedNodeError(path, f"'{name}' is missing")
    return value[name]


def integer(path: str, value: object) -> int:
    try:
        return int(cast(str, value))
    except (TypeError, ValueError):
        raise MalformedNodeError(path, f"{value!r} is not a number") from None


def integers(path: str, value: object) -> tuple[int, ...]:
    if not isinstance(value, list):
        raise MalformedNodeError(path, f"{value!r} is not a list of numbers")
    return tuple(integer(path, item) for item in value)


def json_object(path: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise MalformedNodeError(path, f"{value!r} is not an object")
    return value
