"""Regular expressions as people write them for Spark's own connector: Java's.

Topic names are short and made of letters, digits, '.', '_' and '-', so what differs between the two
languages and could matter for them is rewritten, and what cannot be rewritten is refused.
"""

from __future__ import annotations

import re

from barnabas.spark.errors import PipelineError

# Java's POSIX classes, as far as they can match a character of a topic name.
_CLASSES = {
    "Lower": "a-z",
    "Upper": "A-Z",
    "ASCII": r"\x00-\x7f",
    "Alpha": "a-zA-Z",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "Punct": r"!-/:-@\[-`{-~",
    "Graph": "!-~",
    "Print": " -~",
    "Blank": r" \t",
    "Cntrl": r"\x00-\x1f\x7f",
    "XDigit": "0-9a-fA-F",
    "Space": r"\s",
    "L": "a-zA-Z",
    "Lu": "A-Z",
    "Ll": "a-z",
    "N": "0-9",
    "Nd": "0-9",
    "IsAlphabetic": "a-zA-Z",
    "IsLetter": "a-zA-Z",
    "IsDigit": "0-9",
    "IsUppercase": "A-Z",
    "IsLowercase": "a-z",
}
_PIECES = re.compile(
    r"""\\Q(?P<quoted>.*?)(?:\\E|\Z)
    | \\(?P<negated>[pP])(?:\{(?P<named>\w+)\}|(?P<letter>\w))
    | (?P<horizontal>\\h) | (?P<linebreak>\\R)
    | (?P<absolute>\\z)
    | (?P<group>\(\?<(?=[a-zA-Z]))
    | \\k<(?P<back>\w+)>
    | (?P<escaped>\\.)
    | (?P<intersection>&&)
    | (?P<bracket>[\[\]])""",
    re.VERBOSE | re.DOTALL,
)


def translate(option: str, pattern: str) -> re.Pattern[str]:
    depth = 0

    def rewrite(piece: re.Match[str]) -> str:
        nonlocal depth
        kind = piece.lastgroup
        if kind == "bracket":
            if piece[0] == "[" and depth:
                raise _refused(option, pattern, "a character class inside another cannot be used here")
            if piece[0] == "[" or depth:
                depth = 1 if piece[0] == "[" else 0
            return piece[0]
        if kind == "intersection" and depth:
            raise _refused(option, pattern, "an intersection of classes (&&) cannot be used here")
        return _rewritten(piece, option, pattern, in_class=depth > 0)

    try:
        return re.compile(_PIECES.sub(rewrite, pattern))
    except re.error as error:
        raise _refused(option, pattern, str(error)) from None


def _rewritten(piece: re.Match[str], option: str, pattern: str, in_class: bool) -> str:
    match piece.lastgroup:
        case "quoted":
            return re.escape(piece["quoted"])
        case "named" | "letter":
            name = piece["named"] or piece["letter"]
            return _class(_CLASSES.get(name), piece["negated"] == "P", in_class, option, pattern)
        case "horizontal":
            return _class(r" \t", False, in_class, option, pattern)
        case "linebreak":
            return r"(?:\r\n|[\n\x0b\f\r])"
        case "absolute":
            return r"\Z"
        case "group":
            return "(?P<"
        case "back":
            return f"(?P={piece['back']})"
        case _:
            return piece[0]


def _class(characters: str | None, negated: bool, in_class: bool, option: str, pattern: str) -> str:
    if characters is None or (negated and in_class):
        raise _refused(option, pattern, "this \\p class cannot be used here")
    if in_class:
        return characters
    return f"[{'^' if negated else ''}{characters}]"


def _refused(option: str, pattern: str, why: str) -> PipelineError:
    return PipelineError(f"Option {option} is not a regular expression that can be used: {pattern!r}: {why}.")
