"""How the console producer turns lines into records: Kafka's LineMessageReader.

Properties: parse.key, key.separator, parse.headers, headers.delimiter, headers.separator,
headers.key.separator, ignore.error, null.marker. A full line is `h1:v1,h2:v2<TAB>key<TAB>value`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


class ReaderError(Exception):
    """The reader's properties or a line make no sense; the sentence is Kafka's."""


@dataclass(frozen=True, slots=True)
class InputRecord:
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]


@dataclass(frozen=True, slots=True)
class LineReader:
    parse_key: bool = False
    key_separator: str = "\t"
    parse_headers: bool = False
    headers_delimiter: str = "\t"
    headers_separator: str = ","
    headers_key_separator: str = ":"
    ignore_error: bool = False
    null_marker: str | None = None

    @staticmethod
    def configured(properties: Mapping[str, str]) -> LineReader:
        default = LineReader()
        reader = LineReader(
            _is_true(properties.get("parse.key", "")),
            properties.get("key.separator", default.key_separator),
            _is_true(properties.get("parse.headers", "")),
            properties.get("headers.delimiter", default.headers_delimiter),
            properties.get("headers.separator", default.headers_separator),
            properties.get("headers.key.separator", default.headers_key_separator),
            _is_true(properties.get("ignore.error", "")),
            properties.get("null.marker"),
        )
        reader._check()
        return reader

    def _check(self) -> None:
        separators = {
            "headers.delimiter": self.headers_delimiter,
            "headers.separator": self.headers_separator,
            "headers.key.separator": self.headers_key_separator,
        }
        pairs = [
            ("headers.delimiter", "headers.separator"),
            ("headers.delimiter", "headers.key.separator"),
            ("headers.separator", "headers.key.separator"),
        ]
        for one, other in pairs:
            if separators[one] == separators[other]:
                raise ReaderError(f"{one} and {other} may not be equal")
        for name, separator in ({"key.separator": self.key_separator} | separators).items():
            if separator == self.null_marker:
                raise ReaderError(f"null.marker and {name} may not be equal")

    def read(self, line: str, line_number: int) -> InputRecord:
        headers = key = None
        start = 0
        if self.parse_headers:
            headers, start = self._field(
                line, line_number, start, self.headers_delimiter, "headers delimiter"
            )
        if self.parse_key:
            key, start = self._field(line, line_number, start, self.key_separator, "key separator")
        pairs = self._headers(headers, line_number) if headers not in {None, self.null_marker} else []
        return InputRecord(self._nullable(key), self._nullable(line[start:]), pairs)

    def _field(
        self, line: str, line_number: int, start: int, separator: str, what: str
    ) -> tuple[str | None, int]:
        """The text up to the separator and where the rest begins."""
        end = line.find(separator, start)
        if end >= 0:
            return line[start:end], end + len(separator)
        if self.ignore_error:
            return None, start
        raise ReaderError(f"No {what} found on line number {line_number}: '{line}'")

    def _headers(self, text: str | None, line_number: int) -> list[tuple[str, bytes | None]]:
        pairs = re.split(self.headers_separator, text or "")
        # Java's split drops empty strings at the end, and only there.
        while len(pairs) > 1 and not pairs[-1]:
            pairs.pop()
        return [self._header(pair, line_number) for pair in pairs]

    def _header(self, pair: str, line_number: int) -> tuple[str, bytes | None]:
        name, separator, value = pair.partition(self.headers_key_separator)
        if not separator:
            if self.ignore_error:
                return pair, None
            raise ReaderError(f"No header key separator found in pair '{pair}' on line number {line_number}")
        if name == self.null_marker:
            raise ReaderError(
                f"Header keys should not be equal to the null marker '{self.null_marker}' "
                "as they can't be null"
            )
        return name, self._nullable(value)

    def _nullable(self, text: str | None) -> bytes | None:
        return None if text is None or text == self.null_marker else text.encode(errors="surrogateescape")


def _is_true(text: str) -> bool:
    return text.strip().lower() == "true"
