"""Lines become records as Kafka's LineMessageReader makes them."""

from __future__ import annotations

import pytest

from barnabas.cli.readers import InputRecord, LineReader, ReaderError


def read(line: str, **properties: str) -> InputRecord:
    named = {name.replace("_", "."): value for name, value in properties.items()}
    return LineReader.configured(named).read(line, 1)


def test_a_line_is_a_value_by_default() -> None:
    assert read("a\tb") == InputRecord(None, b"a\tb", [])
    assert read("") == InputRecord(None, b"", [])


def test_a_key_ends_at_the_first_separator() -> None:
    assert read("k:v:w", parse_key="true", key_separator=":") == InputRecord(b"k", b"v:w", [])
    assert read("k\tv", parse_key=" TRUE ") == InputRecord(b"k", b"v", [])


def test_headers_come_before_the_key() -> None:
    record = read("h1:v1,h2:v2\tk\tv", parse_key="true", parse_headers="true")
    assert record == InputRecord(b"k", b"v", [("h1", b"v1"), ("h2", b"v2")])


def test_the_null_marker_stands_for_null_everywhere_but_in_header_names() -> None:
    options = {"parse_key": "true", "parse_headers": "true", "null_marker": "NULL"}
    assert read("h:NULL\tNULL\tNULL", **options) == InputRecord(None, None, [("h", None)])
    assert read("NULL\tk\tv", **options) == InputRecord(b"k", b"v", [])
    with pytest.raises(ReaderError, match="can't be null"):
        read("NULL:v\tk\tv", **options)


def test_a_missing_separator_is_an_error_with_the_line_number() -> None:
    with pytest.raises(ReaderError, match=r"^No key separator found on line number 1: 'kv'$"):
        read("kv", parse_key="true")
    with pytest.raises(ReaderError, match=r"^No headers delimiter found on line number 1: 'kv'$"):
        read("kv", parse_headers="true")
    with pytest.raises(ReaderError, match=r"^No header key separator found in pair 'h' on line number 1$"):
        read("h\tv", parse_headers="true")


def test_ignore_error_makes_the_best_of_it() -> None:
    assert read("kv", parse_key="true", ignore_error="true") == InputRecord(None, b"kv", [])
    assert read("h\tv", parse_headers="true", ignore_error="true") == InputRecord(None, b"v", [("h", None)])


@pytest.mark.parametrize(
    ("properties", "sentence"),
    [
        ({"headers_delimiter": ","}, "headers.delimiter and headers.separator may not be equal"),
        ({"headers_separator": ":"}, "headers.separator and headers.key.separator may not be equal"),
        ({"headers_delimiter": ":"}, "headers.delimiter and headers.key.separator may not be equal"),
        ({"null_marker": "\t"}, "null.marker and key.separator may not be equal"),
        ({"null_marker": ":"}, "null.marker and headers.key.separator may not be equal"),
    ],
)
def test_separators_that_cannot_be_told_apart_are_refused(properties: dict[str, str], sentence: str) -> None:
    with pytest.raises(ReaderError, match=f"^{sentence}$"):
        read("x", **properties)


def test_bytes_that_are_not_utf8_go_through_unharmed() -> None:
    assert read(b"\xff\xfe".decode(errors="surrogateescape")).value == b"\xff\xfe"
