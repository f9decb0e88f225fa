"""Java's .properties files, as far as Kafka's own use them: comments, continued lines, escapes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_KEY = re.compile(r"((?:\\.|[^\\\s=:])*)\s*[=:]?\s*(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_CONTROL = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def load_properties(path: str | Path) -> dict[str, str]:
    return parse_properties(Path(path).read_text(encoding="utf-8"))


def parse_properties(text: str) -> dict[str, str]:
    found = {}
    for line in _logical_lines(text):
        matched = _KEY.match(line)
        assert matched is not None, "the pattern matches every line"
        found[_unescape(matched[1])] = _unescape(matched[2])
    return found


def parse_pairs(pairs: list[str], *, value_required: bool = False) -> dict[str, str]:
    """`key=value` words of a command line; a missing value is the empty one."""
    found = {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        if value_required and not value:
            raise ValueError(f"Missing value for key {key}")
        found[key] = value
    return found


def _logical_lines(text: str) -> Iterator[str]:
    held = ""
    for line in text.splitlines():
        stripped = line.lstrip()
        if not held and (not stripped or stripped[0] in "#!"):
            continue
        held += stripped
        if (len(held) - len(held.rstrip("\\"))) % 2:
            held = held[:-1]
            continue
        yield held
        held = ""
    if held:
        yield held


def _unescape(text: str) -> str:
    return _ESCAPE.sub(_replace, text)


def _replace(found: re.Match[str]) -> str:
    code = found[1]
    return chr(int(code[1:], 16)) if len(code) == 5 else _CONTROL.get(code, code)
