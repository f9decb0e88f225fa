"""The console consumer's formatters for the coordinators' topics: one JSON object per record that a formatter
is for, nothing for others, and, as with Kafka, nothing between them."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import Any

from barnabas.cli.parts.console_consumer_formatters import FormatterError, OutputRecord
from barnabas.cli.parts.dump_log_internal import fields_of
from barnabas.protocol.codec import MalformedError
from barnabas.protocol.internal.entries import decode_entry

_VERSION = struct.Struct(">h")


@dataclass(frozen=True, slots=True)
class InternalFormatter:
    topic: str
    types: frozenset[int]

    def format(self, record: OutputRecord) -> bytes:
        if record.key is None or len(record.key) < _VERSION.size:
            return b""
        (type_id,) = _VERSION.unpack_from(record.key)
        if type_id not in self.types:
            return b""
        try:
            entry = decode_entry(self.topic, record.key, record.value)
        except MalformedError as error:
            raise FormatterError(str(error)) from None
        assert entry is not None, "every type of a formatter is one of its topic"
        key, value = entry
        shown: dict[str, Any] = {"key": {"type": type_id, "data": fields_of(key, 0)}, "value": None}
        if value is not None and record.value is not None:
            (version,) = _VERSION.unpack_from(record.value)
            shown["value"] = {"version": version, "data": fields_of(value, version)}
        return json.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode()


# By the simple name of Kafka's class; older releases kept them inside others, after a dollar.
FORMATTERS = {
    "OffsetsMessageFormatter": InternalFormatter("__consumer_offsets", frozenset({0, 1})),
    "GroupMetadataMessageFormatter": InternalFormatter("__consumer_offsets", frozenset({2})),
    "TransactionLogMessageFormatter": InternalFormatter("__transaction_state", frozenset({0})),
}
