"""`[-daemon] FILE [--override property=value]*`: what is typed to start a server."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

from barnabas.cli.support.options import Option, Parser
from barnabas.cli.support.properties import load_properties, parse_pairs


class ServerLine(NamedTuple):
    path: str
    overrides: dict[str, str]
    in_background: bool

    def properties(self) -> dict[str, str]:
        """What the file says, unless an override says otherwise."""
        return load_properties(self.path) | self.overrides


def parse_server_line(tool: str, file_name: str, arguments: Sequence[str]) -> ServerLine | None:
    """None when nothing was typed, and the usage is printed instead."""
    usage = f"[-daemon] {file_name} [--override property=value]*"
    words = list(arguments)
    if not words:
        print(f"USAGE: {sys.argv[0]} {usage}")
        return None
    in_background = words[0] == "-daemon"
    if in_background:
        del words[0]
    parser = Parser(
        f"USAGE: {tool} {usage}",
        [Option("override", f"A setting that wins over the one in {file_name} (e.g. Key=value)", "String")],
    )
    asks_for_help = not words or "--help" in words or "--version" in words
    options = parser.parse(words if asks_for_help else words[1:], empty_is_help=asks_for_help)
    if options.stray:
        raise options.wrong(f"Found non argument parameters: {','.join(options.stray)}")
    return ServerLine(words[0], parse_pairs(options.values("override")), in_background)
