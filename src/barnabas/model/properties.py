"""Java's .properties files, read and written: the syntax of `server.properties` and `meta.properties`.

Comments (`#`, `!`), separators (`=`, `:`, blanks), continued lines and escapes are Java's. Java reads
Latin-1; people write UTF-8, so that is tried first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

_BLANKS = " \t\f"
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPED = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\f": "\\f", "\\": "\\\\"}
_ESCAPE_PATTERN = r"\\(u[0-9a-fA-F]{4}|u|.|$)"


class PropertiesError(ValueError):
    """The text is not a properties file."""


def load(data: bytes) -> dict[str, str]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return parse(text)


def parse(text: str) -> dict[str, str]:
    """Name to value, in the order of the file; of a repeated name the last value counts."""
    return dict(_split(line) for line in _logical_lines(text))


def dump(properties: Mapping[str, str], comments: Iterable[str] = ()) -> str:
    lines = [f"#{comment}" for comment in comments]
    lines += [f"{_escape(name, key=True)}={_escape(value, key=False)}" for name, value in properties.items()]
    return "".join(f"{line}\n" for line in lines)


def _logical_lines(text: str) -> Iterator[str]:
    """Lines without comments and leading blanks, continuations joined; escapes still in place."""
    pending: str | None = None
    naturals = re.split(r"\r\n|\r|\n", text)
    if not naturals[-1]:
        naturals.pop()  # what follows the last line's end is no line
    for natural in naturals:
        line = natural.lstrip(_BLANKS)
        # A comment is only one at the start of a logical line, and a blank line ends a continued one.
        if not pending and (not line or line[0] in "#!"):
            pending = None
            continue
        joined = (pending or "") + line
        if _ends_with_escape(line):
            pending = joined[:-1]
            continue
        pending = None
        yield joined
    if pending is not None:
        yield pending


def _ends_with_escape(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _split(line: str) -> tuple[str, str]:
    position = 0
    while position < len(line) and line[position] not in "=: \t\f":
        position += 2 if line[position] == "\\" else 1
    position = min(position, len(line))
    rest = line[position:].lstrip(_BLANKS)
    if rest[:1] in {"=", ":"}:
        rest = rest[1:].lstrip(_BLANKS)
    return _unescape(line[:position]), _unescape(rest)


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    replaced = re.sub(_ESCAPE_PATTERN, _unescaped, text, flags=re.DOTALL)
    # Java spells characters beyond the basic plane as two escaped halves.
    return replaced.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unescaped(match: re.Match[str]) -> str:
    escape = match[1]
    if escape == "u":
        raise PropertiesError("Malformed \\uxxxx encoding.")
    if len(escape) == 5:
        return chr(int(escape[1:], 16))
    return _ESCAPES.get(escape, escape)


def _escape(text: str, *, key: bool) -> str:
    escaped = "".join(_escape_one(character) for character in text)
    if key:
        return escaped.replace(" ", "\\ ")
    return "\\" + escaped if escaped.startswith(" ") else escaped


def _escape_one(character: str) -> str:
    if character in _ESCAPED:
        return _ESCAPED[character]
    if character in "=:#!":
        return "\\" + character
    if " " <= character <= "~":
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02X}{units[at + 1]:02X}" for at in range(0, len(units), 2))
