"""An answer as plain JSON that two brokers, or two days, can be compared by.

Fields that hold their default are left out, error codes become names, and whatever differs from broker to
broker without meaning anything (ids, ports, directories, the clock) becomes a word.
"""

from __future__ import annotations

import re
import struct
import time
from typing import Any

from barnabas.model.errors import ErrorCode
from barnabas.model.ids import ZERO_UUID
from barnabas.protocol.schema import Field, Message

NEARLY_NOW_MS = 3_600_000
_ERRORS = {int(code): code.name for code in ErrorCode}
_BATCH = struct.Struct(">qiiBIhiqqqhii")
_WORDS = {"port": "PORT", "cluster_id": "CLUSTER", "log_dir": "DIRECTORY", "documentation": "SOME TEXT"}
_NOT_ZERO_WORDS = {"total_bytes": "SOME BYTES", "usable_bytes": "SOME BYTES"}


class Renderer:
    """Remembers names given to ids, so that the same id is the same word in a whole transcript."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.topic_ids: dict[bytes, str] = {}
        self._named: dict[tuple[str, int], str] = {}

    def message(self, message: Message, version: int) -> dict[str, Any]:
        shown = {}
        for field in message.FIELDS:
            value = getattr(message, field.name)
            if not field.carried(version) or field.name == "throttle_time_ms":
                continue
            if value == field.default and field.name != "error_code":
                continue
            if isinstance(value, list) and not value and not field.default and field.default is not None:
                continue
            shown[field.name] = self._value(field, value, version)
        return shown

    def _value(self, field: Field, value: Any, version: int) -> Any:
        if isinstance(value, Message):
            return self.message(value, version)
        if isinstance(value, (list, tuple)):
            return [self._value(field, item, version) for item in value]
        if field.kind == "records":
            return None if value is None else self.batches(bytes(value))
        if isinstance(value, (bytes, bytearray, memoryview)):
            return self._uuid(bytes(value))
        if isinstance(value, str):
            return _WORDS.get(field.name) or self.text(value)
        return self._number(field.name, value)

    def _number(self, name: str, value: int) -> Any:
        if value is None:
            return None
        if name.endswith("error_code"):
            return _ERRORS[value]
        if name in _WORDS:
            return _WORDS[name]
        if name in _NOT_ZERO_WORDS and value > 0:
            return _NOT_ZERO_WORDS[name]
        if (name == "producer_id" and value >= 0) or (name == "session_id" and value > 0):
            kind = name.removesuffix("_id")
            count = sum(1 for known, _ in self._named if known == kind)
            return self._named.setdefault((kind, value), f"{kind} {count + 1}")
        if abs(value - time.time() * 1000) < NEARLY_NOW_MS:
            return "NOW"
        return value

    def _uuid(self, value: bytes) -> str:
        return "ZERO" if value == ZERO_UUID else self.topic_ids.get(value, value.hex())

    def text(self, text: str) -> str:
        text = text.replace(self.prefix, "")
        for topic_id, name in self.topic_ids.items():
            text = text.replace(uuid_text(topic_id), name)
        return re.sub(r"-?\b\d{13,19}\b", self._moment, text)

    @staticmethod
    def _moment(match: re.Match[str]) -> str:
        """The bounds around now that a message names move with the clock; an unlimited one wraps around."""
        number = int(match[0]) % 2**63
        now_ms = int(time.time() * 1000)
        near = min(abs(number - now_ms), abs(number - now_ms - 1)) < 4 * NEARLY_NOW_MS
        return "MOMENT" if near else match[0]

    def batches(self, records: bytes) -> list[str]:
        """One line per batch, and one for the bytes behind the last whole one."""
        lines = []
        position = 0
        while len(records) - position >= _BATCH.size:
            header = _BATCH.unpack_from(records, position)
            size = 12 + header[1]
            if position + size > len(records):
                break
            lines.append(self._batch(header, size))
            position += size
        if position < len(records):
            lines.append(f"{len(records) - position} bytes of a further batch")
        return lines

    def _batch(self, header: tuple[int, ...], size: int) -> str:
        base, _, epoch, magic, _, attributes, last_delta, first_ms, max_ms, producer, p_epoch, seq, count = (
            header
        )
        text = f"{base}-{base + last_delta} ({count} records, {size} bytes) epoch {epoch} magic {magic}"
        text += f" attributes {attributes} time {self._number('', first_ms)}..{self._number('', max_ms)}"
        if producer >= 0:
            text += f" {self._number('producer_id', producer)}/{p_epoch}/{seq}"
        return text


def uuid_text(value: bytes) -> str:
    """As Kafka prints an id: base64, URL-safe, without padding."""
    import base64

    return base64.urlsafe_b64encode(value).decode().rstrip("=")
