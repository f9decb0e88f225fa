"""A topic for a group to read: so many partitions, a record in each, and its id."""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from barnabas.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from barnabas.records.build import build_batch
from barnabas.records.walk import Record
from bench.coordinators.ask import RETRY_S, ask, check
from bench.coordinators.script import Pause, Script, Stage, Step
from bench.subject import Subject

NOT_LEADING_YET = frozenset({ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION})


@dataclass(frozen=True, slots=True)
class Topic:
    name: str
    id: bytes
    partitions: int


def now_ms() -> int:
    """Records carry the time of day: retention would take older ones away in the middle of a run."""
    return int(time.time() * 1_000)


def topic_with_records(subject: Subject, prefix: str, partitions: int) -> Topic:
    name = subject.fresh_topic(prefix, partitions=partitions)
    found: list[Topic] = []
    with Stage(subject.port) as stage:
        task = stage.add(_fill(name, partitions, found))
        task.start()
        stage.run_until(lambda: task.is_finished, "filling the topic")
    return found[0]


def _fill(name: str, partitions: int, found: list[Topic]) -> Script:
    asked = MetadataRequest([MetadataRequestTopic(name=name)], allow_auto_topic_creation=False)
    answer = yield from ask(asked, MetadataResponse)
    check(answer.topics[0].error_code, "Metadata")
    yield from _produce_one_each(name, partitions)
    found.append(Topic(name, answer.topics[0].topic_id, partitions))


def _produce_one_each(name: str, partitions: int) -> Generator[Step, Any, None]:
    batch = build_batch([Record(0, now_ms(), None, b"first record")])
    missing = list(range(partitions))
    while missing:
        data = [PartitionProduceData(partition, batch) for partition in missing]
        topic = TopicProduceData(name=name, partition_data=data)
        request = ProduceRequest(acks=1, timeout_ms=30_000, topic_data=[topic])
        answer = yield from ask(request, ProduceResponse)
        given = answer.responses[0].partition_responses
        missing = [each.index for each in given if each.error_code in NOT_LEADING_YET]
        for each in given:
            if each.index not in missing:
                check(each.error_code, "Produce")
        if missing:
            yield Pause(RETRY_S)
