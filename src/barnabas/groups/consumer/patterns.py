"""Patterns of clients, in RE2: matching takes time in proportion to the text, whatever the pattern says."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from barnabas.model.errors import ApiError, ErrorCode

PATTERN_MAX_BYTES = 16_384
_PATTERN_MEMORY_MAX_BYTES = 1 << 20

# RE2 in C++ words its refusals otherwise than RE2/J, whose words Kafka's clients know.
_WORDS = {
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "unexpected )": "regexp/syntax: internal error",
    "trailing \\": "trailing backslash at end of expression",
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid repetition size": "invalid repeat count",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
}


# Whether a pattern matches the whole of a text.
Matches: TypeAlias = Callable[[str], bool]


def compile_pattern(pattern: str) -> Matches:
    encoded = pattern.encode("utf-8", "surrogatepass")
    if len(encoded) > PATTERN_MAX_BYTES:
        raise _refused(pattern[:100] + "…", f"longer than {PATTERN_MAX_BYTES} bytes")
    import re2  # 3 MiB and 60 ms that a broker without patterns does not spend

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = _PATTERN_MEMORY_MAX_BYTES
    try:
        # On bytes: from text to bytes and back takes four times as long as the match.
        compiled = re2.compile(encoded, options)
    except re2.error as error:
        raise _refused(pattern, _words(error)) from None
    return lambda text: compiled.fullmatch(text.encode()) is not None


def _refused(pattern: str, why: str) -> ApiError:
    return ApiError(
        ErrorCode.INVALID_REGULAR_EXPRESSION,
        f"SubscribedTopicRegex `{pattern}` is not a valid regular expression: {why}.",
    )


def _words(error: Exception) -> str:
    said: bytes = error.args[0]
    description, _, _ = said.decode("utf-8", "replace").partition(": ")
    return _WORDS.get(description, description)
