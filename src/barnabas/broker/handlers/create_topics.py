"""CreateTopics v2–v7 (KIP-4, KIP-464 defaults, KIP-525 settings in the answer, KIP-516 topic ids).

The controller decides, the store makes it true, the answer follows. `validate_only` decides and stops there.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from barnabas.broker.cluster.controller_host import code_of
from barnabas.broker.dispatch import Context
from barnabas.broker.topic_requests import create_topics
from barnabas.controller.topics import Assignment, NewTopic, TopicResult, never_creatable
from barnabas.model.errors import ErrorCode
from barnabas.model.settings.resolve import describe_topic
from barnabas.ports import StoreError
from barnabas.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(node: Node, context: Context, request: CreateTopicsRequest) -> CreateTopicsResponse | None:
    if request.timeout_ms <= 0:
        return CreateTopicsResponse(topics=_too_late(node, request))

    def done(results: tuple[TopicResult, ...], error: StoreError | None) -> None:
        response = CreateTopicsResponse(topics=[_answer(node, result, error) for result in results])
        node.replicas.when_open(lambda: context.reply(response))

    topics = [_new_topic(topic) for topic in request.topics]
    create_topics(node, topics, done, validate_only=request.validate_only)
    return None


def _too_late(node: Node, request: CreateTopicsRequest) -> list[CreatableTopicResult]:
    """Whoever waits for no time at all is not waited for, if there is anything to wait for."""
    times = Counter(topic.name for topic in request.topics)
    refused = never_creatable(times)
    if len(refused) == len(times):
        return [_answer(node, result, None) for result in refused]
    late = ErrorCode.REQUEST_TIMED_OUT
    return [CreatableTopicResult(topic.name, error_code=late, error_message=None) for topic in request.topics]


def _new_topic(topic: CreatableTopic) -> NewTopic:
    return NewTopic(
        topic.name,
        topic.num_partitions,
        topic.replication_factor,
        tuple(Assignment(item.partition_index, tuple(item.broker_ids)) for item in topic.assignments),
        {config.name: config.value for config in topic.configs},
    )


def _answer(node: Node, result: TopicResult, error: StoreError | None) -> CreatableTopicResult:
    if result.error:
        return CreatableTopicResult(result.name, error_code=result.error, error_message=result.message)
    if error is not None:
        code = code_of(error)
        return CreatableTopicResult(result.name, error_code=code, error_message=code.sentence)
    # As they were written: only DescribeConfigs tells how they were understood.
    configs = [
        CreatableTopicConfigs(
            row.name, result.configs.get(row.name, row.value), row.read_only, row.source, row.sensitive
        )
        for row in describe_topic(result.configs, node.settings)
    ]
    return CreatableTopicResult(
        result.name,
        result.topic_id,
        error_message=None,
        num_partitions=result.partitions,
        replication_factor=result.replication_factor,
        configs=configs,
    )
