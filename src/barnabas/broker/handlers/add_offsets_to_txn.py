"""AddOffsetsToTxn v0–v4 (KIP-98, KIP-588): a group's offsets will be part of the transaction, so the
partition that remembers them is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.coordinators.internal_topics import OFFSETS_TOPIC
from barnabas.broker.coordinators.ticket import Later
from barnabas.broker.coordinators.transaction_requests import spoken
from barnabas.broker.dispatch import Context
from barnabas.coordination.hashing import partition_of
from barnabas.coordination.outcome import Producer
from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse

if TYPE_CHECKING:
    from barnabas.broker.node import Node

_FENCED_SINCE = 2


def handle(node: Node, context: Context, request: AddOffsetsToTxnRequest) -> AddOffsetsToTxnResponse | None:
    if not request.transactional_id:
        return AddOffsetsToTxnResponse(error_code=ErrorCode.INVALID_REQUEST)
    place = offsets_partition(node, request.group_id)

    def refused(code: ErrorCode) -> None:
        code = spoken(code, context.version, _FENCED_SINCE)
        context.reply(AddOffsetsToTxnResponse(error_code=code))

    ticket = Later(lambda _done: context.reply(AddOffsetsToTxnResponse()), refused)
    producer = Producer(request.producer_id, request.producer_epoch)
    node.transactions.run(
        request.transactional_id,
        ticket,
        lambda shard: shard.add_partitions(request.transactional_id, producer, [place], 0, ticket),
    )
    return None


def offsets_partition(node: Node, group_id: str) -> TopicPartition:
    """Where the group's offsets are, or will be once somebody has asked for its coordinator."""
    topic = node.image.topics.get(OFFSETS_TOPIC)
    count = len(topic.partitions) if topic else node.settings.integer("offsets.topic.num.partitions")
    return TopicPartition(OFFSETS_TOPIC, partition_of(group_id, count))
