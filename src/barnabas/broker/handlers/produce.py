"""Produce v3–v13 (KIP-98, KIP-110, KIP-467, KIP-516, KIP-890, KIP-951). v0–v2 are advertised and refused.

acks 0, 1 and all; one record batch per partition; errors and record errors per partition. With acks=all the
reply waits for the high watermark, and with any acks for an fsync where `flush.messages` asks for it. An
error under acks=0 closes the connection, which is the only way such a producer learns of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from barnabas.broker.coordinators.transaction_gate import Admissions
from barnabas.broker.dispatch import Context, Reply
from barnabas.broker.long_looks import LongLooks, looked_into
from barnabas.broker.produce_template import ProduceTemplate, is_plain
from barnabas.broker.producing import TRANSACTIONAL, Pending, conclude, one_batch, refusal
from barnabas.broker.replication.partition import Partition
from barnabas.broker.transactional_produce import gate_refusal, through_gate
from barnabas.log.inspection import LongLook
from barnabas.log.verification import Guard
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import INTERNAL_TOPICS, TopicPartition
from barnabas.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from barnabas.records.batch import (
    ATTRIBUTES_AT,
    HEADER_SIZE,
    INT32,
    LENGTH_AT,
    LOG_OVERHEAD,
    MAGIC,
    MAGIC_AT,
)
from barnabas.records.errors import CorruptRecordsError

if TYPE_CHECKING:
    from barnabas.broker.node import Node

_OLDEST_OVERHEAD_BYTES = 14  # of a message of magic 0
_VALID_ACKS = frozenset({-1, 0, 1})
_OPEN = Admissions()  # of requests that belong to no transaction


def handle(node: Node, context: Context, request: ProduceRequest) -> Reply:
    asked = request.topic_data
    if len(asked) > 1 or (asked and len(asked[0].partition_data) != 1):
        request.topic_data = _distinct(asked)
    try:
        _check_whole(asked, request.transactional_id)
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


def _check_whole(topics: Sequence[TopicProduceData], transactional_id: str | None) -> None:
    """What is wrong with one partition's bytes and refuses the whole request: Kafka looks for a transactional
    batch before anything else, and cannot tell of bytes that are no batch of any format. What stands behind
    the first one that it finds, it has not looked at."""
    for topic in topics:
        for data in topic.partition_data:
            if isinstance(data.records, memoryview) and _is_transactional(data.records):
                if transactional_id is None:
                    raise ApiError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
                return


def _is_transactional(view: memoryview) -> bool:
    if len(view) < LOG_OVERHEAD:
        return False
    (length,) = INT32.unpack_from(view, LENGTH_AT)
    if length < _OLDEST_OVERHEAD_BYTES:
        raise CorruptRecordsError(
            f"Record size {length} is less than the minimum record overhead ({_OLDEST_OVERHEAD_BYTES})"
        )
    if len(view) <= MAGIC_AT:
        return False
    magic = view[MAGIC_AT]
    if magic > MAGIC:
        shown = magic - 256 if magic > 127 else magic  # a signed byte
        raise CorruptRecordsError(f"Invalid magic found in record: {shown}")
    is_whole = HEADER_SIZE <= length + LOG_OVERHEAD <= len(view)
    return magic == MAGIC and is_whole and bool(view[ATTRIBUTES_AT + 1] & TRANSACTIONAL)


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
            records = one_batch(context.version, data.records)
            guard = None
            if admissions is not _OPEN:
                place = TopicPartition(name, data.index)
                if place in admissions.refused:
                    answers.append(gate_refusal(data.index, admissions.refused[place], context.version))
                    continue
                guard = admissions.guards.get(place)
            if partition.topic in INTERNAL_TOPICS:
                raise _no_place_for_clients(partition.topic, request.acks)
            log = partition.log
            look = looks.get(TopicPartition(name, data.index)) if looks else None
            answers.append(_append(node, partition, request.acks, records, guard, look, pending))
        except ApiError as error:
            answers.append(refusal(data.index, error, log))
    return TopicProduceResponse(topic.topic_id, topic.name, answers)


def _no_place_for_clients(topic: str, acks: int) -> ApiError:
    if acks not in _VALID_ACKS:
        return ApiError(ErrorCode.INVALID_REQUIRED_ACKS)
    return ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Cannot append to internal topic {topic}")


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
