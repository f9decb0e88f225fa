"""kafka-server-start: run a broker from a properties file, here or in the background.

With -daemon the broker writes to `kafkaServer.out` in $LOG_DIR, or in ./logs.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from barnabas.cli.support.background import become_daemon
from barnabas.cli.support.log_lines import log
from barnabas.cli.support.options import Option, Options, Parser
from barnabas.cli.support.properties import load_properties, parse_pairs
from barnabas.cli.support.running import run
from barnabas.model.properties import PropertiesError

_SOURCE = "kafka.Kafka$"
PARSER = Parser(
    "USAGE: kafka-server-start [-daemon] server.properties [--override property=value]*",
    [Option("override", "A setting that wins over the one in server.properties (e.g. Key=value)", "String")],
)


def main(arguments: Sequence[str] | None = None) -> int:
    return run(_tool, arguments)


def _tool(arguments: Sequence[str]) -> int:
    words = list(arguments)
    if not words:
        print(f"USAGE: {sys.argv[0]} [-daemon] server.properties [--override property=value]*")
        return 1
    in_background = words[0] == "-daemon"
    if in_background:
        del words[0]
    asks_for_help = not words or "--help" in words or "--version" in words
    options = PARSER.parse(words if asks_for_help else words[1:], empty_is_help=asks_for_help)
    try:
        properties = _properties(words[0], options)
    except (OSError, PropertiesError) as error:
        log("ERROR", "Exiting Kafka due to fatal exception", _SOURCE)
        missing = isinstance(error, FileNotFoundError)
        print(f"java.nio.file.NoSuchFileException: {words[0]}" if missing else error, file=sys.stderr)
        return 1
    if in_background and not become_daemon("kafkaServer.out"):
        return 0
    from barnabas.runtime import server

    return server.run(properties)


def _properties(path: str, options: Options) -> dict[str, str]:
    if options.stray:
        raise options.wrong(f"Found non argument parameters: {','.join(options.stray)}")
    return load_properties(path) | parse_pairs(options.values("override"))
