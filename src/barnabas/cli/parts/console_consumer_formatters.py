"""How the console consumer writes records: Kafka's Default, Logging and NoOp message formatters, and those of
the coordinators' topics.

They are named by class, by Kafka's full name of today or of older releases, as people's scripts have it.
"""

from __future__ import annotations

import struct
import sys
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from barnabas.cli.support.log_lines import log

Deserialise: TypeAlias = Callable[[bytes], str]

_DEFAULT_FORMATTER = "org.apache.kafka.tools.consumer.DefaultMessageFormatter"


class FormatterError(Exception):
    """No such formatter or deserialiser, or bytes that one refuses; the sentence is Kafka's."""


@dataclass(frozen=True, slots=True)
class OutputRecord:
    partition: int
    offset: int
    timestamp: str | None  # "CreateTime:1690000000000", as Kafka prints it; None when there is none
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]


class Formatter(Protocol):
    def format(self, record: OutputRecord) -> bytes: ...


@dataclass(frozen=True, slots=True)
class DefaultFormatter:
    """Columns in Kafka's order. Its console consumer hides epoch and delivery count from the formatter, so
    both are always NOT_PRESENT."""

    shown: frozenset[str] = frozenset({"value"})
    key_separator: bytes = b"\t"
    line_separator: bytes = b"\n"
    headers_separator: bytes = b","
    null_literal: bytes = b"null"
    deserialisers: Mapping[str, Deserialise] = field(default_factory=dict)

    @staticmethod
    def configured(properties: Mapping[str, str]) -> DefaultFormatter:
        shown = {
            column
            for column in COLUMNS
            if properties.get(f"print.{column}", str(column == "value")).strip().lower() == "true"
        }

        def separator(name: str, fallback: str) -> bytes:
            return properties.get(name, fallback).encode(errors="surrogateescape")

        return DefaultFormatter(
            frozenset(shown),
            separator("key.separator", "\t"),
            separator("line.separator", "\n"),
            separator("headers.separator", ","),
            separator("null.literal", "null"),
            _deserialisers(properties),
        )

    def format(self, record: OutputRecord) -> bytes:
        columns = [getattr(self, f"_{column}")(record) for column in COLUMNS if column in self.shown]
        return self.key_separator.join(columns) + self.line_separator if columns else b""

    def _timestamp(self, record: OutputRecord) -> bytes:
        return (record.timestamp or "NO_TIMESTAMP").encode()

    def _partition(self, record: OutputRecord) -> bytes:
        return b"Partition:%d" % record.partition

    def _offset(self, record: OutputRecord) -> bytes:
        return b"Offset:%d" % record.offset

    def _delivery(self, record: OutputRecord) -> bytes:  # noqa: ARG002
        return b"Delivery:NOT_PRESENT"

    def _epoch(self, record: OutputRecord) -> bytes:  # noqa: ARG002
        return b"Epoch:NOT_PRESENT"

    def _headers(self, record: OutputRecord) -> bytes:
        pairs = [name.encode() + b":" + self._text("headers", value) for name, value in record.headers]
        return self.headers_separator.join(pairs) if pairs else b"NO_HEADERS"

    def _key(self, record: OutputRecord) -> bytes:
        return self._text("key", record.key)

    def _value(self, record: OutputRecord) -> bytes:
        return self._text("value", record.value)

    def _text(self, part: str, data: bytes | None) -> bytes:
        shown = self.null_literal if data is None else data
        deserialise = self.deserialisers.get(part)
        return shown if deserialise is None else deserialise(shown).encode()


COLUMNS = ("timestamp", "partition", "offset", "delivery", "epoch", "headers", "key", "value")


@dataclass(frozen=True, slots=True)
class LoggingFormatter:
    """The default formatter's output, and each record once more in the log."""

    inner: DefaultFormatter
    log: Callable[[str], None]

    def format(self, record: OutputRecord) -> bytes:
        timestamp = f"{record.timestamp}, " if record.timestamp is not None else ""
        key = "null " if record.key is None else record.key.decode(errors="replace") + ", "
        value = "null" if record.value is None else record.value.decode(errors="replace")
        self.log(f"{timestamp}key:{key}value:{value}")
        return self.inner.format(record)


@dataclass(frozen=True, slots=True)
class NoOpFormatter:
    def format(self, record: OutputRecord) -> bytes:  # noqa: ARG002
        return b""


def formatter_named(name: str, properties: Mapping[str, str], log: Callable[[str], None]) -> Formatter:
    simple = name.rpartition(".")[2]
    if simple == "DefaultMessageFormatter":
        return DefaultFormatter.configured(properties)
    if simple == "LoggingMessageFormatter":
        return LoggingFormatter(DefaultFormatter.configured(properties), log)
    if simple == "NoOpMessageFormatter":
        return NoOpFormatter()
    from barnabas.cli.parts.console_consumer_internal import FORMATTERS  # brings the protocol along

    if simple.rpartition("$")[2] in FORMATTERS:
        return FORMATTERS[simple.rpartition("$")[2]]
    raise FormatterError(name)


# --- Kafka's own deserialisers, by class name -----------------------------------------------------------


def _number(layout: str, name: str) -> Deserialise:
    size = struct.calcsize(layout)

    def deserialise(data: bytes) -> str:
        if len(data) != size:
            raise FormatterError(f"Size of data received by {name} is not {size}")
        return str(struct.unpack(layout, data)[0])

    return deserialise


def _boolean(data: bytes) -> str:
    if data not in {b"\x00", b"\x01"}:
        raise FormatterError("Unexpected byte received by BooleanDeserializer: " + data.hex())
    return "true" if data == b"\x01" else "false"


def _uuid(data: bytes) -> str:
    return str(uuid.UUID(data.decode(errors="replace")))


def _string(data: bytes) -> str:
    return data.decode(errors="replace")


DESERIALISERS: dict[str, Deserialise] = {
    "StringDeserializer": _string,
    "LongDeserializer": _number(">q", "LongDeserializer"),
    "IntegerDeserializer": _number(">i", "IntegerDeserializer"),
    "ShortDeserializer": _number(">h", "ShortDeserializer"),
    "FloatDeserializer": _number(">f", "FloatDeserializer"),
    "DoubleDeserializer": _number(">d", "DoubleDeserializer"),
    "BooleanDeserializer": _boolean,
    "UUIDDeserializer": _uuid,
}


def _deserialisers(properties: Mapping[str, str]) -> dict[str, Deserialise]:
    chosen: dict[str, Deserialise] = {}
    for part in ("key", "value", "headers"):
        name = properties.get(f"{part}.deserializer")
        if name is None:
            continue
        simple = name.rpartition(".")[2]
        if simple in DESERIALISERS:
            chosen[part] = DESERIALISERS[simple]
        elif simple != "ByteArrayDeserializer":
            # As Kafka: say so, and go on with the plain bytes.
            log("ERROR", f"Unable to instantiate a deserializer from {name}", _DEFAULT_FORMATTER)
            print(f"java.lang.ClassNotFoundException: {name}", file=sys.stderr)
    return chosen
