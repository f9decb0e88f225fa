"""Offsets and partitions as JSON, in the form of Spark's own connector: {"topic": {"0": 12, "1": 7}}."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from barnabas.model.ids import TopicPartition
from barnabas.spark.errors import PipelineError

Offsets: TypeAlias = dict[TopicPartition, int]

OFFSETS_EXAMPLE = '{"topicA":{"0":23,"1":-1},"topicB":{"0":-2}}'
TIMESTAMPS_EXAMPLE = '{"topicA":{"0":1700000000000,"1":1700000000000}}'
PARTITIONS_EXAMPLE = '{"topicA":[0,1],"topicB":[2,4]}'
INT64_MAX = 2**63 - 1


def to_json(offsets: Mapping[TopicPartition, int]) -> dict[str, dict[str, int]]:
    """What Spark writes into the checkpoint; sorted, so that equal offsets are equal text."""
    topics: dict[str, dict[str, int]] = {}
    for partition, offset in sorted(offsets.items()):
        topics.setdefault(partition.topic, {})[str(partition.partition)] = offset
    return topics


def from_json(topics: Mapping[str, Mapping[str, int]]) -> Offsets:
    """Reads what `to_json` or Spark's own connector wrote."""
    return {
        TopicPartition(topic, int(partition)): int(offset)
        for topic, rows in topics.items()
        for partition, offset in rows.items()
    }


def parse_offsets(option: str, text: str, example: str = OFFSETS_EXAMPLE) -> Offsets:
    """The value of an option such as startingOffsets."""
    topics = _parse(option, text, example)
    found: Offsets = {}
    for topic, rows in topics.items():
        if not isinstance(rows, dict):
            raise _unlike(option, text, example)
        for partition, offset in rows.items():
            if not partition.isdecimal() or type(offset) is not int or abs(offset) > INT64_MAX:
                raise _unlike(option, text, example)
            found[TopicPartition(topic, int(partition))] = offset
    return found


def parse_partitions(option: str, text: str) -> frozenset[TopicPartition]:
    """The value of `assign`."""
    topics = _parse(option, text, PARTITIONS_EXAMPLE)
    found = set()
    for topic, numbers in topics.items():
        if not isinstance(numbers, list) or not all(type(n) is int and n >= 0 for n in numbers):
            raise _unlike(option, text, PARTITIONS_EXAMPLE)
        found |= {TopicPartition(topic, number) for number in numbers}
    return frozenset(found)


def names(partitions: Iterable[TopicPartition]) -> str:
    """Partitions for a sentence; a few of them when there are many."""
    ordered = [str(partition) for partition in sorted(partitions)]
    more = f" and {len(ordered) - 10} more" if len(ordered) > 10 else ""
    return ", ".join(ordered[:10]) + more


def _parse(option: str, text: str, example: str) -> dict[str, object]:
    try:
        parsed = json.loads(text)
    except ValueError:
        raise _unlike(option, text, example) from None
    if not isinstance(parsed, dict):
        raise _unlike(option, text, example)
    return parsed


def _unlike(option: str, text: str, example: str) -> PipelineError:
    shown = text if len(text) <= 200 else text[:200] + "…"
    return PipelineError(f"Option {option} expects JSON, e.g. {example}, got {shown}")
