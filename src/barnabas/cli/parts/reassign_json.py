"""The JSON files of kafka-reassign-partitions: topics to move, and partitions with the brokers they go to."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from barnabas.cli.support.failures import ToolError
from barnabas.cli.support.json_values import field as field_of
from barnabas.cli.support.json_values import fields_of, items_of, number
from barnabas.cli.support.json_values import text as text_of
from barnabas.model.ids import TopicPartition
from barnabas.wire.admin.reassignments import Replica

ANY_LOG_DIR = "any"
OPERATION = "org.apache.kafka.tools.AdminOperationException"
COMMAND_FAILED = "org.apache.kafka.tools.AdminCommandFailedException"

Item = TypeVar("Item", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Plan:
    """In the file's order, with whatever it says twice."""

    rows: Sequence[tuple[TopicPartition, tuple[int, ...]]]
    log_dirs: Mapping[Replica, str] = field(default_factory=dict)  # only where one is named

    @property
    def targets(self) -> dict[TopicPartition, tuple[int, ...]]:
        return dict(self.rows)


def read_topics(text: str) -> list[str]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise ToolError("The input string is not a valid JSON", OPERATION) from None
    rows = _listed(_version_one(document), "topics")
    return [text_of(field_of(row, "topic")) for row in rows]


def read_plan(text: str) -> Plan:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise ToolError(f"The input string is not a valid JSON: {problem}", OPERATION) from None
    rows: list[tuple[TopicPartition, tuple[int, ...]]] = []
    log_dirs: dict[Replica, str] = {}
    for row in _listed(_version_one(document), "partitions"):
        partition = TopicPartition(text_of(field_of(row, "topic")), number(field_of(row, "partition")))
        replicas = tuple(number(value) for value in items_of(field_of(row, "replicas")))
        named = [text_of(value) for value in items_of(row.get("log_dirs", [ANY_LOG_DIR] * len(replicas)))]
        if len(named) != len(replicas):
            raise ToolError(
                f"Size of replicas list {_java_list(replicas)} is different from size of log dirs list "
                f"{_java_list(named)} for partition {partition}",
                COMMAND_FAILED,
            )
        rows.append((partition, replicas))
        for broker, path in zip(replicas, named, strict=True):
            if path != ANY_LOG_DIR:
                log_dirs[Replica(*partition, broker)] = path
    return Plan(rows, log_dirs)


def check_executable(plan: Plan) -> None:
    """What may be verified may not all be executed."""
    if not plan.rows:
        raise ToolError("Partition reassignment list cannot be empty", COMMAND_FAILED)
    if not all(replicas for _, replicas in plan.rows):
        raise ToolError("Partition replica list cannot be empty", COMMAND_FAILED)
    twice = repeated(partition for partition, _ in plan.rows)
    if twice:
        named = ",".join(map(str, twice))
        raise ToolError(
            f"Partition reassignment contains duplicate topic partitions: {named}", COMMAND_FAILED
        )
    doubled = [
        f"{partition} contains multiple entries for {','.join(map(str, brokers))}"
        for partition, replicas in plan.rows
        if (brokers := repeated(replicas))
    ]
    if doubled:
        raise ToolError(
            f"Partition replica lists may not contain duplicate entries: {'. '.join(doubled)}", COMMAND_FAILED
        )


def plan_text(
    targets: Mapping[TopicPartition, Sequence[int]], log_dirs: Mapping[Replica, str] | None = None
) -> str:
    known = log_dirs or {}
    rows = [
        {
            "topic": partition.topic,
            "partition": partition.partition,
            "replicas": list(targets[partition]),
            "log_dirs": [
                known.get(Replica(*partition, broker), ANY_LOG_DIR) for broker in targets[partition]
            ],
        }
        for partition in sorted(targets)
    ]
    return json.dumps({"version": 1, "partitions": rows}, separators=(",", ":"), ensure_ascii=False)


def repeated(items: Iterable[Item]) -> list[Item]:
    return [item for item, times in Counter(items).items() if times > 1]


def _version_one(document: object) -> dict[str, Any]:
    fields = fields_of(document)
    version = number(fields.get("version", 1))
    if version != 1:
        raise ToolError(f"Not supported version field value {version}", OPERATION)
    return fields


def _listed(fields: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [fields_of(row) for row in items_of(fields[name])] if name in fields else []


def _java_list(items: Iterable[object]) -> str:
    return f"[{', '.join(map(str, items))}]"
