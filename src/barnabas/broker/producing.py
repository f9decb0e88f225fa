"""How a Produce request is answered, whichever way it came in: at once, when it is committed, or refused."""

from __future__ import annotations

import logging
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context, Reply
from barnabas.broker.replication.leader_hints import leader_nodes
from barnabas.broker.replication.partition import Partition
from barnabas.broker.session import PeerFaultError
from barnabas.log.log import Log
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
)
from barnabas.protocol.schema import Message
from barnabas.records.batch import HEADER_SIZE
from barnabas.records.check import only_batch
from barnabas.records.compress import Codec
from barnabas.records.errors import RejectedRecordsError

if TYPE_CHECKING:
    from barnabas.broker.node import Node

log = logging.getLogger("kafka.server.ReplicaManager")

TRANSACTIONAL = 0x10
_LEADERS_SINCE = 10
_BATCH_HEAD = struct.Struct(">qiibIh")
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


class Pending:
    """A partition whose answer must wait for `last_offset` to be committed."""

    __slots__ = ("answer", "last_offset", "partition", "reign")

    def __init__(self, partition: Partition, last_offset: int, answer: PartitionProduceResponse) -> None:
        self.partition = partition
        self.last_offset = last_offset
        self.answer = answer
        self.reign = partition.reign

    def fate(self, acks: int) -> ErrorCode | None:
        return self.partition.fate(self.last_offset, acks, self.reign)


def _is_one_batch(view: memoryview, version: int) -> bool:
    if len(view) < HEADER_SIZE:
        return False
    _, length, _, magic, _, attributes = _BATCH_HEAD.unpack_from(view)
    return length + 12 == len(view) and magic == 2 and (version >= 7 or attributes & 7 != Codec.ZSTD)


def one_batch(version: int, records: Buffer | FileSlice | None) -> memoryview:
    """What the protocol promises since v3: one record batch of format 2 per partition, and nothing else."""
    view = records if isinstance(records, memoryview) else memoryview(b"")
    if _is_one_batch(view, version):
        return view
    position, header = only_batch(view, 0, len(view), version)
    return view[position : position + header.size]


def refusal(index: int, error: ApiError, log: Log | None) -> PartitionProduceResponse:
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


def conclude(
    node: Node,
    context: Context,
    acks: int,
    timeout_ms: int,
    response: ProduceResponse,
    pending: list[Pending],
) -> Reply:
    """Answer now, or when the last of the partitions is committed."""
    if acks == 0:
        _close_on_error(context, response)
        return []
    waiting = [item for item in pending if not item.partition.is_committed(item.last_offset, acks)]
    if waiting:
        _park(node, context, acks, timeout_ms, response, waiting)
        return None
    return with_leaders(node, context, response)


def with_leaders(node: Node, context: Context, response: ProduceResponse) -> ProduceResponse:
    """Whoever asks for a partition that another broker leads is told which."""
    if context.version < _LEADERS_SINCE:
        return response
    leaders = set()
    for topic in response.responses:
        for answer in topic.partition_responses:
            if answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER:
                name = topic.name or node.image.topic_names.get(topic.topic_id, "")
                image = node.image.partition(name, answer.index)
                if image is not None:
                    answer.current_leader = LeaderIdAndEpoch(image.leader, image.leader_epoch)
                    leaders.add(image.leader)
    if leaders:
        nodes = leader_nodes(node, context.session.listener, leaders)
        response.node_endpoints = [NodeEndpoint(*each) for each in nodes]
    return response


def _close_on_error(context: Context, response: ProduceResponse) -> None:
    for topic in response.responses:
        for answer in topic.partition_responses:
            if answer.error_code:
                raise PeerFaultError(
                    f"acks=0 produce of client {context.client_id} to {topic.name}-{answer.index} failed "
                    f"with {answer.error_code}"
                )


def _park(
    node: Node,
    context: Context,
    acks: int,
    timeout_ms: int,
    response: ProduceResponse,
    waiting: list[Pending],
) -> None:
    undecided = waiting

    def satisfied(_moved: Partition) -> bool:
        """What is decided is decided: later the partition may have another leader, or another log."""
        nonlocal undecided
        undecided = [item for item in undecided if not decided(item)]
        return not undecided

    def decided(item: Pending) -> bool:
        code = item.fate(acks)
        if code is not None and code is not ErrorCode.NONE:
            _fail(item, code)
        return code is not None

    def finish() -> None:
        for item in undecided:
            _fail(item, ErrorCode.REQUEST_TIMED_OUT)
        context.reply(with_leaders(node, context, response))

    partitions = [item.partition for item in waiting]
    node.purgatory.park(context.session, partitions, node.now_ms + max(timeout_ms, 0), satisfied, finish)


def _fail(item: Pending, code: ErrorCode) -> None:
    item.answer.error_code = code
    item.answer.base_offset = -1


# --- later -------------------------------------------------------------------------------------------------


def keep_records(request: ProduceRequest) -> None:
    """The connection's buffer is used again before the answer comes."""
    for topic in request.topic_data:
        for data in topic.partition_data:
            if isinstance(data.records, memoryview):
                data.records = memoryview(bytearray(data.records))


def deliver(context: Context, produce: Callable[[], Reply]) -> None:
    """The answer of a request that had to wait before it was carried out."""
    try:
        reply = produce()
    except PeerFaultError as fault:
        # Only acks=0 gets here, and nobody who waits asks for that: let the next request go on.
        log.warning("%s", fault)
        reply = []
    if isinstance(reply, Message):
        context.reply(reply)
    elif reply is not None:
        context.session.send(reply)
