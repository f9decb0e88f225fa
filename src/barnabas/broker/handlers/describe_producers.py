"""DescribeProducers v0 (KIP-664): who writes to a partition, and since when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import topic_name_problem
from barnabas.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(node: Node, context: Context, request: DescribeProducersRequest) -> DescribeProducersResponse:
    return DescribeProducersResponse(
        topics=[
            TopicResponse(topic.name, [_one(node, topic.name, index) for index in topic.partition_indexes])
            for topic in request.topics
        ]
    )


def _one(node: Node, topic: str, index: int) -> PartitionResponse:
    problem = topic_name_problem(topic)
    if problem is not None:
        code = ErrorCode.INVALID_TOPIC_EXCEPTION
        return PartitionResponse(index, code, f"Topic name is invalid: {problem}")
    try:
        if topic not in node.image.topics:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if node.image.partition(topic, index) is None:
            # Kafka leaves the sentence out here, and gives it for a topic.
            return PartitionResponse(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        log = node.replicas.get(topic, index).held_log()
    except ApiError as error:
        return PartitionResponse(index, error.code, error.message)
    states = [
        ProducerState(
            producer.producer_id,
            producer.epoch,
            producer.last_sequence,
            producer.last_timestamp_ms,
            producer.coordinator_epoch,
            producer.transaction_first_offset,
        )
        for producer in log.producers.entries()
    ]
    return PartitionResponse(index, 0, None, states)
