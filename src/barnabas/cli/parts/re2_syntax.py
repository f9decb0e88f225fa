"""Whether a text is a regular expression in RE2's syntax, in the words of the library Kafka asks."""

from __future__ import annotations

# What google-re2 says → what Kafka's library says of the same mistake.
_IN_KAFKAS_WORDS = {
    "missing ]": "missing closing ]",
    "missing )": "missing closing )",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "bad repetition operator": "invalid nested repetition operator",
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid repetition size": "invalid repeat count",
    "unexpected )": "regexp/syntax: internal error",
    "invalid named capture group": "invalid named capture",
    "trailing \\": "trailing backslash at end of expression",
}


def verdict(pattern: str) -> str:
    problem = _problem(pattern)
    if problem is None:
        return f"The regular expression `{pattern}` is valid."
    return f"The regular expression `{pattern}` is invalid: {problem}."


def _problem(pattern: str) -> str | None:
    import re2

    quiet = re2.Options()
    quiet.log_errors = False
    try:
        re2.compile(pattern, quiet)
    except re2.error as error:
        (said,) = error.args
        text = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
        kind = text.partition(": ")[0]
        return _IN_KAFKAS_WORDS.get(kind, kind)
    return None
