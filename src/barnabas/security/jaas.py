"""`sasl.jaas.config` as Java reads it: `module flag (name=value)*;`, with comments, quotes and escapes.

More is taken than Java takes (a number needs no quotes), never less.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"""
    (?P<skip> [\x00-\x20]+ | //[^\r\n]* | /\*.*?\*/ )
  | (?P<word> [A-Za-z0-9_.$\-\u0080-\uffff]+ )
  | "(?P<double> (?:[^"\\\r\n]|\\.)* )"
  | '(?P<single> (?:[^'\\\r\n]|\\.)* )'
  | (?P<sign> [=;] )
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\([0-3][0-7]{0,2}|[4-7][0-7]?|.)", re.DOTALL)
_LETTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_FLAGS = frozenset({"REQUIRED", "REQUISITE", "SUFFICIENT", "OPTIONAL"})


class JaasError(Exception):
    """What is wrong, in one sentence that never quotes a value: values are secrets."""


@dataclass(frozen=True, slots=True)
class LoginModule:
    name: str  # a Java class; its last part says which mechanism it is for
    flag: str
    options: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def short_name(self) -> str:
        return self.name.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class _Text:
    """A word or a quoted string, as opposed to a sign."""

    value: str


def parse(text: str) -> LoginModule:
    """The one login module that a client needs."""
    tokens = _tokens(text)
    modules = []
    for token in tokens:
        modules.append(_module(token, tokens))
    if not modules:
        raise JaasError("Login module not specified in JAAS config.")
    if len(modules) > 1:
        raise JaasError(f"JAAS config property contains {len(modules)} login modules, should be 1 module.")
    return modules[0]


def _module(name: _Text | str, tokens: Iterator[_Text | str]) -> LoginModule:
    if not isinstance(name, _Text):
        raise JaasError("Login module not specified in JAAS config.")
    flag = next(tokens, None)
    if not isinstance(flag, _Text):
        raise JaasError("Login module control flag not specified in JAAS config.")
    if flag.value.upper() not in _FLAGS:
        raise JaasError(f"Invalid login module control flag '{flag.value}' in JAAS config.")
    options: dict[str, str] = {}
    for token in tokens:
        if token == ";":
            return LoginModule(name.value, flag.value.upper(), options)
        if not isinstance(token, _Text):
            raise JaasError("A '=' without a key before it in JAAS config.")
        equals, value = next(tokens, None), next(tokens, None)
        if equals != "=" or not isinstance(value, _Text):
            raise JaasError(f"Value not specified for key '{token.value}' in JAAS config.")
        options[token.value] = value.value
    raise JaasError("JAAS config entry not terminated by semi-colon.")


def _tokens(text: str) -> Iterator[_Text | str]:
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise JaasError(f"JAAS config cannot be read from character {position + 1} on.")
        position = found.end()
        kind = found.lastgroup
        if kind == "sign":
            yield found[0]
        elif kind == "word":
            yield _Text(found[0])
        elif kind != "skip":
            yield _Text(_ESCAPE.sub(_unescape, found[kind or 0]))


def _unescape(escape: re.Match[str]) -> str:
    code = escape[1]
    return chr(int(code, 8)) if code[0] in "01234567" else _LETTERS.get(code, code)


def quoted(value: str) -> str:
    """A value as it may stand in `sasl.jaas.config`."""
    safe = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{safe}"'
