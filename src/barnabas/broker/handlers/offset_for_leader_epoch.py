"""OffsetForLeaderEpoch v2–v4 (KIP-101, KIP-279, KIP-320): where a leader epoch ended in this log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.model.errors import ApiError
from barnabas.protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(
    node: Node, context: Context, request: OffsetForLeaderEpochRequest
) -> OffsetForLeaderEpochResponse:
    return OffsetForLeaderEpochResponse(
        topics=[
            OffsetForLeaderTopicResult(
                topic.topic, [_one(node, topic.topic, asked) for asked in topic.partitions]
            )
            for topic in request.topics
        ]
    )


def _one(node: Node, topic: str, asked: OffsetForLeaderPartition) -> EpochEndOffset:
    try:
        partition = node.replicas.get(topic, asked.partition)
        log = partition.leader_log(asked.current_leader_epoch)
        end = log.end_offset_for_epoch(asked.leader_epoch)
    except ApiError as error:
        return EpochEndOffset(error.code, asked.partition)
    return EpochEndOffset(0, asked.partition, end.epoch, end.end_offset)
