"""Produce v3–v13 (KIP-98, KIP-110, KIP-467, KIP-516, KIP-951). v0–v2 are advertised and refused.

acks 0, 1 and all; one record batch per partition; errors and record errors per partition. With acks=all the
reply waits for the high watermark, and with any acks for an fsync where `flush.messages` asks for it. An
error under acks=0 closes the connection, which is the only way such a producer learns of it.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context, Reply
from barnabas.broker.partition import Partition
from barnabas.broker.session import NotThisTimeError, Part, PeerFaultError, Session
from barnabas.log.log import Log
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import INTERNAL_TOPICS
from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.codec import RequestHeader, write_client_id
from barnabas.protocol.messages.produce import (
    BatchIndexAndErrorMessage,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from barnabas.protocol.varint import read_unsigned, unsigned
from barnabas.records.batch import HEADER_SIZE
from barnabas.records.check import only_batch
from barnabas.records.compress import Codec
from barnabas.records.errors import CorruptRecordsError, RejectedRecordsError

if TYPE_CHECKING:
    from barnabas.broker.node import Node

# Behind the batch of a plain request: no tags of the partition, the topic and the request.
_REQUEST_END = b"\0\0\0"
# Behind the offsets of a plain reply: no record errors, no message, three times no tags, no throttle.
_REPLY_END = b"\x01\0" + b"\0\0" + b"\0\0\0\0" + b"\0"
_CORRELATION = struct.Struct(">i")
_BATCH_HEAD = struct.Struct(">qiibIh")
# As far as every record format agrees: base offset, length, (leader epoch), magic.
_OLDEST_HEAD = struct.Struct(">qiib")
_OLDEST_OVERHEAD_BYTES = 14
_TRANSACTIONAL = 0x10
# What Kafka refuses without looking at the log, so that it cannot say where the log starts.
_LOG_UNSEEN = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.MESSAGE_TOO_LARGE,
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.INVALID_REQUIRED_ACKS,
    }
)


class _Pending:
    """A partition whose answer must wait for `last_offset` to be committed."""

    __slots__ = ("answer", "last_offset", "partition")

    def __init__(self, partition: Partition, last_offset: int, answer: PartitionProduceResponse) -> None:
        self.partition = partition
        self.last_offset = last_offset
        self.answer = answer


def handle(node: Node, context: Context, request: ProduceRequest) -> Reply:
    pending: list[_Pending] = []
    named = request.topic_data
    if len(named) > 1 or (named and len(named[0].partition_data) != 1):
        named = _distinct(named)
    try:
        _check_whole(request)
        topics = [_topic(node, context, request, topic, pending) for topic in named]
    except ApiError as error:
        topics = [_refused_topic(topic, error) for topic in named]
    response = ProduceResponse(topics)
    if request.acks != 0 and _is_plain(context, request, pending):
        context.session.template = ProduceTemplate(node, context, request, pending[0].partition)
    return _conclude(node, context, request.acks, request.timeout_ms, response, pending)


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
            if magic == 2 and is_whole and view[22] & _TRANSACTIONAL and request.transactional_id is None:
                raise ApiError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)


def _refused_topic(topic: TopicProduceData, error: ApiError) -> TopicProduceResponse:
    message = None if error.message == error.code.sentence else error.message
    rows = [
        PartitionProduceResponse(data.index, error.code, base_offset=-1, error_message=message)
        for data in topic.partition_data
    ]
    return TopicProduceResponse(topic.topic_id, topic.name, rows)


def _topic(
    node: Node, context: Context, request: ProduceRequest, topic: TopicProduceData, pending: list[_Pending]
) -> TopicProduceResponse:
    by_id = context.version >= 13
    name = node.image.topic_names.get(topic.topic_id, "") if by_id else topic.name
    answers = []
    for data in topic.partition_data:
        log = None
        try:
            partition = node.replicas.find(name, data.index)
            if partition is None:
                unknown = ErrorCode.UNKNOWN_TOPIC_ID if by_id and not name else None
                raise ApiError(unknown or ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            if partition.topic in INTERNAL_TOPICS:
                raise ApiError(
                    ErrorCode.INVALID_TOPIC_EXCEPTION, f"Cannot append to internal topic {partition.topic}"
                )
            records = _one_batch(context.version, data.records)
            log = partition.log
            answers.append(_append(node, partition, request.acks, records, pending))
        except ApiError as error:
            answers.append(_refusal(data.index, error, log))
    return TopicProduceResponse(topic.topic_id, topic.name, answers)


def _append(
    node: Node, partition: Partition, acks: int, records: memoryview, pending: list[_Pending]
) -> PartitionProduceResponse:
    appended = partition.append(records, acks, node.wall_ms)
    answer = PartitionProduceResponse(
        partition.index, 0, appended.first_offset, appended.log_append_time_ms, appended.log_start_offset
    )
    pending.append(_Pending(partition, appended.last_offset, answer))
    return answer


def _conclude(
    node: Node,
    context: Context,
    acks: int,
    timeout_ms: int,
    response: ProduceResponse,
    pending: list[_Pending],
) -> Reply:
    """Answer now, or when the last of the partitions is committed."""
    if acks == 0:
        _close_on_error(context, response)
        return []
    waiting = [item for item in pending if not _is_committed(item, acks)]
    if waiting:
        _park(node, context, acks, timeout_ms, response, waiting)
        return None
    return response


def _is_one_batch(view: memoryview, version: int) -> bool:
    if len(view) < HEADER_SIZE:
        return False
    _, length, _, magic, _, attributes = _BATCH_HEAD.unpack_from(view)
    return length + 12 == len(view) and magic == 2 and (version >= 7 or attributes & 7 != Codec.ZSTD)


def _one_batch(version: int, records: Buffer | FileSlice | None) -> memoryview:
    """What the protocol promises since v3: one record batch of format 2 per partition, and nothing else."""
    view = records if isinstance(records, memoryview) else memoryview(b"")
    if _is_one_batch(view, version):
        return view
    position, header = only_batch(view, 0, len(view), version)
    return view[position : position + header.size]


def _refusal(index: int, error: ApiError, log: Log | None) -> PartitionProduceResponse:
    """Kafka explains in words only what it also explains record by record."""
    details = error.record_errors if isinstance(error, RejectedRecordsError) else ()
    return PartitionProduceResponse(
        index,
        error.code,
        base_offset=-1,
        log_start_offset=-1 if log is None or error.code in _LOG_UNSEEN else log.log_start_offset,
        record_errors=[BatchIndexAndErrorMessage(item.batch_index, item.message) for item in details],
        error_message=error.message if details else None,
    )


def _close_on_error(context: Context, response: ProduceResponse) -> None:
    for topic in response.responses:
        for answer in topic.partition_responses:
            if answer.error_code:
                raise PeerFaultError(
                    f"acks=0 produce of client {context.client_id} to {topic.name}-{answer.index} failed "
                    f"with {answer.error_code}"
                )


# --- waiting -----------------------------------------------------------------------------------------------


def _is_committed(item: _Pending, acks: int) -> bool:
    return item.partition.is_committed(item.last_offset, acks)


def _park(
    node: Node,
    context: Context,
    acks: int,
    timeout_ms: int,
    response: ProduceResponse,
    waiting: list[_Pending],
) -> None:
    def satisfied(_moved: Partition) -> bool:
        return all(item.partition.log is None or _is_committed(item, acks) for item in waiting)

    def finish() -> None:
        for item in waiting:
            if item.partition.log is None:
                _fail(item, ErrorCode.KAFKA_STORAGE_ERROR)
            elif not _is_committed(item, acks):
                _fail(item, ErrorCode.REQUEST_TIMED_OUT)
        context.reply(response)

    partitions = [item.partition for item in waiting]
    node.purgatory.park(context.session, partitions, node.now_ms + max(timeout_ms, 0), satisfied, finish)


def _fail(item: _Pending, code: ErrorCode) -> None:
    item.answer.error_code = code
    item.answer.base_offset = -1


# --- the template ------------------------------------------------------------------------------------------


def _is_plain(context: Context, request: ProduceRequest, pending: list[_Pending]) -> bool:
    """A producer that sent one batch to one partition will most likely send the next one there too."""
    topics = request.topic_data
    return (
        context.version >= 9
        and len(pending) == 1
        and len(topics) == 1
        and len(topics[0].partition_data) == 1
        and request.transactional_id is None
    )


class ProduceTemplate:
    """The bytes that stay the same from one request to the next, on both sides of the record batch.

    A request that starts with them needs no parsing: find the batch, append, pack one reply. Errors and waits
    go on with the general functions above, so both ways answer the same bytes.
    """

    __slots__ = (
        "_acks", "_constant", "_head", "_header", "_length", "_middle", "_node", "_partition", "_reply",
        "_start", "_timeout_ms", "_topic",
    )  # fmt: skip

    def __init__(self, node: Node, context: Context, request: ProduceRequest, partition: Partition) -> None:
        self._node = node
        self._partition = partition
        self._acks = request.acks
        self._timeout_ms = request.timeout_ms
        self._header = RequestHeader(0, context.version, 0, context.client_id)
        self._topic = topic = request.topic_data[0]
        key = topic.topic_id if context.version >= 13 else _compact(topic.name)
        self._head = struct.pack(">hh", 0, context.version)
        self._middle = b"".join(
            (
                write_client_id(context.client_id) + b"\0",  # and no tags in the header
                b"\0" + struct.pack(">hi", request.acks, request.timeout_ms),  # no transactional id
                b"\x02" + key + b"\x02" + struct.pack(">i", partition.index),
            )
        )
        self._start = 8 + len(self._middle)
        self._constant = b"\0\x02" + key + b"\x02" + struct.pack(">ih", partition.index, 0)
        self._reply = struct.Struct(f">ii{len(self._constant)}sqqq{len(_REPLY_END)}s")
        self._length = self._reply.size - 4

    def handle(self, session: Session, frame: memoryview) -> list[Part] | None:
        """The reply as the dispatcher gives it; raises `NotThisTimeError` when the frame is another one."""
        start = self._start
        if frame[8:start] != self._middle or frame[:4] != self._head:
            raise NotThisTimeError
        partition = self._partition
        try:
            size, start = read_unsigned(frame, start)
        except (IndexError, ValueError):
            raise NotThisTimeError from None
        end = start + size - 1
        if partition.log is None or size < 2 or frame[end:] != _REQUEST_END:
            raise NotThisTimeError
        records = frame[start:end]
        if not _is_one_batch(records, self._header.version) or records[22] & _TRANSACTIONAL:
            raise NotThisTimeError
        log = partition.log
        try:
            appended = partition.append(records, self._acks, self._node.wall_ms)
        except ApiError as error:
            return self._general(session, frame, _refusal(partition.index, error, log), [])
        if partition.is_committed(appended.last_offset, self._acks):
            return [
                self._reply.pack(
                    self._length,
                    _CORRELATION.unpack_from(frame, 4)[0],
                    self._constant,
                    appended.first_offset,
                    appended.log_append_time_ms,
                    appended.log_start_offset,
                    _REPLY_END,
                )
            ]
        answer = PartitionProduceResponse(
            partition.index, 0, appended.first_offset, appended.log_append_time_ms, appended.log_start_offset
        )
        return self._general(session, frame, answer, [_Pending(partition, appended.last_offset, answer)])

    def _general(
        self,
        session: Session,
        frame: memoryview,
        answer: PartitionProduceResponse,
        pending: list[_Pending],
    ) -> list[Part] | None:
        (correlation_id,) = _CORRELATION.unpack_from(frame, 4)
        context = Context(session, self._header._replace(correlation_id=correlation_id))
        topic = TopicProduceResponse(self._topic.topic_id, self._topic.name, [answer])
        response = ProduceResponse([topic])
        reply = _conclude(self._node, context, self._acks, self._timeout_ms, response, pending)
        return [context.frame(reply)] if isinstance(reply, ProduceResponse) else None


def _compact(text: str) -> bytes:
    return unsigned(len(text.encode()) + 1) + text.encode()
