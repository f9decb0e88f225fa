"""OffsetCommit v2–v10: answered COORDINATOR_NOT_AVAILABLE until group coordinators exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(node: Node, context: Context, request: OffsetCommitRequest) -> OffsetCommitResponse:
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                topic.topic_id,
                topic.name,
                [
                    OffsetCommitResponsePartition(p.partition_index, ErrorCode.COORDINATOR_NOT_AVAILABLE)
                    for p in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )
