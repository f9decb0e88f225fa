"""What the nouns share: the options every one has, tables or JSON, and errors that say what to do."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import TypeAlias

from barnabas.cli.support.failures import FAILURES, ToolError
from barnabas.cli.support.nearest import nearest
from barnabas.cli.support.properties import load_properties
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.properties import PropertiesError
from barnabas.wire import Cluster, DeadlineError, SettingsError, VersionError
from barnabas.wire.admin import groups, topics

Action: TypeAlias = Callable[[argparse.Namespace], int]
Cell: TypeAlias = str | int | float | bool | None

_HINTS = {
    ErrorCode.TOPIC_ALREADY_EXISTS: "`barnabas topics show` prints it; `… grow` adds partitions.",
    ErrorCode.INVALID_REPLICATION_FACTOR: "A single broker can hold one replica: leave --replicas out.",
    ErrorCode.INVALID_PARTITIONS: "Topics can grow, never shrink.",
    ErrorCode.INVALID_CONFIG: "`barnabas configs topic NAME --all` lists the settings a topic has.",
    ErrorCode.NON_EMPTY_GROUP: "Stop its consumers first; `barnabas groups members GROUP` shows them.",
    ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC: "Stop the consumers of this topic first.",
    ErrorCode.OFFSET_OUT_OF_RANGE: "`barnabas offsets TOPIC` shows where the partition begins and ends.",
}


def verbs(
    noun: str,
    description: str,
    table: Sequence[tuple[str, str, Callable[[argparse.ArgumentParser], None], Action]],
) -> argparse.ArgumentParser:
    """A parser for `barnabas <noun> <verb> …`; each row is verb, help, its arguments, its action."""
    parser = argparse.ArgumentParser(prog=f"barnabas {noun}", description=description)
    choices = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb, text, arguments, action in table:
        child = choices.add_parser(verb, help=text, description=text)
        add_common(child)
        arguments(child)
        child.set_defaults(action=action)
    return parser


def add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--server",
        default=os.environ.get("BARNABAS_SERVER", "localhost:9092"),
        metavar="HOST:PORT",
        help="the broker to ask (default: %(default)s, or what BARNABAS_SERVER says)",
    )
    parser.add_argument(
        "--command-config",
        default=os.environ.get("BARNABAS_COMMAND_CONFIG"),
        metavar="FILE",
        help="a properties file for a broker that asks for TLS or a password (or BARNABAS_COMMAND_CONFIG)",
    )
    parser.add_argument("--timeout", type=float, default=10.0, metavar="SECONDS", help="give up after this")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    asked = parser.parse_args(arguments)
    try:
        code: int = asked.action(asked)
        return code
    except FAILURES as error:
        print(f"{_title(error, asked)}", file=sys.stderr)
        hint = _hint(error, asked)
        if hint:
            print(hint, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def connect(asked: argparse.Namespace) -> Cluster:
    timeout = str(int(asked.timeout * 1000))
    settings = {"default.api.timeout.ms": timeout, "request.timeout.ms": timeout, "client.id": "barnabas"}
    return Cluster.connect(asked.server, file_properties(asked) | settings)


def file_properties(asked: argparse.Namespace) -> dict[str, str]:
    path = asked.command_config
    if path is None:
        return {}
    try:
        return load_properties(path)
    except OSError as error:
        raise ToolError(f"{path}: {error.strerror}") from None
    except PropertiesError as error:
        raise ToolError(f"{path}: {error}") from None


def _title(error: Exception, asked: argparse.Namespace) -> str:
    if isinstance(error, DeadlineError):
        return f"No broker answers at {asked.server}."
    if isinstance(error, VersionError):
        return f"The broker at {asked.server} does not do this: {error}"
    return str(error)


def _hint(error: Exception, asked: argparse.Namespace) -> str | None:
    if isinstance(error, DeadlineError):
        return "Start one with `barnabas run`, or name another with --server HOST:PORT."
    if isinstance(error, SettingsError) and "bootstrap" in str(error):
        return "--server wants HOST:PORT, for example localhost:9092."
    if not isinstance(error, ApiError):
        return None
    if error.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and getattr(asked, "topic", None):
        return _nearest_topic(asked)
    if error.code == ErrorCode.GROUP_ID_NOT_FOUND and getattr(asked, "group", None):
        return _nearest_group(asked)
    return _HINTS.get(error.code)


def _nearest_topic(asked: argparse.Namespace) -> str:
    typed = asked.topic[0] if isinstance(asked.topic, list) else asked.topic
    try:
        with connect(asked) as cluster:
            meant = nearest(typed, topics.names(cluster))
    except FAILURES:
        meant = None
    return f"did you mean '{meant}'?" if meant else "`barnabas topics list` shows the topics there are."


def _nearest_group(asked: argparse.Namespace) -> str:
    typed = asked.group[0] if isinstance(asked.group, list) else asked.group
    try:
        with connect(asked) as cluster:
            meant = nearest(typed, [row.group_id for row in groups.list_groups(cluster)])
    except FAILURES:
        meant = None
    return f"did you mean '{meant}'?" if meant else "`barnabas groups list` shows the groups there are."


def show(
    asked: argparse.Namespace,
    columns: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    title: str | None = None,
) -> None:
    """The rows as a table, or as a JSON list of objects named by the columns."""
    if asked.json:
        print(
            json.dumps([dict(zip(columns, row, strict=True)) for row in rows], indent=2, ensure_ascii=False)
        )
        return
    if not rows:
        print(title or "There is nothing to show.")
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", header_style="bold", box=None, pad_edge=False)
    for index, column in enumerate(columns):
        numeric = bool(rows) and all(isinstance(row[index], (int, float)) for row in rows)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text("" if cell is None else str(cell)) for cell in row))
    Console().print(table)


def done(asked: argparse.Namespace, text: str, **facts: Cell) -> int:
    """One line of success, or the facts as JSON."""
    print(json.dumps(facts, ensure_ascii=False) if asked.json else text)
    return 0


def pairs(words: Sequence[str]) -> dict[str, str]:
    found = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise SystemExit(f"'{word}' is not NAME=VALUE")
        found[key] = value
    return found
