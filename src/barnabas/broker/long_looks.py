"""Batches that must be opened before they are appended: a worker does it, and nobody else waits.

Compacted topics, another `compression.type`, limits on timestamps: a megabyte takes many milliseconds of
decompression and compression, and a small batch may unfold to a hundred megabytes. The connection waits, as
it does for replicas, so its requests stay in order; whoever else writes to the partition goes on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from barnabas.broker.dispatch import Context, Reply
from barnabas.broker.producing import deliver, keep_records
from barnabas.log.inspection import LongLook
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import INTERNAL_TOPICS, TopicPartition
from barnabas.protocol.messages.produce import PartitionProduceData, ProduceRequest

if TYPE_CHECKING:
    from barnabas.broker.node import Node

log = logging.getLogger("kafka.server.ReplicaManager")

LongLooks: TypeAlias = dict[TopicPartition, LongLook]

_NOTHING: LongLooks = {}


def looked_into(
    node: Node, context: Context, request: ProduceRequest, produce: Callable[[LongLooks], Reply]
) -> Reply:
    """`produce`, now or when a worker has looked into what takes long."""
    # An error under acks=0 closes the connection, which only the request itself can do.
    wanted = _wanted(node, context, request) if request.acks != 0 else []
    if not wanted:
        return produce(_NOTHING)
    keep_records(request)
    looks = {place: _look(node, place, data) for place, data in wanted}
    replies: list[Reply] = []
    is_late = False

    def done(_nothing: object, error: BaseException | None) -> None:
        if error is not None:
            log.error("Looking into records failed", exc_info=error)
            for look in looks.values():
                look.fail(ApiError(ErrorCode.UNKNOWN_SERVER_ERROR))
        if is_late:
            deliver(context, lambda: produce(looks))
        else:
            replies.append(produce(looks))

    def work() -> None:
        for look in looks.values():
            look.run()

    node.workers.submit(work, done)
    is_late = True
    return replies[0] if replies else None


def _wanted(
    node: Node, context: Context, request: ProduceRequest
) -> list[tuple[TopicPartition, PartitionProduceData]]:
    found = []
    for topic in request.topic_data:
        name = node.image.topic_names.get(topic.topic_id, "") if context.version >= 13 else topic.name
        for data in topic.partition_data:
            partition = node.replicas.find(name, data.index)
            if partition is None or partition.log is None or not partition.is_leader:
                continue  # it is refused soon
            if not isinstance(data.records, memoryview) or name in INTERNAL_TOPICS:
                continue
            if partition.log.wants_long_look(data.records, node.wall_ms):
                found.append((TopicPartition(name, data.index), data))
    return found


def _look(node: Node, place: TopicPartition, data: PartitionProduceData) -> LongLook:
    partition = node.replicas.find(*place)
    assert partition is not None
    assert partition.log is not None
    assert isinstance(data.records, memoryview)
    return LongLook(data.records, partition.log.config, place, node.wall_ms)
