"""Produce v3–v13 (KIP-98, KIP-110, KIP-467, KIP-516, KIP-890, KIP-951). v0–v2 are advertised and refused.

acks 0, 1 and all; one record batch per partition; errors and record errors per partition. With acks=all the
reply waits for the high watermark, and with any acks for an fsync where `flush.messages` asks for it. An
error under acks=0 closes the connection, which is the only way such a producer learns of it.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

from barnabas.broker.coordinators.transaction_gate import Admissions
from barnabas.broker.dispatch import Context, Reply
from barnabas.broker.long_looks import LongLooks, looked_into
from barnabas.broker.produce_template import ProduceTemplate, is_plain
from barnabas.broker.producing import TRANSACTIONAL, Pending, conclude, is_one_batch, refusal
from barnabas.broker.replication.partition import Partition
from barnabas.broker.transactional_produce import gate_refusal, through_gate
from barnabas.log.inspection import LongLook
from barnabas.log.verification import Guard
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import INTERNAL_TOPICS, TopicPartition
from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from barnabas.records.batch import HEADER_SIZE
from barnabas.records.check import only_batch
from barnabas.records.errors import CorruptRecordsError

if TYPE_CHECKING:
    from barnabas.broker.node import Node

# As far as every record format agrees: base offset, length, (leader epoch), magic.
_OLDEST_HEAD = struct.Struct(">qiib")
_OLDEST_OVERHEAD_BYTES = 14
_OPEN = Admissions()  # of requests that belong to no transaction


def handle(node: Node, context: Context, request: ProduceRequest) -> Reply:
    if len(request.topic_data) > 1 or (request.topic_data and len(request.topic_data[0].partition_data) != 1):
        request.topic_data = _distinct(request.topic_data)
    try:
        _check_whole(request)
        if request.transactional_id is None:
            return _inside(node, context, request, _OPEN)
        return through_gate(
            node, context, request, lambda admissions: _inside(node, context, request, admissions)
        )
    except ApiError as error:
        topics = [_refused_topic(topic, error) for topic in request.topic_data]
        return conclude(node, context, request.acks, request.timeout_ms, ProduceResponse(topics), [])


def _inside(node: Node, context: Context, request: ProduceRequest, admissions: Admissions) -> Reply:
    return looked_into(
        node, context, request, lambda looks: _produce(node, context, request, admissions, looks)
    )


def _produce(
    node: Node, context: Context, request: ProduceRequest, admissions: Admissions, looks: LongLooks
) -> Reply:
    pending: list[Pending] = []
    topics = [
        _topic(node, context, request, topic, admissions, looks, pending) for topic in request.topic_data
    ]
    if request.acks != 0 and is_plain(context, request, pending):
        partition = pending[0].partition
        if context.session.repeats(partition):
            context.session.template = ProduceTemplate(node, context, request, partition)
    return conclude(node, context, request.acks, request.timeout_ms, ProduceResponse(topics), pending)


def _distinct(topics: Sequence[TopicProduceData]) -> list[TopicProduceData]:
    """Each partition once: of what is named twice the last counts, and a topic without partitions is none."""
    merged: dict[tuple[bytes, str], dict[int, PartitionProduceData]] = {}
    for topic in topics:
        rows = merged.setdefault((topic.topic_id, topic.name), {})
        rows.update((data.index, data) for data in topic.partition_data)
    return [TopicProduceData(*key, list(rows.values())) for key, rows in merged.items() if rows]


def _check_whole(request: ProduceRequest) -> None:
    """What is wrong with one partition's bytes and refuses the whole request: Kafka looks whether any batch
    is transactional before anything else, and cannot tell of bytes that are no batch of any format."""
    for topic in request.topic_data:
        for data in topic.partition_data:
            view = data.records
            if not isinstance(view, memoryview) or len(view) < _OLDEST_HEAD.size:
                continue
            _, length, _, magic = _OLDEST_HEAD.unpack_from(view)
            if length < _OLDEST_OVERHEAD_BYTES:
                raise CorruptRecordsError(
                    f"Record size {length} is less than the minimum record overhead "
                    f"({_OLDEST_OVERHEAD_BYTES})"
                )
            if not 0 <= magic <= 2:
                raise CorruptRecordsError(f"Invalid magic found in record: {magic}")
            is_whole = HEADER_SIZE <= length + 12 <= len(view)
            if magic == 2 and is_whole and view[22] & TRANSACTIONAL and request.transactional_id is None:
                raise ApiError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)


def _refused_topic(topic: TopicProduceData, error: ApiError) -> TopicProduceResponse:
    message = None if error.message == error.code.sentence else error.message
    rows = [
        PartitionProduceResponse(data.index, error.code, base_offset=-1, error_message=message)
        for data in topic.partition_data
    ]
    return TopicProduceResponse(topic.topic_id, topic.name, rows)


def _topic(
    node: Node,
    context: Context,
    request: ProduceRequest,
    topic: TopicProduceData,
    admissions: Admissions,
    looks: LongLooks,
    pending: list[Pending],
) -> TopicProduceResponse:
    by_id = context.version >= 13
    name = node.image.topic_names.get(topic.topic_id, "") if by_id else topic.name
    answers = []
    for data in topic.partition_data:
        log = None
        try:
            if by_id and not name:
                raise ApiError(ErrorCode.UNKNOWN_TOPIC_ID)
            partition = node.replicas.get(name, data.index)
            if partition.topic in INTERNAL_TOPICS:
                raise ApiError(
                    ErrorCode.INVALID_TOPIC_EXCEPTION, f"Cannot append to internal topic {partition.topic}"
                )
            guard = None
            if admissions is not _OPEN:
                place = TopicPartition(name, data.index)
                if place in admissions.refused:
                    answers.append(gate_refusal(data.index, admissions.refused[place], context.version))
                    continue
                guard = admissions.guards.get(place)
            records = one_batch(context.version, data.records)
            log = partition.log
            look = looks.get(TopicPartition(name, data.index)) if looks else None
            answers.append(_append(node, partition, request.acks, records, guard, look, pending))
        except ApiError as error:
            answers.append(refusal(data.index, error, log))
    return TopicProduceResponse(topic.topic_id, topic.name, answers)


def _append(
    node: Node,
    partition: Partition,
    acks: int,
    records: memoryview,
    guard: Guard | None,
    look: LongLook | None,
    pending: list[Pending],
) -> PartitionProduceResponse:
    appended = partition.append(records, acks, node.wall_ms, guard=guard, look=look)
    answer = PartitionProduceResponse(
        partition.index, 0, appended.first_offset, appended.log_append_time_ms, appended.log_start_offset
    )
    pending.append(Pending(partition, appended.last_offset, answer))
    return answer


def one_batch(version: int, records: Buffer | FileSlice | None) -> memoryview:
    """What the protocol promises since v3: one record batch of format 2 per partition, and nothing else."""
    view = records if isinstance(records, memoryview) else memoryview(b"")
    if is_one_batch(view, version):
        return view
    position, header = only_batch(view, 0, len(view), version)
    return view[position : position + header.size]
