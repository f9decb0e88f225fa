"""AlterPartition v2–v3 (KIP-497, KIP-841, KIP-903): leaders propose who is in sync. Among brokers only.

The answer tells of what is in the store; leaders go by the image all the same.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from barnabas.broker.cluster.controller_host import code_of
from barnabas.broker.dispatch import Context
from barnabas.broker.topic_config import election_rules
from barnabas.controller.isr import IsrResult, Member, ProposedIsr, alter_isrs, is_stale
from barnabas.model.errors import ErrorCode
from barnabas.ports import StoreError
from barnabas.protocol.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    PartitionData,
    ResponsePartitionData,
    ResponseTopicData,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node

_RECOVERED = 0


def handle(node: Node, context: Context, request: AlterPartitionRequest) -> AlterPartitionResponse | None:
    if not node.controller.is_active:
        return AlterPartitionResponse(error_code=ErrorCode.NOT_CONTROLLER)
    if is_stale(node.image, request.broker_id, request.broker_epoch):
        return AlterPartitionResponse(error_code=ErrorCode.STALE_BROKER_EPOCH)
    proposals = [_proposed(topic.topic_id, row) for topic in request.topics for row in topic.partitions]

    def done(results: tuple[IsrResult, ...], error: StoreError | None) -> None:
        context.reply(_answer(results, error))

    node.controller.decide(
        lambda image: alter_isrs(
            image,
            request.broker_id,
            request.broker_epoch,
            proposals,
            election_rules(node.settings, image),
        ),
        done,
    )
    return None


def _proposed(topic_id: bytes, row: PartitionData) -> ProposedIsr:
    members = [Member(state.broker_id, state.broker_epoch) for state in row.new_isr_with_epochs]
    return ProposedIsr(
        topic_id,
        row.partition_index,
        row.leader_epoch,
        row.partition_epoch,
        tuple(members or map(Member, row.new_isr)),
        row.leader_recovery_state != _RECOVERED,
    )


def _answer(results: tuple[IsrResult, ...], error: StoreError | None) -> AlterPartitionResponse:
    if error is not None:
        return AlterPartitionResponse(error_code=code_of(error))
    if any(result.error is ErrorCode.STALE_BROKER_EPOCH for result in results):
        return AlterPartitionResponse(error_code=ErrorCode.STALE_BROKER_EPOCH)
    return AlterPartitionResponse(
        topics=[
            ResponseTopicData(topic_id, [_row(result) for result in of_topic])
            for topic_id, of_topic in groupby(results, lambda result: result.proposed.topic_id)
        ]
    )


def _row(result: IsrResult) -> ResponsePartitionData:
    partition = result.partition
    if result.error or partition is None:
        return ResponsePartitionData(result.proposed.index, result.error)
    return ResponsePartitionData(
        partition.index,
        ErrorCode.NONE,
        partition.leader,
        partition.leader_epoch,
        partition.isr,
        _RECOVERED,
        partition.partition_epoch,
    )
