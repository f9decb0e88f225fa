"""zookeeper-server-start: a real ZooKeeper from a properties file, here or in the background.

It comes from the jars inside the pyspark wheel (`pip install 'barnabas[cluster]'`) and needs Java. Before it
starts, its properties and its myid are looked at: what is wrong there is one sentence. With -daemon it writes
to `zookeeper.out` in $LOG_DIR, or in ./logs. KAFKA_HEAP_OPTS, KAFKA_JVM_PERFORMANCE_OPTS and KAFKA_OPTS are
obeyed. `--override` is ours: Kafka's script has it for brokers only.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from barnabas.cli.support.background import become_daemon
from barnabas.cli.support.log_lines import log
from barnabas.cli.support.options import Option, Options, Parser
from barnabas.cli.support.properties import load_properties, parse_pairs
from barnabas.cli.support.running import run
from barnabas.java import JavaError
from barnabas.model import properties as java_properties
from barnabas.runtime import zookeeper
from barnabas.runtime.zookeeper_checks import (
    ZookeeperConfigError,
    check,
    check_machine,
    is_address_of_this_machine,
)

_SOURCE = zookeeper.SERVER_CLASS
_EFFECTIVE = "zookeeper-effective.properties"
PARSER = Parser(
    "USAGE: zookeeper-server-start [-daemon] zookeeper.properties [--override property=value]*",
    [Option("override", "A setting that wins over the one in the file (e.g. Key=value)", "String")],
)


def main(arguments: Sequence[str] | None = None) -> int:
    return run(_tool, arguments)


def _tool(arguments: Sequence[str]) -> int:
    words = list(arguments)
    if not words:
        print(f"USAGE: {sys.argv[0]} [-daemon] zookeeper.properties [--override property=value]*")
        return 1
    in_background = words[0] == "-daemon"
    if in_background:
        del words[0]
    asks_for_help = not words or "--help" in words or "--version" in words
    options = PARSER.parse(words if asks_for_help else words[1:], empty_is_help=asks_for_help)
    try:
        command = _command(words[0], options)
    except FileNotFoundError as error:
        return _refuse(f"{error.filename} does not exist.")
    except (
        OSError,
        java_properties.PropertiesError,
        ZookeeperConfigError,
        zookeeper.ZookeeperUnavailableError,
        JavaError,
    ) as error:
        return _refuse(str(error))
    if in_background and not become_daemon("zookeeper.out"):
        return 0
    return _become(command)


def _become(command: list[str]) -> NoReturn:
    """The process becomes ZooKeeper: signals, exit code and terminal are its own."""
    sys.stdout.flush()
    os.execv(command[0], command)


def _refuse(sentence: str) -> int:
    log("ERROR", f"Invalid config, exiting abnormally: {sentence}", _SOURCE)
    return 2  # as ZooKeeper does


def _command(path: str, options: Options) -> list[str]:
    if options.stray:
        raise options.wrong(f"Found non argument parameters: {','.join(options.stray)}")
    overrides = parse_pairs(options.values("override"))
    properties = load_properties(path) | overrides
    for warning in check(os.path.basename(path), properties, is_address_of_this_machine):
        log("WARN", warning, _SOURCE)
    check_machine(os.path.basename(path), properties)
    command = zookeeper.server_command(path, os.path.abspath(path))
    if overrides or properties.get("admin.enableServer", "false").lower() == "true":
        command[-1] = _write_effective(properties)
    return command


def _write_effective(properties: dict[str, str]) -> str:
    """ZooKeeper reads one file, and nothing but its name from the command line."""
    path = os.path.join(properties["dataDir"], _EFFECTIVE)
    with open(path, "w", encoding="utf-8") as file:
        file.write(java_properties.dump(properties | {"admin.enableServer": "false"}))
    return path
