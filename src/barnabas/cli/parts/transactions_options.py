"""The command line of kafka-transactions: one parser per command, with Kafka's usage."""

from __future__ import annotations

import argparse
from importlib.metadata import version

from barnabas.cli.support.argument_parser import KafkaArgumentParser
from barnabas.cli.support.options import KAFKA_VERSION

_PROGRAM = "kafka-transactions.sh"
_USAGE = f"""{_PROGRAM} [-h] [-v] [--command-config FILE]
                             --bootstrap-server host:port COMMAND ..."""
_COMMAND = f"{_PROGRAM} --bootstrap-server host:port"
_INDENT = "\n" + " " * 29
_LONG, _INTEGER, _SHORT = "Long", "Integer", "Short"
_BOUNDS = {_LONG: 2**63, _INTEGER: 2**31, _SHORT: 2**15}


def parser() -> argparse.ArgumentParser:
    top = KafkaArgumentParser(
        prog=_PROGRAM,
        usage=_USAGE,
        description="Look at the transactions of the cluster's producers; find and abort those that hang.",
        allow_abbrev=False,
    )
    shown = f"{KAFKA_VERSION} (Barnabas {version('barnabas')})"
    top.add_argument("-v", "--version", action="version", version=shown, help="print the version and leave")
    top.add_argument("--command-config", metavar="FILE", help="properties file for the connection")
    top.add_argument(
        "--bootstrap-server", metavar="host:port", required=True, help="the broker to connect to"
    )
    commands = top.add_subparsers(
        dest="command", metavar="COMMAND", title="commands", required=True, parser_class=_CommandParser
    )
    for add in (_list, _describe, _describe_producers, _abort, _find_hanging, _force_terminate):
        add(commands)
    return top


class _Number:
    """A Java number; its name is what the error says."""

    def __init__(self, kind: str) -> None:
        self._bound = _BOUNDS[kind]
        self.__name__ = kind

    def __call__(self, text: str) -> int:
        number = int(text)
        if not -self._bound <= number < self._bound:
            raise ValueError(text)
        return number


class _CommandParser(KafkaArgumentParser):
    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        """A stray word after a command is answered with the command's usage."""
        found, stray = super().parse_known_args(args, namespace)
        if stray:
            self.error(f"unrecognized arguments: {stray[0]}")
        return found, stray


class _Command:
    def __init__(self, commands: argparse._SubParsersAction[_CommandParser], name: str, text: str) -> None:
        self._name = name
        self._parts: list[str] = []
        self._parser = commands.add_parser(
            name, help=text, description=text, prog=_PROGRAM, allow_abbrev=False
        )
        self._parser.java_types = {}
        self._show()

    def option(self, name: str, text: str, kind: str | None = None, required: bool = False) -> None:
        metavar = name.strip("-").replace("-", "_").upper()
        self._parser.add_argument(
            name, help=text, required=required, metavar=metavar, type=str if kind is None else _Number(kind)
        )
        if kind is not None:
            self._parser.java_types[name] = kind
        self._parts.append(f"{name} {metavar}" if required else f"[{name} {metavar}]")
        self._show()

    def _show(self) -> None:
        long_name = len(self._name) > 13
        start = f"{_COMMAND}{_INDENT if long_name else ' '}{self._name} [-h]"
        self._parser.usage = _INDENT.join([start, *self._parts])


def _list(commands: argparse._SubParsersAction[_CommandParser]) -> None:
    command = _Command(commands, "list", "list transactions")
    text = "only transactions open for more milliseconds than this; below zero, all"
    command.option("--duration-filter", text, _LONG)
    command.option("--transactional-id-pattern", "only transactional ids that match this regular expression")


def _describe(commands: argparse._SubParsersAction[_CommandParser]) -> None:
    command = _Command(commands, "describe", "describe the state of an active transactional-id")
    command.option("--transactional-id", "transactional id", required=True)


def _describe_producers(commands: argparse._SubParsersAction[_CommandParser]) -> None:
    text = "describe the states of active producers for a topic partition"
    command = _Command(commands, "describe-producers", text)
    command.option("--broker-id", "ask this replica instead of the leader", _INTEGER)
    command.option("--topic", "topic name", required=True)
    command.option("--partition", "partition number", _INTEGER, required=True)


def _abort(commands: argparse._SubParsersAction[_CommandParser]) -> None:
    text = "abort a hanging transaction (requires administrative privileges)"
    command = _Command(commands, "abort", text)
    command.option("--topic", "topic name", required=True)
    command.option("--partition", "partition number", _INTEGER, required=True)
    command.option("--start-offset", "where the transaction begins; all that brokers since 3.0 need", _LONG)
    command.option("--producer-id", "producer id, for older brokers", _LONG)
    command.option("--producer-epoch", "producer epoch, for older brokers", _SHORT)
    command.option("--coordinator-epoch", "coordinator epoch, for older brokers", _INTEGER)


def _find_hanging(commands: argparse._SubParsersAction[_CommandParser]) -> None:
    command = _Command(commands, "find-hanging", "find hanging transactions")
    command.option("--broker-id", "only partitions with a replica on this broker", _INTEGER)
    text = "only transactions open for more minutes than this (15 minutes by default)"
    command.option("--max-transaction-timeout", text, _INTEGER)
    command.option("--topic", "only this topic (required if --partition is specified)")
    command.option("--partition", "only this partition", _INTEGER)


def _force_terminate(commands: argparse._SubParsersAction[_CommandParser]) -> None:
    text = "abort what a transactional id has open, fencing its producer (requires administrative privileges)"
    command = _Command(commands, "forceTerminateTransaction", text)
    command.option("--transactionalId", "transactional id", required=True)
