"""kafka-get-offsets (GetOffsetShell): a line `topic:partition:offset` per partition, as in Kafka 4.3.

The older spelling `--broker-list` is accepted for `--bootstrap-server`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence

from barnabas.cli.support.connecting import connect, matching
from barnabas.cli.support.failures import FAILURES, ToolError, java_name, log_refusal, sentence
from barnabas.cli.support.options import Option, OptionError, Options, Parser
from barnabas.cli.support.running import run
from barnabas.model.errors import ApiError
from barnabas.model.ids import INTERNAL_TOPICS, TopicPartition
from barnabas.wire import Cluster, DeadlineError, SettingsError
from barnabas.wire.address import parse_bootstrap
from barnabas.wire.admin import offsets
from barnabas.wire.admin.offsets import Spec

Filter = Callable[[TopicPartition], bool]

_CLIENT_ID = "GetOffsetShell"
NAMED_TIMES = {spec.name.lower().replace("_", "-"): int(spec) for spec in Spec}
_TIMES = " / ".join(f"{spec} or {name}" for name, spec in NAMED_TIMES.items())
_RULE = re.compile(r"([^:,]*)(?::(?:([0-9]*)|(?:([0-9]*)-([0-9]*))))?")

PARSER = Parser(
    "An interactive shell for getting topic-partition offsets.",
    (
        Option(
            "bootstrap-server",
            "REQUIRED. The broker or brokers to connect to.",
            "String: HOST1:PORT1,...,HOST3:PORT3",
            aliases=("broker-list",),
        ),
        Option(
            "topic-partitions",
            "Which partitions, as comma separated patterns `topic:partition`. The topic is a regular "
            "expression or left out for every topic; the partition is a number, a range `from-to` without "
            "its end, `from-`, `-to`, or left out for every partition.",
            "String: topic1:1,topic2:0-3,topic3,topic4:5-,topic5:-3",
        ),
        Option("topic", "A topic's name or a regular expression. Without it, every topic.", "String: topic"),
        Option(
            "partitions", "Comma separated numbers of partitions. Without it, all.", "String: partition ids"
        ),
        Option(
            "time",
            "Which offset: a place in the log, or that of the first record not older than a timestamp.",
            f"String: <timestamp> / {_TIMES}",
            default="latest",
        ),
        Option(
            "command-config", "A properties file with settings for the connection.", "String: config file"
        ),
        Option("exclude-internal-topics", "Leave out the brokers' own topics."),
    ),
)


def main(arguments: Sequence[str] | None = None) -> int:
    return run(get_offsets_tool, arguments)


def get_offsets_tool(arguments: Sequence[str]) -> int:
    try:
        options = PARSER.parse(arguments)
        options.require("bootstrap-server")
        _check_servers(options)
        wanted = _filter(options)
        time = parse_time(options.text("time"))
        with connect(options, overrides={"client.id": _CLIENT_ID}) as cluster:
            _print_offsets(cluster, wanted, time, options.has("exclude-internal-topics"))
    except OptionError as error:
        raise OptionError(f"Error occurred: {error}", error.hint) from None
    except FAILURES as error:
        name = f"{java_name(error)}: " if isinstance(error, DeadlineError) else ""
        print(f"Error occurred: {name}{sentence(error, 'listTopics')}", file=sys.stderr)
        return 1
    return 0


def _check_servers(options: Options) -> None:
    try:
        parse_bootstrap(options.text("bootstrap-server"))
    except SettingsError:
        raise options.wrong("Please provide valid host:port like host1:9091,host2:9092\n") from None


def _print_offsets(cluster: Cluster, wanted: Filter, time: int, exclude_internal: bool) -> None:
    found = [
        TopicPartition(topic.name or "", row.partition_index)
        for topic in cluster.metadata().topics
        if not (exclude_internal and topic.name in INTERNAL_TOPICS)
        for row in topic.partitions
    ]
    partitions = [partition for partition in found if wanted(partition)]
    if not partitions:
        raise ToolError("Could not match any topic-partitions with the specified filters")
    answers = offsets.list_offsets(cluster, dict.fromkeys(partitions, time))
    # Kafka sorts by the printed name, so partition 10 comes before partition 2.
    for partition in sorted(partitions, key=str):
        answer = answers[partition]
        if isinstance(answer, ApiError):
            log_refusal("ListOffsets", partition, answer, _CLIENT_ID)
            print(
                f"Skip getting offsets for topic-partition {partition} due to error: "
                f"{java_name(answer)}: {answer}",
                file=sys.stderr,
            )
        elif answer.offset >= 0:
            print(f"{partition.topic}:{partition.partition}:{answer.offset}")


def _filter(options: Options) -> Filter:
    rules = options.value("topic-partitions")
    if rules is not None:
        if options.has("topic") or options.has("partitions"):
            raise ToolError("--topic-partitions cannot be used with --topic or --partitions")
        parts = [parse_rule(rule) for rule in rules.split(",")]
        return lambda partition: any(part(partition) for part in parts)
    return _both(options.value("topic"), parse_partitions(options.value("partitions")))


def _both(topic: str | None, partitions: Iterable[int] | None) -> Filter:
    return lambda partition: (
        bool(matching([partition.topic], topic, False))
        and (partitions is None or partition.partition in partitions)
    )


def parse_rule(rule: str) -> Filter:
    """`topic`, `topic:3`, `topic:1-4`, `topic:1-`, `:-4`; the end of a range is not in it."""
    found = _RULE.fullmatch(rule)
    if found is None:
        raise ToolError(f"org.apache.kafka.tools.TerseException: Invalid rule specification: {rule}")
    topic, one, lower, upper = (part or None for part in found.groups())
    partitions = range(int(lower or 0), int(upper) if upper else 2**31)
    return _both(topic, partitions if one is None else (int(one),))


def parse_partitions(text: str | None) -> frozenset[int] | None:
    if not text:
        return None
    try:
        return frozenset(int(part) for part in text.rstrip(",").split(","))
    except ValueError:
        raise ToolError(
            "--partitions expects a comma separated list of numeric partition ids, but received: " + text
        ) from None


def parse_time(text: str) -> int:
    if text in NAMED_TIMES:
        return NAMED_TIMES[text]
    try:
        return int(text)
    except ValueError:
        raise ToolError(
            f"Malformed time argument {text}. Please use {_TIMES}, or a specified long format timestamp"
        ) from None
