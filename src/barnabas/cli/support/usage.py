"""The two-column help of Kafka's tools: 80 columns, hanging indents, options in alphabetical order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

WIDTH = 80
GAP = 2
_LEFT_MAX = (WIDTH - GAP) // 2
# A line may break after white space and after a dash that has letters behind it.
_PIECE = re.compile(r"\S*?-(?=[A-Za-z0-9])|\S+\s*|\s+")


def columns(rows: Iterable[tuple[str, str]]) -> str:
    """Every row padded to both widths, as Kafka's are."""
    table = [("Option", "Description"), ("------", "-----------"), *rows]
    left = min(_LEFT_MAX, max(len(option) for option, _ in table))
    right = min(WIDTH - left - GAP, max(len(line) for _, text in table for line in text.split("\n")))
    lines = []
    for option, text in table:
        first, second = list(_wrap(option, left)), list(_wrap(text, right))
        for index in range(max(len(first), len(second))):
            one = first[index] if index < len(first) else ""
            two = second[index] if index < len(second) else ""
            lines.append(f"{one:<{left}}{'':{GAP}}{two:<{right}}")
    return "\n".join(lines)


def _wrap(text: str, width: int) -> Iterator[str]:
    for paragraph in text.split("\n"):
        line = ""
        for piece in _PIECE.findall(paragraph):
            if len(line) + len(piece) > width and line:
                yield line.rstrip()
                line = "  " + piece
            else:
                line += piece
        yield line.rstrip()
