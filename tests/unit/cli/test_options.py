from __future__ import annotations

import pytest

from barnabas.cli.options import Option, OptionError, Parser, UsageError, VersionAsked

PARSER = Parser(
    "A tool.",
    (
        Option("topic", "A name.", "String: topic"),
        Option("count", "How many.", "Integer: count", default="3"),
        Option("list", "A flag."),
        Option("bootstrap-server", "Where.", "String: server", aliases=("broker-list",)),
        Option("keys", "Some.", "String", separator=","),
        Option("size", "Maybe a size.", "Long: bytes", argument_optional=True),
    ),
    gone={"zookeeper": "it is gone"},
)


@pytest.mark.parametrize("line", ["--topic x", "--topic=x", "-topic x", "-topic=x"])
def test_every_way_to_write_a_value_is_understood(line: str) -> None:
    assert PARSER.parse(line.split()).value("topic") == "x"


def test_a_value_may_begin_with_a_dash_or_hold_an_equals_sign() -> None:
    assert PARSER.parse(["--topic", "-1"]).value("topic") == "-1"
    assert PARSER.parse(["--topic", "--list"]).value("topic") == "--list"
    assert PARSER.parse(["--topic=a=b"]).value("topic") == "a=b"


def test_old_spellings_stand_for_the_new_ones() -> None:
    options = PARSER.parse(["--broker-list", "h:1"])
    assert options.value("bootstrap-server") == "h:1"
    assert options.old_names == ["broker-list"]


def test_stray_words_are_kept_apart_and_two_dashes_end_the_options() -> None:
    options = PARSER.parse(["a", "--list", "b", "--", "--topic", "c"])
    assert options.stray == ["a", "b", "--topic", "c"]
    assert options.has("list")
    assert not options.has("topic")


def test_repeated_options_add_up_but_one_value_is_one_value() -> None:
    options = PARSER.parse(["--topic", "a", "--topic", "b"])
    assert options.values("topic") == ["a", "b"]
    with pytest.raises(
        OptionError, match="Found multiple arguments for option topic, but you asked for only"
    ):
        options.value("topic")


def test_separated_values_are_split() -> None:
    assert PARSER.parse(["--keys", "a,b", "--keys", "c"]).values("keys") == ["a", "b", "c"]


def test_an_optional_argument_is_not_stolen_from_the_next_option() -> None:
    assert PARSER.parse(["--size", "--list"]).has("list")
    assert PARSER.parse(["--size", "5"]).integer("size") == 5


def test_defaults_and_numbers() -> None:
    assert PARSER.parse(["--list"]).integer("count") == 3
    for bad in ("x", "1.5", str(2**31)):
        with pytest.raises(OptionError, match=f"Cannot parse argument '{bad}' of option count"):
            PARSER.parse(["--count", bad]).integer("count")


@pytest.mark.parametrize(
    ("word", "line", "hint"),
    [
        ("--tpoic", "tpoic is not a recognized option", "did you mean --topic?"),
        ("--zoopkeeper", "zoopkeeper is not a recognized option", "did you mean --zookeeper?"),
        ("--zookeeper", "zookeeper is not a recognized option", "it is gone"),
        (
            "--bootstrap_server",
            "bootstrap_server is not a recognized option",
            "did you mean --bootstrap-server?",
        ),
        ("-bootstrap-servr", "b is not a recognized option", "did you mean --bootstrap-server?"),
        ("--qqqqqqq", "qqqqqqq is not a recognized option", "--help lists the options"),
        ("--top", "top is not a recognized option", "did you mean --topic?"),
    ],
)
def test_a_name_typed_wrong_is_answered_with_the_nearest(word: str, line: str, hint: str) -> None:
    with pytest.raises(OptionError) as caught:
        PARSER.parse([word, "x"])
    assert (str(caught.value), caught.value.hint) == (line, hint)


def test_abbreviations_work_only_where_a_tool_allows_them_and_they_are_unambiguous() -> None:
    parser = Parser("A tool.", PARSER.options.values(), abbreviations=True)
    assert parser.parse(["--top", "x"]).value("topic") == "x"
    both = Parser("A tool.", (Option("topic", "", "String"), Option("topics", "")), abbreviations=True)
    with pytest.raises(OptionError):
        both.parse(["--top"])


def test_a_missing_argument_is_named() -> None:
    with pytest.raises(OptionError, match="Option topic requires an argument"):
        PARSER.parse(["--topic"])


def test_help_shows_the_usage_and_version_asks_for_it() -> None:
    for arguments in (["--help"], []):
        with pytest.raises(UsageError, match=r"A tool\."):
            PARSER.parse(arguments)
    with pytest.raises(VersionAsked):
        PARSER.parse(["--version"])


def test_required_and_forbidden_options_are_named_in_kafkas_words() -> None:
    options = PARSER.parse(["--list", "--count", "1"])
    with pytest.raises(UsageError, match=r'Missing required argument "\[topic\]"'):
        options.require("list", "topic")
    with pytest.raises(UsageError, match=r'Option "\[list\]" can\'t be used with option "\[count\]"'):
        options.forbid("list", "topic", "count")


def test_the_usage_has_two_columns_eighty_wide_in_alphabetical_order() -> None:
    lines = PARSER.usage().splitlines()
    assert lines[0].split() == ["Option", "Description"]
    assert all(len(line) == len(lines[0]) <= 80 for line in lines)
    names = [line.split()[0] for line in lines[2:] if line.startswith("--")]
    assert names == sorted(names)
    assert "How many. (default: 3)" in PARSER.usage()
    assert "broker-list" not in PARSER.usage()


def test_long_texts_wrap_with_a_hanging_indent() -> None:
    text = "word " * 30
    rows = Parser("A tool.", (Option("x", text, "String: " + "long " * 12),)).usage().splitlines()
    wrapped = [row for row in rows if row.startswith("  long")]
    assert wrapped
    assert all(len(row) <= 80 for row in rows)
    assert " ".join(rows).count("word") == 30
