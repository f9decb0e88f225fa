"""The options of kafka-consumer-groups and the checks between them, in the order in which Kafka checks."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from barnabas.cli.support.connecting import NO_ZOOKEEPER
from barnabas.cli.support.legacy_zookeeper import found_in_zookeeper
from barnabas.cli.support.options import Option, OptionError, Options, Parser

ACTIONS = ("list", "describe", "delete", "reset-offsets", "delete-offsets", "validate-regex")
VIEWS = ("members", "offsets", "state")
SCENARIOS = (
    "to-offset",
    "to-datetime",
    "by-duration",
    "to-earliest",
    "to-latest",
    "to-current",
    "shift-by",
    "from-file",
)
_ONLY_WITH = {
    "members": ("describe",),
    "verbose": ("describe",),
    "offsets": ("describe",),
    "state": ("describe", "list"),
    "type": ("list",),
}
NOT_EXECUTED = (
    "WARN: No action will be performed as the --execute option is missing. In version 5.0, this command will "
    "require either --dry-run or --execute to be specified. You should add the --dry-run option explicitly "
    "if you are scripting this command and want to keep the current default behavior without prompting."
)

OPTIONS = (
    Option(
        "bootstrap-server",
        "The broker or brokers to connect to. REQUIRED except with --validate-regex.",
        "String: server to connect to",
    ),
    Option("group", "The group to act on; may be repeated.", "String: consumer group"),
    Option(
        "topic",
        "With --delete-offsets and --reset-offsets: a topic, or some of its partitions as `topic:0,1,2`; "
        "may be repeated.",
        "String: topic",
    ),
    Option("all-topics", "With --reset-offsets: every topic the group has offsets of."),
    Option("list", "Print the names of all consumer groups."),
    Option("describe", "Print how far a group has read, and how much it has not (its lag)."),
    Option("all-groups", "Act on every consumer group."),
    Option("delete", "Delete groups without members, with all their offsets."),
    Option(
        "timeout",
        "How long to wait for each answer, for example of a group that is being rebalanced.",
        "Long: timeout (ms)",
        "30000",
    ),
    Option(
        "command-config",
        "A properties file with settings for the connection.",
        "String: command config property file",
    ),
    Option(
        "reset-offsets",
        "Set the offsets of a group without members. --dry-run, the default, only shows what would be set; "
        "--execute sets it; --export prints it as CSV.\n"
        "Where to: one of --to-datetime, --by-duration, --to-earliest, --to-latest, --shift-by, --from-file, "
        "--to-current, --to-offset.\n"
        "Of what: --all-topics or --topic; --from-file says it itself.",
    ),
    Option("delete-offsets", "Forget a group's offsets of topics it does not read at the moment."),
    Option("dry-run", "With --reset-offsets: show, change nothing."),
    Option("execute", "With --reset-offsets: do it."),
    Option("export", "With --reset-offsets: print CSV that --from-file reads."),
    Option("to-offset", "Reset to this offset.", "Long: offset"),
    Option("from-file", "Reset to what a CSV file says.", "String: path to CSV file"),
    Option(
        "to-datetime",
        "Reset to the first record not older than this. Format: 'YYYY-MM-DDThh:mm:ss.sss'",
        "String: datetime",
    ),
    Option(
        "by-duration",
        "Reset to the first record not older than so long ago. Format: 'PnDTnHnMnS'",
        "String: duration",
    ),
    Option("to-earliest", "Reset to the first record there is."),
    Option("to-latest", "Reset to the end: only what comes from now on is read."),
    Option("to-current", "Reset to where the group is; to the end where it has not been."),
    Option(
        "shift-by", "Reset so many records further; a negative number goes back.", "Long: number-of-offsets"
    ),
    Option("members", "With --describe: the members of the group."),
    Option("verbose", "With --describe: more columns."),
    Option("offsets", "With --describe: the partitions, their offsets and lag; what it does anyway."),
    Option(
        "state",
        "With --describe: the group's state. With --list: the states of all groups, or only groups in these "
        "states, for example `--list --state stable,empty`.",
        "String",
        argument_optional=True,
    ),
    Option(
        "type",
        "With --list: the types of all groups, or only groups of these types, for example "
        "`--list --type classic,consumer`.",
        "String",
        argument_optional=True,
    ),
    Option(
        "validate-regex",
        "Say whether this is a regular expression in RE2's syntax, as subscriptions want it.",
        "String: regex",
    ),
)
GONE = {
    "zookeeper": NO_ZOOKEEPER,
    "new-consumer": "--new-consumer is gone: there is no other",
    "broker-list": "did you mean --bootstrap-server?",
}
PARSER = Parser(
    "This tool helps to list all consumer groups, describe a consumer group, delete consumer group info, "
    "or reset consumer group offsets.",
    OPTIONS,
    gone=GONE,
)


def parse(arguments: Sequence[str]) -> Options:
    arguments = found_in_zookeeper(arguments)
    options = PARSER.parse_only(arguments)
    _check_available(options)
    options = PARSER.parse(arguments)
    if not options.has("validate-regex"):
        options.require("bootstrap-server")
    if options.has("describe"):
        _check_describe(options)
    if options.has("delete"):
        _check_scope(options, "delete")
        if options.has("topic"):
            raise options.wrong(
                "The consumer does not support topic-specific offset deletion from a consumer group."
            )
    if options.has("delete-offsets") and not (options.has("group") and options.has("topic")):
        raise options.wrong("Option [delete-offsets] takes the following options: [group], [topic]")
    if options.has("reset-offsets"):
        _check_reset(options)
    options.forbid("group", "all-groups", "list")
    options.forbid("topic", "list", "describe")
    if sum(options.has(action) for action in ACTIONS) != 1:
        names = ", ".join(f"--{action}" for action in ACTIONS)
        raise options.wrong(f"Command must include exactly one action: {names}")
    return options


def _check_available(options: Options) -> None:
    """Some options make no sense without others; Kafka finds out before it looks at anything else."""
    missing = [
        name
        for name, actions in _ONLY_WITH.items()
        if options.has(name) and not any(options.has(action) for action in actions)
    ]
    if missing and not options.has("help"):
        named = ", ".join(missing)
        raise OptionError(f"Option(s) [{named}] are unavailable given other options on the command line")


def _check_scope(options: Options, action: str) -> None:
    if not options.has("group") and not options.has("all-groups"):
        raise options.wrong(f"Option [{action}] takes one of these options: [group], [all-groups]")


def _check_describe(options: Options) -> None:
    _check_scope(options, "describe")
    if sum(options.has(view) for view in VIEWS) > 1:
        named = ", ".join(f"[{view}]" for view in VIEWS)
        raise options.wrong(f"Option [describe] takes at most one of these options: {named}")
    if options.has("state") and options.value("state") is not None:
        raise options.wrong("Option [describe] does not take a value for [state]")


def _check_reset(options: Options) -> None:
    if options.has("dry-run") and options.has("execute"):
        raise options.wrong("Option [reset-offsets] only accepts one of [execute] and [dry-run]")
    if not options.has("dry-run") and not options.has("execute"):
        print(NOT_EXECUTED, file=sys.stderr)
    _check_scope(options, "reset-offsets")
    for scenario in SCENARIOS:
        options.forbid(scenario, *(other for other in SCENARIOS if other != scenario))
