from __future__ import annotations

import pytest

from barnabas.cli.properties import parse_pairs, parse_properties


def test_separators_comments_and_blank_lines() -> None:
    text = "# one\n! two\n\na=1\nb: 2\nc 3\n  d = 4 \ne\n"
    assert parse_properties(text) == {"a": "1", "b": "2", "c": "3", "d": "4 ", "e": ""}


def test_a_backslash_continues_the_line_and_two_do_not() -> None:
    assert parse_properties("a=1,\\\n   2\nb=x\\\\\nc=3") == {"a": "1,2", "b": "x\\", "c": "3"}


def test_escapes_in_keys_and_values() -> None:
    assert parse_properties(r"a\=b\:c=\u0041\tz\q") == {"a=b:c": "A\tzq"}


def test_the_last_of_two_wins_and_values_keep_their_equals_signs() -> None:
    assert parse_properties("a=1\na=x=y\n") == {"a": "x=y"}


def test_pairs_of_a_command_line() -> None:
    assert parse_pairs(["a=1", "b=x=y", "c"]) == {"a": "1", "b": "x=y", "c": ""}
    with pytest.raises(ValueError, match="Missing value for key c"):
        parse_pairs(["c="], value_required=True)
