"""kafka-groups: groups of every type, with the lines of Kafka 4.3's GroupsCommand; sorted by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from barnabas.cli.support.connecting import COMMAND_CONFIG, connect
from barnabas.cli.support.failures import FAILURES, NO_CLIENT, log_error, sentence
from barnabas.cli.support.options import Option, OptionError, Options, Parser, UsageError
from barnabas.cli.support.running import parse, run
from barnabas.protocol.messages.list_groups import ListedGroup
from barnabas.wire import SettingsError
from barnabas.wire.admin import groups
from barnabas.wire.admin.groups import CONSUMER_PROTOCOLS

SOURCE = "org.apache.kafka.tools.GroupsCommand"
TYPES = ("classic", "consumer", "share", "streams")
_WIDTH_MIN = 20

PARSER = Parser(
    "This tool helps to list groups of all types.",
    (
        Option(
            "bootstrap-server",
            "REQUIRED: the broker or brokers to connect to.",
            "String: server to connect to",
        ),
        COMMAND_CONFIG,
        Option("list", "List the groups."),
        Option(
            "group-type", "Only groups of this type: classic, consumer, share or streams.", "String: type"
        ),
        Option("protocol", "Only groups with this protocol.", "String: protocol"),
        Option(
            "consumer",
            "Only groups of consumers: of type consumer, and classic ones whose protocol is 'consumer' or "
            "that have none.",
        ),
        Option("share", "Only share groups."),
        Option("streams", "Only streams groups."),
    ),
)


def main(arguments: Sequence[str] | None = None) -> int:
    return run(groups_tool, arguments)


def groups_tool(arguments: Sequence[str]) -> int:
    options = _parse(arguments)
    try:
        with connect(options) as cluster:
            found = [row for row in groups.list_groups(cluster) if is_wanted(row, options)]
    except SettingsError as error:
        print(f"Error while executing groups command : {NO_CLIENT}")
        log_error(error, "listGroups", SOURCE)
        return 1
    except FAILURES as error:
        print(f"Error while executing groups command : {sentence(error, 'listGroups')}")
        log_error(error, "listGroups", SOURCE)
        return 1
    for line in group_lines(found):
        print(line)
    return 0


def _parse(arguments: Sequence[str]) -> Options:
    options = parse(PARSER, arguments) if arguments else PARSER.parse_only(())
    if not options.has("bootstrap-server"):
        raise UsageError("Missing required option(s) [bootstrap-server]", PARSER.usage())
    if not options.has("list"):
        raise options.wrong("Command must include exactly one action: --list.")
    settings = options.value("command-config")
    if settings is not None and not Path(settings).exists():
        raise OptionError(settings)
    kind = options.value("group-type")
    if kind is not None and kind.lower() not in TYPES:
        raise OptionError("--group-type must be a valid group type.")
    options.forbid("consumer", "group-type", "protocol", "share", "streams")
    options.forbid("share", "consumer", "group-type", "protocol", "streams")
    options.forbid("streams", "consumer", "group-type", "protocol", "share")
    return options


def is_wanted(row: ListedGroup, options: Options) -> bool:
    kind = row.group_type.lower()
    wanted_kind, protocol = options.value("group-type"), options.value("protocol")
    if wanted_kind is not None or protocol is not None:
        same_kind = wanted_kind is None or wanted_kind.lower() == kind
        return same_kind and protocol in {None, row.protocol_type}
    if options.has("consumer"):
        return row.protocol_type in CONSUMER_PROTOCOLS or kind == "consumer"
    if options.has("share") or options.has("streams"):
        return options.has(kind)
    return True


def group_lines(rows: Sequence[ListedGroup]) -> Iterator[str]:
    cells = [(row.group_id, row.group_type.capitalize(), row.protocol_type) for row in rows]
    width = max([_WIDTH_MIN, *(len(cell) for row in cells for cell in row)])
    yield " ".join(f"{title:<{width}}" for title in ("GROUP", "TYPE", "PROTOCOL"))
    for row in cells:
        yield "".join(f"{cell:<{width}} " for cell in row)
