"""kafka-delete-records: delete the records of partitions down to given offsets."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from barnabas.cli.support.connecting import COMMAND_CONFIG, connect
from barnabas.cli.support.failures import FAILURES, ToolError, java_name, log_refusal, sentence
from barnabas.cli.support.json_values import field, fields_of, items_of, number
from barnabas.cli.support.json_values import text as text_of
from barnabas.cli.support.options import Option, Parser
from barnabas.cli.support.running import run
from barnabas.model.errors import ApiError
from barnabas.model.ids import TopicPartition
from barnabas.wire import Cluster, DeadlineError
from barnabas.wire.admin import offsets

NO_LEADER = (
    "org.apache.kafka.common.errors.TimeoutException: Timed out waiting for a node assignment. "
    "Call: deleteRecords(api=METADATA)"
)

PARSER = Parser(
    "This tool helps to delete records of the given partitions down to the specified offset.",
    (
        Option(
            "bootstrap-server",
            "REQUIRED: the broker or brokers to connect to.",
            "String: server(s) to use for bootstrapping",
        ),
        Option(
            "offset-json-file",
            "REQUIRED: a JSON file with an offset for each partition; -1 stands for the end:\n"
            '{"partitions":\n  [{"topic": "foo", "partition": 1,\n  "offset": 1}],\n "version":1\n}',
            "String: Offset json file path",
        ),
        COMMAND_CONFIG,
    ),
)


def main(arguments: Sequence[str] | None = None) -> int:
    return run(delete_records_tool, arguments)


def delete_records_tool(arguments: Sequence[str]) -> int:
    options = PARSER.parse(arguments)
    options.require("bootstrap-server", "offset-json-file")
    try:
        path = options.text("offset-json-file")
        try:
            text = Path(path).read_text(encoding="utf-8")
        except OSError:
            raise ToolError(f"Unable to read file {path}") from None
        before = parse_offsets(text)
        with connect(options) as cluster:
            _delete(cluster, before)
    except FAILURES as error:
        print(sentence(error, "deleteRecords"), file=sys.stderr)
        return 1
    return 0


def _delete(cluster: Cluster, before: dict[TopicPartition, int]) -> None:
    print("Executing records delete operation")
    answers: dict[TopicPartition, int | ApiError | None] = dict.fromkeys(before)
    # When no broker is found at all, none of them has an answer.
    with suppress(DeadlineError):
        answers.update(offsets.delete_records(cluster, before) if before else {})
    print("Records delete operation completed:")
    for partition in before:
        print(f"partition: {partition}\t{_outcome(partition, answers[partition])}")


def _outcome(partition: TopicPartition, answer: int | ApiError | None) -> str:
    if isinstance(answer, int):
        return f"low_watermark: {answer}"
    # What was retried until the end is a time-out to Kafka's client.
    if answer is None or answer.code.retriable:
        return f"error: {NO_LEADER}"
    log_refusal("DeleteRecords", partition, answer)
    return f"error: {java_name(answer)}: {answer}"


def parse_offsets(text: str) -> dict[TopicPartition, int]:
    try:
        document = json.loads(text)
    except ValueError:
        raise ToolError("The input string is not a valid JSON") from None
    fields = fields_of(document)
    version = number(fields.get("version", 1))
    if version != 1:
        raise ToolError(f"Not supported version field value {version}")
    if "partitions" not in fields:
        raise ToolError("Missing partitions field")
    found: dict[TopicPartition, int] = {}
    repeated = []
    for row in map(fields_of, items_of(fields["partitions"])):
        partition = TopicPartition(text_of(field(row, "topic")), number(field(row, "partition")))
        if partition in found:
            repeated.append(str(partition))
        found[partition] = number(field(row, "offset"), "Long")
    if repeated:
        raise ToolError(f"Offset json file contains duplicate topic partitions: {','.join(repeated)}")
    return found
