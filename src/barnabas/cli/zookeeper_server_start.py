"""zookeeper-server-start: a real ZooKeeper from a properties file, here or in the background.

It comes from the jars inside the pyspark wheel (`pip install 'barnabas[cluster]'`) and needs Java. Before it
starts, its properties and its myid are looked at: what is wrong there is one sentence. With -daemon it writes
to `zookeeper.out` in $LOG_DIR, or in ./logs. KAFKA_HEAP_OPTS, KAFKA_JVM_PERFORMANCE_OPTS and KAFKA_OPTS are
obeyed. `--override` is ours: Kafka's script has it for brokers only.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from barnabas.cli.support.background import become_daemon
from barnabas.cli.support.log_lines import log
from barnabas.cli.support.running import run
from barnabas.cli.support.server_line import ServerLine, parse_server_line
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


def main(arguments: Sequence[str] | None = None) -> int:
    return run(_tool, arguments)


def _tool(arguments: Sequence[str]) -> int:
    line = parse_server_line("zookeeper-server-start", "zookeeper.properties", arguments)
    if line is None:
        return 1
    try:
        command = _command(line)
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
    if line.in_background and not become_daemon("zookeeper.out"):
        return 0
    return zookeeper.become(command)


def _refuse(sentence: str) -> int:
    log("ERROR", f"Invalid config, exiting abnormally: {sentence}", _SOURCE)
    return 2  # as ZooKeeper does


def _command(line: ServerLine) -> list[str]:
    path, properties = line.path, line.properties()
    for warning in check(os.path.basename(path), properties, is_address_of_this_machine):
        log("WARN", warning, _SOURCE)
    check_machine(os.path.basename(path), properties)
    command = zookeeper.server_command(path, os.path.abspath(path))
    if line.overrides or properties.get("admin.enableServer", "false").lower() == "true":
        command[-1] = _write_effective(properties)
    return command


def _write_effective(properties: dict[str, str]) -> str:
    """ZooKeeper reads one file, and nothing but its name from the command line."""
    path = os.path.join(properties["dataDir"], _EFFECTIVE)
    with open(path, "w", encoding="utf-8") as file:
        file.write(java_properties.dump(properties | {"admin.enableServer": "false"}))
    return path
