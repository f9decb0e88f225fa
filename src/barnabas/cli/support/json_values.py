"""The JSON files people hand to the tools, read as strictly as Kafka reads them and refused in its words."""

from __future__ import annotations

import json
from typing import Any

from barnabas.cli.support.failures import ToolError

MAPPING = "com.fasterxml.jackson.databind.JsonMappingException"


def fields_of(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ToolError(f"Expected JSON object, received {_shown(value)}", MAPPING)
    return value


def items_of(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise ToolError(f"Expected JSON array, received {_shown(value)}", MAPPING)
    return value


def field(row: dict[str, Any], name: str) -> object:
    if name not in row:
        raise ToolError(f"No such field exists: `{name}`", MAPPING)
    return row[name]


def number(value: object, java_type: str = "Integer") -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ToolError(f"Expected `{java_type}` value, received {_shown(value)}", MAPPING)
    return value


def text(value: object) -> str:
    if not isinstance(value, str):
        raise ToolError(f"Expected `String` value, received {_shown(value)}", MAPPING)
    return value


def _shown(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
