"""DeleteTopics v1–v6 (KIP-4, KIP-516): by name, since v6 by id. Gone from every answer at once; the files
follow after `file.delete.delay.ms`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.cluster.controller_host import code_of
from barnabas.broker.dispatch import Context
from barnabas.controller.deletion import DeletedTopic, TopicSelector, all_malformed, delete_topics
from barnabas.model.errors import ErrorCode
from barnabas.ports import StoreError
from barnabas.protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(node: Node, context: Context, request: DeleteTopicsRequest) -> DeleteTopicsResponse | None:
    if context.version >= 6:
        selectors = [TopicSelector(topic.name, topic.topic_id) for topic in request.topics]
    else:
        selectors = [TopicSelector(name) for name in request.topic_names]
    if not node.settings.boolean("delete.topic.enable"):
        # Kafka answers what older clients understand: before v3 there was no code for it.
        code = ErrorCode.TOPIC_DELETION_DISABLED if context.version >= 3 else ErrorCode.INVALID_REQUEST
        return DeleteTopicsResponse(
            responses=[DeletableTopicResult(s.name, s.topic_id, code) for s in selectors]
        )
    if request.timeout_ms <= 0:
        return DeleteTopicsResponse(responses=_too_late(selectors))

    def done(results: tuple[DeletedTopic, ...], error: StoreError | None) -> None:
        context.reply(DeleteTopicsResponse(responses=[_answer(result, error) for result in results]))

    node.controller.decide(lambda image: delete_topics(image, selectors), done)
    return None


def _too_late(selectors: list[TopicSelector]) -> list[DeletableTopicResult]:
    """Whoever waits for no time at all is not waited for, if there is anything to wait for."""
    late = ErrorCode.REQUEST_TIMED_OUT
    return [_answer(result, None) for result in all_malformed(selectors)] or [
        DeletableTopicResult(selector.name, selector.topic_id, late) for selector in selectors
    ]


def _answer(result: DeletedTopic, error: StoreError | None) -> DeletableTopicResult:
    if result.error or error is None:
        return DeletableTopicResult(result.name, result.topic_id, result.error, result.message)
    return DeletableTopicResult(result.name, result.topic_id, code_of(error))
