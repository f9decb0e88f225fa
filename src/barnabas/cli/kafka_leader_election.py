"""kafka-leader-election: preferred and unclean elections, with the lines of Kafka 4.3's
LeaderElectionCommand. Partitions are named in their order; Kafka names them in the order of a hash set."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from barnabas.cli.support.connecting import connect
from barnabas.cli.support.failures import FAILURES, ToolError, java_name, sentence
from barnabas.cli.support.json_values import MAPPING, field, fields_of, items_of, number
from barnabas.cli.support.json_values import text as text_of
from barnabas.cli.support.options import Option, OptionError, Options, Parser
from barnabas.cli.support.running import run
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.wire import Cluster, DeadlineError
from barnabas.wire.admin import elections

_TYPES = {"PREFERRED": elections.PREFERRED, "UNCLEAN": elections.UNCLEAN}
_WHICH = ("topic", "all-topic-partitions", "path-to-json-file")
# Shorter than other tools' unless the file says so.
_TIMEOUTS = {"default.api.timeout.ms": "30000", "request.timeout.ms": "15000"}

PARSER = Parser(
    "This tool attempts to elect a new leader for a set of topic partitions. The type of elections supported "
    "are preferred replicas and unclean replicas.",
    (
        Option("bootstrap-server", "REQUIRED: the broker or brokers to connect to.", "String: host:port"),
        Option("admin.config", "The old name of --command-config.", "String: config file"),
        Option(
            "command-config", "A properties file with settings for the connection.", "String: Config file"
        ),
        Option(
            "path-to-json-file",
            "A JSON file with the partitions:\n"
            '{"partitions":\n  [{"topic": "foo", "partition": 1},\n   {"topic": "bar", "partition": 2}]\n}\n'
            "Not beside --all-topic-partitions or --topic.",
            "String: Path to JSON file",
        ),
        Option("topic", "The topic of one partition; --partition names it.", "String: topic name"),
        Option("partition", "REQUIRED with --topic: the number of its partition.", "Integer: partition id"),
        Option("all-topic-partitions", "Every partition that needs such an election."),
        Option(
            "election-type",
            "REQUIRED: 'preferred' gives leadership back to the first replica, where another leads; "
            "'unclean' lets any replica lead, where nobody does, at the price of lost records.",
            "[PREFERRED,UNCLEAN]: election type",
        ),
    ),
)


def main(arguments: Sequence[str] | None = None) -> int:
    return run(leader_election_tool, arguments)


def leader_election_tool(arguments: Sequence[str]) -> int:
    options = PARSER.parse(arguments)
    options.forbid("admin.config", "command-config")
    if options.has("admin.config"):
        print(
            "Option --admin.config has been deprecated and will be removed in a future version. "
            "Use --command-config instead."
        )
        options.given["command-config"] = options.given["admin.config"]
    try:
        _check(options)
        kind = _type(options)
        partitions = _partitions(options)
        with connect(options, defaults=_TIMEOUTS) as cluster:
            _elect(cluster, kind, partitions)
    except DeadlineError:
        message = "Timeout waiting for election results"
        print(message)
        print(message, file=sys.stderr)
        return 1
    except FAILURES as error:
        print(sentence(error, "electLeaders"), file=sys.stderr)
        return 1
    return 0


def _check(options: Options) -> None:
    missing = [name for name in ("bootstrap-server", "election-type") if not options.has(name)]
    if missing:
        raise ToolError(f"Missing required option(s): {', '.join(missing)}")
    if sum(options.has(name) for name in _WHICH) != 1:
        raise ToolError(f"One and only one of the following options is required: {', '.join(_WHICH)}")
    if options.has("topic") and not options.has("partition"):
        raise ToolError("Missing required option(s): partition")
    if options.has("partition") and not options.has("topic"):
        raise ToolError("Option partition is only allowed if topic is used")


def _type(options: Options) -> str:
    typed = options.text("election-type")
    if typed.upper() not in _TYPES:
        raise OptionError(f"Cannot parse argument '{typed}' of option election-type")
    return typed.upper()


# --- which partitions ------------------------------------------------------------------------------------


def _partitions(options: Options) -> list[TopicPartition] | None:
    path = options.value("path-to-json-file")
    if path is not None:
        try:
            text = Path(path).read_text(encoding="utf-8")
        except OSError:
            raise ToolError(f"java.io.IOException: Unable to read file {path}") from None
        return parse_partitions(text)
    topic = options.value("topic")
    partition = options.integer("partition")
    if topic is None or partition is None:
        return None
    return [TopicPartition(topic, partition)]


def parse_partitions(text: str) -> list[TopicPartition]:
    try:
        document = json.loads(text)
    except ValueError:
        raise ToolError("Replica election data is empty") from None
    try:
        found = _named(fields_of(document))
    except ToolError as error:
        # Kafka throws it on inside of another exception, which then says the name of the first.
        raise ToolError(f"{error.java_name}: {error}") if error.java_name == MAPPING else error from None
    repeated = [str(partition) for partition, times in Counter(found).items() if times > 1]
    if repeated:
        raise ToolError(f"Replica election data contains duplicate partitions: [{', '.join(repeated)}]")
    return found


def _named(document: dict[str, object]) -> list[TopicPartition]:
    if "partitions" not in document:
        raise ToolError('Replica election data is missing "partitions" field')
    rows = [fields_of(row) for row in items_of(document["partitions"])]
    return [TopicPartition(text_of(field(row, "topic")), number(field(row, "partition"))) for row in rows]


# --- the election ----------------------------------------------------------------------------------------


def _elect(cluster: Cluster, kind: str, partitions: list[TopicPartition] | None) -> None:
    # Nothing was named, so there is nothing to ask.
    results = {} if partitions == [] else elections.elect(cluster, _TYPES[kind], partitions)
    for line in result_lines(kind, results):
        print(line)
    failed = [error for error in results.values() if _has_failed(error)]
    if failed:
        raise ToolError(f"{len(failed)} replica(s) could not be elected")


def result_lines(kind: str, results: dict[TopicPartition, ApiError | None]) -> list[str]:
    elected = [str(partition) for partition, error in sorted(results.items()) if error is None]
    fine = [str(place) for place, error in sorted(results.items()) if error and not _has_failed(error)]
    lines = []
    if elected:
        lines.append(f"Successfully completed leader election ({kind}) for partitions {', '.join(elected)}")
    if fine:
        lines.append(f"Valid replica already elected for partitions {', '.join(fine)}")
    for partition, error in sorted(results.items()):
        if error is not None and _has_failed(error):
            lines.append(
                f"Error completing leader election ({kind}) for partition: {partition}: "
                f"{java_name(error)}: {error}"
            )
    return lines


def _has_failed(error: ApiError | None) -> bool:
    return error is not None and error.code is not ErrorCode.ELECTION_NOT_NEEDED
