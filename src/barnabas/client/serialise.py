"""Serialisers are callables from a value to bytes, deserialisers from bytes to a value.

None never reaches them: a missing key and a tombstone stay None on both sides.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeAlias

Serialiser: TypeAlias = Callable[[Any], bytes]
Deserialiser: TypeAlias = Callable[[bytes], Any]


def plain(value: object) -> bytes:
    """The default: bytes as they are, text as UTF-8, anything else refused rather than guessed."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    raise TypeError(f"cannot send {type(value).__name__}: give bytes or str, or a serialiser such as to_json")


def to_json(value: object) -> bytes:
    """Compact JSON, UTF-8."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def from_json(data: bytes) -> Any:
    return json.loads(data)


def text(data: bytes) -> str:
    """UTF-8 text; a record that is not text is an error at the record, not a row of question marks."""
    return data.decode()
