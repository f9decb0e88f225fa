"""CreatePartitions v0–v3 (KIP-195): more partitions for a topic, placed by us or by hand."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from barnabas.broker.cluster.controller_host import code_of
from barnabas.broker.dispatch import Context
from barnabas.controller.partitions import MorePartitions, PartitionsResult, create_partitions, named_twice
from barnabas.model.errors import ErrorCode
from barnabas.ports import StoreError
from barnabas.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(node: Node, context: Context, request: CreatePartitionsRequest) -> CreatePartitionsResponse | None:
    if request.timeout_ms <= 0:
        return CreatePartitionsResponse(results=_too_late(request))

    def done(results: tuple[PartitionsResult, ...], error: StoreError | None) -> None:
        response = CreatePartitionsResponse(results=[_answer(result, error) for result in results])
        node.replicas.when_open(lambda: context.reply(response))

    wanted = [_more(topic) for topic in request.topics]
    node.controller.decide(
        lambda image: create_partitions(
            image, wanted, random=node.random, validate_only=request.validate_only
        ),
        done,
    )
    return None


def _too_late(request: CreatePartitionsRequest) -> list[CreatePartitionsTopicResult]:
    """Whoever waits for no time at all is not waited for, if there is anything to wait for."""
    times = Counter(topic.name for topic in request.topics)
    refused = named_twice(times)
    if len(refused) == len(times):
        return [_answer(result, None) for result in refused]
    return [CreatePartitionsTopicResult(topic.name, ErrorCode.REQUEST_TIMED_OUT) for topic in request.topics]


def _more(topic: CreatePartitionsTopic) -> MorePartitions:
    if topic.assignments is None:
        return MorePartitions(topic.name, topic.count)
    return MorePartitions(
        topic.name, topic.count, tuple(tuple(item.broker_ids) for item in topic.assignments)
    )


def _answer(result: PartitionsResult, error: StoreError | None) -> CreatePartitionsTopicResult:
    if result.error or error is None:
        return CreatePartitionsTopicResult(result.name, result.error, result.message)
    return CreatePartitionsTopicResult(result.name, code_of(error))
