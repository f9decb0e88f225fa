"""OffsetFetch v1–v10: answered COORDINATOR_NOT_AVAILABLE until group coordinators exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(node: Node, context: Context, request: OffsetFetchRequest) -> OffsetFetchResponse:
    if context.version >= 8:
        groups = [
            OffsetFetchResponseGroup(g.group_id, error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE)
            for g in request.groups
        ]
        return OffsetFetchResponse(groups=groups)
    # Version 1 has no error of its own: every partition carries it.
    topics = [
        OffsetFetchResponseTopic(
            topic.name,
            [
                OffsetFetchResponsePartition(index, -1, error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE)
                for index in topic.partition_indexes
            ],
        )
        for topic in request.topics or ()
    ]
    return OffsetFetchResponse(topics=topics, error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE)
