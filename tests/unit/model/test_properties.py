"""`.properties` files mean here what they mean to Java."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.model import properties


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=b", {"a": "b"}),
        ("a = b ", {"a": "b "}),
        ("a:b\nc d\n e\t=\tf", {"a": "b", "c": "d", "e": "f"}),
        ("a", {"a": ""}),
        ("a==b", {"a": "=b"}),
        ("a=x=y", {"a": "x=y"}),
        ("a=x\\\\\nb=2", {"a": "x\\", "b": "2"}),
        ("a=\\q", {"a": "q"}),
        ("a : = b", {"a": "= b"}),
        ("# a=1\n  ! b=2\nc=3", {"c": "3"}),
        ("a=1\r\nb=2\rc=3", {"a": "1", "b": "2", "c": "3"}),
        ("a=x,\\\n   y,\\\n\tz", {"a": "x,y,z"}),
        ("a=x\\\n# not a comment", {"a": "x# not a comment"}),
        ("a=x\\\n\nb=2", {"a": "x", "b": "2"}),
        ("# comment \\\na=1", {"a": "1"}),
        ("a=x\\", {"a": "x"}),
        ("a=C:\\\\logs", {"a": "C:\\logs"}),
        ("a=C:\\logs", {"a": "C:logs"}),
        ("a\\ b\\=c=d", {"a b=c": "d"}),
        ("a=\\u00e9\\t\\u20AC", {"a": "é\t€"}),
        ("a=\\uD83D\\uDE00", {"a": "😀"}),
        ("a=1\na=2", {"a": "2"}),
        ("=x", {"": "x"}),
        ("\\", {"": ""}),
        ("", {}),
    ],
)
def test_text_is_read_as_java_reads_it(text: str, expected: dict[str, str]) -> None:
    assert properties.parse(text) == expected


def test_malformed_unicode_escape_is_refused_with_javas_words() -> None:
    with pytest.raises(properties.PropertiesError, match=r"Malformed \\uxxxx encoding\."):
        properties.parse("a=\\u12g4")


def test_bytes_are_utf8_or_else_latin1() -> None:
    assert properties.load("a=é".encode()) == {"a": "é"}
    assert properties.load("a=é".encode("latin-1")) == {"a": "é"}


def test_written_text_escapes_what_java_escapes() -> None:
    assert properties.dump({"a b": " x=1\n"}, ["note"]) == "#note\na\\ b=\\ x\\=1\\n\n"


_TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.dictionaries(_TEXT, _TEXT))
def test_what_is_written_reads_back(mapping: dict[str, str]) -> None:
    assert properties.parse(properties.dump(mapping)) == mapping


@given(st.binary())
def test_any_bytes_are_read_or_refused_cleanly(data: bytes) -> None:
    with contextlib.suppress(properties.PropertiesError):
        mapping = properties.load(data)
        assert properties.parse(properties.dump(mapping)) == mapping
