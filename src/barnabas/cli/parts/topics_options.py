"""The options of kafka-topics and the checks between them, in the order in which Kafka makes them."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from barnabas.cli.support.connecting import BOOTSTRAP, COMMAND_CONFIG, NO_ZOOKEEPER
from barnabas.cli.support.legacy_zookeeper import asks_zookeeper, found_in_zookeeper
from barnabas.cli.support.options import Option, OptionError, Options, Parser, UsageError

ACTIONS = ("create", "list", "alter", "describe", "delete")
REPORTS = (
    "under-replicated-partitions",
    "under-min-isr-partitions",
    "at-min-isr-partitions",
    "unavailable-partitions",
)
_CONFIGS_TOOL = " (To alter topic configurations, the kafka-configs tool can be used.)"

OPTIONS = (
    BOOTSTRAP,
    COMMAND_CONFIG,
    Option("list", "Print the names of all topics."),
    Option("create", "Create a topic."),
    Option("delete", "Delete topics."),
    Option("alter", "Give topics more partitions." + _CONFIGS_TOOL),
    Option("describe", "Print the partitions and settings of topics."),
    Option(
        "topic",
        "The topic's name. Except with --create it may be a regular expression, with '\\' before the "
        "characters that stand for themselves.",
        "String: topic",
    ),
    Option("topic-id", "The id of the topic to describe.", "String: topic-id"),
    Option(
        "config", "A setting of the topic to create; may be repeated." + _CONFIGS_TOOL, "String: name=value"
    ),
    Option(
        "delete-config",
        "Has no effect any more since Kafka 4.0.",
        "String: name",
        aliases=("deleteConfig",),
    ),
    Option(
        "partitions",
        "How many partitions the topic gets, or grows to. Without it a new topic gets the broker's default. "
        "(WARNING: when it grows, records with a key go to other partitions and their order changes.)",
        "Integer: # of partitions",
    ),
    Option(
        "replication-factor",
        "How many replicas each partition of the new topic gets. Without it, the broker's default.",
        "Integer: replication factor",
    ),
    Option(
        "replica-assignment",
        "The brokers of every partition: partitions separated by commas, brokers by colons.",
        "String: broker_id_for_part1_replica1 : broker_id_for_part1_replica2 , "
        "broker_id_for_part2_replica1 : broker_id_for_part2_replica2 , ...",
    ),
    Option("under-replicated-partitions", "Describe only partitions with replicas out of sync."),
    Option("unavailable-partitions", "Describe only partitions whose leader is not available."),
    Option("under-min-isr-partitions", "Describe only partitions with fewer in-sync replicas than required."),
    Option(
        "at-min-isr-partitions", "Describe only partitions with just as many in-sync replicas as required."
    ),
    Option("topics-with-overrides", "Describe only topics with settings of their own."),
    Option("if-exists", "With --alter, --delete and --describe: do nothing if there is no such topic."),
    Option("if-not-exists", "With --create: succeed if the topic is there already."),
    Option("exclude-internal", "Leave out the brokers' own topics when listing or describing."),
    Option(
        "partition-size-limit-per-response",
        "How many partitions a DescribeTopicPartitions answer may hold.",
        "Integer: maximum number of partitions per response",
    ),
)
GONE = {
    "zookeeper": NO_ZOOKEEPER,
    "broker-list": "did you mean --bootstrap-server?",
    "force": "--force is gone; the action is taken at once",
    "disable-rack-aware": "--disable-rack-aware is gone; use --replica-assignment to place replicas yourself",
}
PARSER = Parser("This tool helps to create, delete, describe, or change a topic.", OPTIONS, gone=GONE)


def parse(arguments: Sequence[str]) -> Options:
    if not arguments:
        raise UsageError("Create, delete, describe, or change a topic.", PARSER.usage())
    options = PARSER.parse(found_in_zookeeper(arguments))
    legacy = asks_zookeeper(arguments)
    if sum(options.has(action) for action in ACTIONS) != 1:
        raise options.wrong(
            "Command must include exactly one action: --list, --describe, --create, --alter or --delete"
        )
    if options.has("delete-config") and not legacy:
        print(
            "delete-config option is no longer supported and deprecated since version 4.0. "
            "The config will be fully removed in future releases.",
            file=sys.stderr,
        )
    _check_required(options, legacy=legacy)
    _check_invalid(options)
    return options


def _check_required(options: Options, *, legacy: bool) -> None:
    """`legacy`: with --zookeeper, when this tool also altered the settings of topics."""
    if not options.has("bootstrap-server"):
        raise OptionError("--bootstrap-server must be specified")
    if options.has("describe") and options.has("if-exists"):
        if not options.has("topic") and not options.has("topic-id"):
            raise options.wrong("--topic or --topic-id is required to describe a topic")
        if options.has("topic") and options.has("topic-id"):
            print(
                "Only topic id will be used when both --topic and --topic-id are specified and "
                "topicId is not Uuid.ZERO_UUID"
            )
    if not options.has("list") and not options.has("describe"):
        options.require("topic")
    if options.has("alter") and not (legacy and has_configs(options)):
        if options.has("config"):
            raise options.wrong(
                'Option combination "[[config], [bootstrap-server]]" can\'t be used with option "[alter]"'
                + _CONFIGS_TOOL
            )
        options.require("partitions")


def has_configs(options: Options) -> bool:
    return options.has("config") or options.has("delete-config")


def _check_invalid(options: Options) -> None:
    _only_with(options, "config", "alter", "create")
    _only_with(options, "partitions", "alter", "create")
    _only_with(options, "replication-factor", "create")
    _only_with(options, "replica-assignment", "alter", "create")
    if options.has("create"):
        options.forbid("replica-assignment", "partitions", "replication-factor")
    for report in REPORTS:
        _only_with(options, report, "describe")
        options.forbid(report, "topics-with-overrides")
    _only_with(options, "topics-with-overrides", "describe")
    _only_with(options, "if-exists", "alter", "delete", "describe")
    _only_with(options, "if-not-exists", "create")
    _only_with(options, "exclude-internal", "list", "describe")


def _only_with(options: Options, used: str, *actions: str) -> None:
    options.forbid(used, *(action for action in ACTIONS if action not in actions))
