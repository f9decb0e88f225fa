"""Which partitions are read: some topics, topics whose name matches, or partitions given one by one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from barnabas.model.ids import TopicPartition, topic_name_problem
from barnabas.spark.errors import PipelineError
from barnabas.spark.options import Options
from barnabas.spark.source.java_patterns import translate
from barnabas.spark.source.offsets import PARTITIONS_EXAMPLE, parse_partitions

STRATEGIES = ("subscribe", "subscribePattern", "assign")


@dataclass(frozen=True, slots=True)
class Subscribe:
    topics: frozenset[str]


@dataclass(frozen=True, slots=True)
class Matching:
    pattern: re.Pattern[str]

    def matches(self, topic: str) -> bool:
        """The whole name, as Java's `matches`."""
        return self.pattern.fullmatch(topic) is not None


@dataclass(frozen=True, slots=True)
class Assign:
    partitions: frozenset[TopicPartition]


Selection: TypeAlias = Subscribe | Matching | Assign


def selection_of(options: Options) -> Selection:
    given = [name for name in STRATEGIES if options.text(name) is not None]
    if not given:
        raise PipelineError(
            "One of the options subscribe, subscribePattern and assign must say what to read, "
            "for example .option('subscribe', 'my-topic')."
        )
    if len(given) > 1:
        raise PipelineError(
            "Only one of the options subscribe, subscribePattern and assign can be given, "
            f"not {' and '.join(given)}."
        )
    text = (options.text(given[0]) or "").strip()
    match given[0]:
        case "subscribe":
            return _subscribe(text)
        case "subscribePattern":
            return _matching(text)
        case _:
            return _assign(text)


def _subscribe(text: str) -> Subscribe:
    topics = frozenset(name.strip() for name in text.split(",") if name.strip())
    if not topics:
        raise PipelineError(f"Option subscribe names no topic: {text!r}.")
    for topic in sorted(topics):
        problem = topic_name_problem(topic)
        if problem is not None:
            raise PipelineError(f"Option subscribe names a topic that cannot exist: {problem}.")
    return Subscribe(topics)


def _matching(text: str) -> Matching:
    if not text:
        raise PipelineError(
            "Option subscribePattern is empty: give a regular expression such as 'orders-.*'."
        )
    return Matching(translate("subscribePattern", text))


def _assign(text: str) -> Assign:
    partitions = parse_partitions("assign", text)
    if not partitions:
        raise PipelineError(f"Option assign names no partition, e.g. {PARTITIONS_EXAMPLE}.")
    return Assign(partitions)
