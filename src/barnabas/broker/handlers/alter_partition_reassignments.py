"""AlterPartitionReassignments v0–v1 (KIP-455, KIP-1073's guard of the replication factor): move replicas, or
take a move back. The controller decides; the answer comes when the move has begun, not when it has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.cluster.controller_host import code_of
from barnabas.broker.dispatch import Context
from barnabas.broker.topic_config import election_rules
from barnabas.controller.reassignment import Move, MoveResult, alter_reassignments
from barnabas.model.errors import ErrorCode
from barnabas.ports import StoreError
from barnabas.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(
    node: Node, context: Context, request: AlterPartitionReassignmentsRequest
) -> AlterPartitionReassignmentsResponse | None:
    if not request.topics:
        return AlterPartitionReassignmentsResponse()
    if request.timeout_ms <= 0:
        return _too_late(request)
    moves = [
        Move(topic.name, row.partition_index, None if row.replicas is None else tuple(row.replicas))
        for topic in request.topics
        for row in topic.partitions
    ]

    def done(results: tuple[MoveResult, ...], error: StoreError | None) -> None:
        context.reply(_answer(request, results, error))

    node.controller.decide(
        lambda image: alter_reassignments(
            image,
            moves,
            election_rules(node.settings, image),
            allow_replication_factor_change=request.allow_replication_factor_change,
        ),
        done,
    )
    return None


def _too_late(request: AlterPartitionReassignmentsRequest) -> AlterPartitionReassignmentsResponse:
    """Whoever waits for no time at all is not waited for."""
    late = ErrorCode.REQUEST_TIMED_OUT
    topics = [
        ReassignableTopicResponse(
            topic.name,
            [ReassignablePartitionResponse(row.partition_index, late, None) for row in topic.partitions],
        )
        for topic in request.topics
    ]
    return AlterPartitionReassignmentsResponse(error_code=late, error_message=None, responses=topics)


def _answer(
    request: AlterPartitionReassignmentsRequest, results: tuple[MoveResult, ...], error: StoreError | None
) -> AlterPartitionReassignmentsResponse:
    """In the order of the request. What the store refused is an error of the whole answer: a client asks the
    next controller then."""
    if error is not None:
        return AlterPartitionReassignmentsResponse(error_code=code_of(error), error_message=None)
    rest = iter(results)
    topics = [
        ReassignableTopicResponse(topic.name, [_row(next(rest)) for _ in topic.partitions])
        for topic in request.topics
    ]
    return AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=request.allow_replication_factor_change,
        error_message=None,
        responses=topics,
    )


def _row(result: MoveResult) -> ReassignablePartitionResponse:
    return ReassignablePartitionResponse(result.partition, result.error, result.message)
