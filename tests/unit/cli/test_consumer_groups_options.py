"""Mistakes on the command line of kafka-consumer-groups are answered in Kafka's words."""

from __future__ import annotations

import pytest

from barnabas.cli.parts.consumer_groups_options import parse
from barnabas.cli.parts.re2_syntax import verdict
from barnabas.cli.support.options import OptionError, UsageError

SERVER = ["--bootstrap-server", "localhost:9092"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("--describe", "Option [describe] takes one of these options: [group], [all-groups]"),
        ("--describe --group x --all-groups", 'Option "[group]" can\'t be used with option "[all-groups]"'),
        (
            "--describe --group x --members --offsets",
            "Option [describe] takes at most one of these options: [members], [offsets], [state]",
        ),
        ("--describe --group x --state Stable", "Option [describe] does not take a value for [state]"),
        ("--describe --group x --topic t", 'Option "[topic]" can\'t be used with option "[describe]"'),
        ("--list --group x", 'Option "[group]" can\'t be used with option "[list]"'),
        ("--delete", "Option [delete] takes one of these options: [group], [all-groups]"),
        (
            "--delete --group g --topic t",
            "The consumer does not support topic-specific offset deletion from a consumer group.",
        ),
        (
            "--delete-offsets --group g",
            "Option [delete-offsets] takes the following options: [group], [topic]",
        ),
        (
            "--reset-offsets --dry-run --execute",
            "Option [reset-offsets] only accepts one of [execute] and [dry-run]",
        ),
        (
            "--reset-offsets --dry-run --group g --to-latest --to-earliest",
            'Option "[to-earliest]" can\'t be used with option "[to-latest]"',
        ),
        (
            "",
            "Command must include exactly one action: --list, --describe, --delete, --reset-offsets, "
            "--delete-offsets, --validate-regex",
        ),
    ],
)
def test_options_that_do_not_go_together_are_refused(line: str, problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse([*SERVER, *line.split()])
    assert str(caught.value) == problem


def test_a_view_without_describe_is_not_available() -> None:
    with pytest.raises(OptionError) as caught:
        parse([*SERVER, "--list", "--members", "--verbose"])
    assert (
        str(caught.value)
        == "Option(s) [members, verbose] are unavailable given other options on the command line"
    )


def test_a_server_is_needed_for_everything_but_a_regular_expression() -> None:
    with pytest.raises(UsageError, match='Missing required argument "\\[bootstrap-server\\]"'):
        parse(["--list"])
    assert parse(["--validate-regex", "a.*"]).text("validate-regex") == "a.*"


def test_a_reset_that_changes_nothing_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    parse([*SERVER, "--reset-offsets", "--group", "g", "--to-latest", "--all-topics"])
    assert capsys.readouterr().err.startswith("WARN: No action will be performed")
    parse([*SERVER, "--reset-offsets", "--group", "g", "--to-latest", "--all-topics", "--execute"])
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("a[b", "missing closing ]"),
        ("a(?=b)", "invalid or unsupported Perl syntax"),
        ("a**", "invalid nested repetition operator"),
        ("a(b", "missing closing )"),
        ("\\1", "invalid escape sequence"),
        ("*", "missing argument to repetition operator"),
        ("a{1001}", "invalid repeat count"),
        ("(?P<n", "invalid named capture"),
        ("[z-a]", "invalid character class range"),
        ("a\\", "trailing backslash at end of expression"),
    ],
)
def test_a_regular_expression_that_is_none_is_explained(pattern: str, problem: str) -> None:
    assert verdict(pattern) == f"The regular expression `{pattern}` is invalid: {problem}."


def test_a_regular_expression_that_is_one_is_valid() -> None:
    assert verdict("a.*b") == "The regular expression `a.*b` is valid."
