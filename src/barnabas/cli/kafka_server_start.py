"""kafka-server-start: run a broker from a properties file, here or in the background.

With -daemon the broker writes to `kafkaServer.out` in $LOG_DIR, or in ./logs.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from barnabas.cli.support.background import become_daemon
from barnabas.cli.support.log_lines import log
from barnabas.cli.support.running import run
from barnabas.cli.support.server_line import parse_server_line
from barnabas.model.properties import PropertiesError

_SOURCE = "kafka.Kafka$"


def main(arguments: Sequence[str] | None = None) -> int:
    return run(_tool, arguments)


def _tool(arguments: Sequence[str]) -> int:
    line = parse_server_line("kafka-server-start", "server.properties", arguments)
    if line is None:
        return 1
    try:
        properties = line.properties()
    except (OSError, PropertiesError) as error:
        log("ERROR", "Exiting Kafka due to fatal exception", _SOURCE)
        missing = isinstance(error, FileNotFoundError)
        print(f"java.nio.file.NoSuchFileException: {line.path}" if missing else error, file=sys.stderr)
        return 1
    if line.in_background and not become_daemon("kafkaServer.out"):
        return 0
    from barnabas.runtime import server

    return server.run(properties)
