"""`barnabas run`: one broker, here, now. Imports neither rich nor librdkafka: it should be there at once."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from importlib.metadata import version

from barnabas.cli.support.properties import load_properties
from barnabas.model.properties import PropertiesError
from barnabas.runtime import server


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="barnabas run", description="Start a single broker.")
    parser.add_argument("properties", nargs="?", help="a server.properties file; it wins over the flags")
    parser.add_argument("--data", default="./data", help="where records are kept (default: ./data)")
    parser.add_argument("--host", default="localhost", help="what to listen on (default: localhost)")
    parser.add_argument("--port", type=int, default=9092, help="(default: 9092)")
    parser.add_argument("--override", action="append", default=[], metavar="NAME=VALUE", help="any setting")
    parser.add_argument("--verbose", action="store_true", help="log lines as Kafka prints them")
    words = parser.parse_args(list(arguments))
    properties = {
        "node.id": "1",
        "listeners": f"PLAINTEXT://{words.host}:{words.port}",
        "log.dirs": os.path.abspath(words.data),
        # As in the file Kafka comes with: one person's first group should not wait for members to come.
        "group.initial.rebalance.delay.ms": "0",
    }
    if words.properties:
        try:
            properties |= load_properties(words.properties)
        except (OSError, PropertiesError) as error:
            parser.error(f"cannot read {words.properties}: {error}")
    for override in words.override:
        name, equals, value = override.partition("=")
        if not equals:
            parser.error(f"--override wants NAME=VALUE, not {override!r}")
        properties[name] = value
    return server.run(properties, welcome, quiet=not words.verbose)


def welcome(running: server.Server) -> None:
    """The first screen: that it runs, and what to type next."""
    name, endpoint = next(iter(running.endpoints.items()))
    address = f"{endpoint.host}:{endpoint.port}"
    folder = os.path.relpath(running.settings.log_dirs[0])
    tools = os.path.relpath(os.path.dirname(sys.argv[0])) or "."
    print(
        f"\n  Barnabas {version('barnabas')} listens on {address} ({name}), ready in {_age_seconds():.2f} s."
        f"\n  Records are kept in {folder}/. Every Kafka client and tool can use it. Stop with Ctrl-C."
        f"\n\n  Try, in another terminal:\n"
        f"\n    {tools}/kafka-topics --bootstrap-server {address} --create --topic greetings --partitions 3"
        f"\n    {tools}/kafka-console-producer --bootstrap-server {address} --topic greetings"
        f"\n    {tools}/kafka-console-consumer --bootstrap-server {address} --topic greetings \\"
        f"\n        --from-beginning"
        f"\n    {tools}/barnabas topics list\n",
        flush=True,
    )


def _age_seconds() -> float:
    """Since the process began, the interpreter's own start included."""
    with open("/proc/self/stat", encoding="ascii") as file:
        ticks = int(file.read().rpartition(")")[2].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
