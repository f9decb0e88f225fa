"""kafka-log-dirs: how much of each log directory every replica uses, as one line of JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Sequence

from barnabas.cli.support.connecting import connect
from barnabas.cli.support.failures import FAILURES, ToolError, java_name, sentence
from barnabas.cli.support.options import Option, Parser
from barnabas.cli.support.running import run
from barnabas.model.errors import ApiError
from barnabas.protocol.messages.describe_log_dirs import DescribeLogDirsResult
from barnabas.wire import Cluster, DeadlineError
from barnabas.wire.admin import brokers
from barnabas.wire.codes import known

PARSER = Parser(
    "This tool helps to query log directory usage on the specified brokers.",
    (
        Option(
            "bootstrap-server",
            "REQUIRED: the broker or brokers to connect to",
            "String: The server(s) to use for bootstrapping",
        ),
        Option(
            "command-config",
            "A properties file with settings for the connection.",
            "String: Admin client property file",
        ),
        Option("describe", "Describe the log directories."),
        Option(
            "topic-list",
            "Only these topics: 'topic1,topic2'. Without it, all.",
            "String: Topic list",
            default="",
        ),
        Option(
            "broker-list", "Only these brokers: '0,1,2'. Without it, all.", "String: Broker list", default=""
        ),
    ),
)


def main(arguments: Sequence[str] | None = None) -> int:
    return run(log_dirs_tool, arguments)


def log_dirs_tool(arguments: Sequence[str]) -> int:
    options = PARSER.parse(arguments)
    options.require("bootstrap-server", "describe")
    try:
        topics = {name for name in options.text("topic-list").split(",") if name}
        asked = _broker_ids(options.text("broker-list"))
        with connect(options, defaults={"client.id": "log-dirs-tool"}) as cluster:
            _print_log_dirs(cluster, topics, asked)
    except FAILURES as error:
        name = f"{java_name(error)}: " if isinstance(error, DeadlineError) else ""
        print(f"{name}{sentence(error, 'listNodes')}", file=sys.stderr)
        return 1
    return 0


def _broker_ids(text: str) -> list[int]:
    words = [word for word in text.split(",") if word]
    for word in words:
        if not word.isdecimal() or int(word) >= 2**31:
            raise ToolError(f'For input string: "{word}"', "java.lang.NumberFormatException")
    return sorted({int(word) for word in words})


def _print_log_dirs(cluster: Cluster, topics: Collection[str], asked: Sequence[int]) -> None:
    existing = sorted(broker.broker_id for broker in brokers.describe_cluster(cluster).brokers)
    missing = [broker for broker in asked if broker not in existing]
    if missing:
        raise ToolError(
            f"ERROR: The given brokers do not exist from --broker-list: {_joined(missing)}. "
            f"Current existent brokers: {_joined(existing)}"
        )
    queried = asked or existing
    print("Querying brokers for log directories information")
    found = {broker: brokers.log_dirs(cluster, broker) for broker in queried}
    print(f"Received log directory information from brokers {_joined(queried)}")
    document = {
        "brokers": [
            {"broker": broker, "logDirs": [log_dir_fields(row, topics) for row in rows]}
            for broker, rows in found.items()
        ],
        "version": 1,
    }
    print(json.dumps(document, separators=(",", ":"), ensure_ascii=False))


def log_dir_fields(row: DescribeLogDirsResult, topics: Collection[str]) -> dict[str, object]:
    """The fields in the order in which Kafka happens to print them."""
    return {
        "partitions": [
            {
                "partition": f"{topic.name}-{replica.partition_index}",
                "size": replica.partition_size,
                "offsetLag": replica.offset_lag,
                "isFuture": replica.is_future_key,
            }
            for topic in row.topics
            if not topics or topic.name in topics
            for replica in topic.partitions
        ],
        "error": java_name(ApiError(known(row.error_code))) if row.error_code else None,
        "logDir": row.log_dir,
    }


def _joined(numbers: Sequence[int]) -> str:
    return ",".join(map(str, numbers))
