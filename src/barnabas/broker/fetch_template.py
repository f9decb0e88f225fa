"""The short way through Fetch, for a consumer that reads one partition without a session, again and again."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from barnabas.broker.dispatch import Context, Reply
from barnabas.broker.fetch_sessions import FINAL_EPOCH, NO_SESSION
from barnabas.broker.replication.partition import NO_EPOCH, Partition
from barnabas.broker.session import Foreseen, NotThisTimeError, Part, Session
from barnabas.hot import fetch_offset, offset_behind
from barnabas.log.log import Log
from barnabas.model.errors import ApiError
from barnabas.ports import FileSlice
from barnabas.protocol import codec
from barnabas.protocol.codec import RequestHeader
from barnabas.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from barnabas.protocol.schema import Message
from barnabas.protocol.varint import unsigned

if TYPE_CHECKING:
    from barnabas.broker.node import Node

# The general way, for what is not plain: errors, waits, aborted transactions.
Serve: TypeAlias = "Callable[[Node, Context, FetchRequest], Reply]"

_READ_COMMITTED = 1
_LOG_START_SINCE = 7  # and sessions, and an error for the whole: the reply keeps its shape from there on
_INT32 = struct.Struct(">i")
_INT64 = struct.Struct(">q")


def is_plain(context: Context, request: FetchRequest) -> bool:
    """One partition, whole, for a consumer that says nothing of replicas, racks and epochs it has read."""
    topics = request.topics
    return (
        context.version >= _LOG_START_SINCE
        and len(topics) == 1
        and len(topics[0].partitions) == 1
        and topics[0].partitions[0].last_fetched_epoch < 0
        and request.session_id == NO_SESSION
        and request.session_epoch == FINAL_EPOCH
        and request.replica_id < 0
        and request.replica_state is None
        and not request.rack_id
    )


class FetchTemplate:
    """The bytes around the fetch offset, which stay the same from one request to the next, and those around
    the three offsets of the reply.

    Both are made with the ordinary codecs, once with zeros and once with ones in the places that vary, so
    that this file knows no version's layout. Whoever writes the same request in other bytes is not
    recognised, and served the general way.
    """

    __slots__ = (
        "_after", "_before", "_committed", "_epoch", "_fixed_bytes", "_head", "_header", "_is_flexible",
        "_limit", "_node", "_partition", "_reply", "_reply_after", "_reply_before", "_request", "_serve",
        "_tail",
    )  # fmt: skip

    def __init__(
        self, node: Node, context: Context, request: FetchRequest, partition: Partition, serve: Serve
    ) -> None:
        self._node = node
        self._partition = partition
        self._serve = serve
        self._request = request
        asked = request.topics[0].partitions[0]
        self._limit = max(min(request.max_bytes, asked.partition_max_bytes), 0)
        self._epoch = max(asked.current_leader_epoch, NO_EPOCH)
        self._committed = request.isolation_level == _READ_COMMITTED
        self._header = RequestHeader(1, context.version, 0, context.client_id)
        zeros = codec.write_request(self._header, self._at_offset(0))
        ones = codec.write_request(self._header, self._at_offset(-1))
        at = _first_difference(zeros, ones)
        self._head, self._before, self._after = zeros[:4], zeros[8:at], zeros[at + 8 :]
        self._shape_reply()

    def _shape_reply(self) -> None:
        version = self._header.version
        self._is_flexible = codec.is_flexible(1, version)
        zeros, tail = self._encoded_reply(0)
        ones, _ = self._encoded_reply(-1)
        self._tail: list[Part] = [tail] if tail else []
        at = _first_difference(zeros, ones)
        self._reply_before = codec.response_head(1, version, 0)[4:] + zeros[:at]
        # Up to the length of the records: one byte that says "none" in flexible versions, four else.
        self._reply_after = zeros[at + 24 : -1 if self._is_flexible else -4]
        before, after = len(self._reply_before), len(self._reply_after)
        self._reply = struct.Struct(f">ii{before}sqqq{after}s")
        self._fixed_bytes = self._reply.size - 4 + len(tail)

    def _encoded_reply(self, offset: int) -> tuple[bytes, bytes]:
        """What comes before and behind the records."""
        log = self._partition.log
        assert log is not None
        data = PartitionData(
            self._partition.index, 0, offset, offset, offset,
            aborted_transactions=[] if self._committed else None, records=FileSlice(log.active.file, 0, 0),
        )  # fmt: skip
        topic = self._request.topics[0]
        response = FetchResponse(responses=[FetchableTopicResponse(topic.topic_id, topic.topic, [data])])
        before, _, *behind = codec.encode_parts(response, self._header.version)
        assert isinstance(before, bytes)
        return before, b"".join(part for part in behind if isinstance(part, bytes))

    def handle(self, session: Session, frame: memoryview) -> list[Part] | None:
        """The reply as the dispatcher gives it; raises `NotThisTimeError` when the frame is another one."""
        offset = fetch_offset(frame, self._head, self._before, self._after)
        if offset is None:
            raise NotThisTimeError
        (correlation_id,) = _INT32.unpack_from(frame, 4)
        log = self._partition.log
        if log is None:
            raise NotThisTimeError  # deleted, perhaps to be created again; or its disk failed
        parts = self._read(log, offset, correlation_id)
        if parts is not None:
            return parts
        context = Context(session, self._header._replace(correlation_id=correlation_id))
        reply = self._serve(self._node, context, self._at_offset(offset))
        return [context.frame(reply)] if isinstance(reply, Message) else reply

    def foresee(self, records: memoryview, /) -> Foreseen | None:
        """Whoever reads on asks for the offset behind the last whole batch, in the same words."""
        log, offset = self._partition.log, offset_behind(records)
        if log is None or offset is None:
            return None
        parts = self._read(log, offset, 0)
        if parts is None:
            return None
        after = self._before + _INT64.pack(offset) + self._after
        return Foreseen(_INT32.pack(len(self._head) + 4 + len(after)) + self._head, after, parts)

    def _read(self, log: Log, offset: int, correlation_id: int) -> list[Part] | None:
        """The plain answer; None where it is not plain."""
        partition, epoch = self._partition, self._epoch
        image = partition.image
        if image.leader != partition.broker_id or epoch not in (NO_EPOCH, image.leader_epoch):
            return None
        stable, committed = log.last_stable_offset, self._committed
        upper = stable if committed else log.high_watermark
        try:
            found = log.read(offset, min(self._limit, self._node.fetch_max_bytes), upper_offset=upper)
            if committed and log.aborted_transactions(found, upper):
                return None
        except (ApiError, OSError):
            return None
        records = found.slice
        if records is None or records.size < self._request.min_bytes:
            return None
        size = records.size
        length = unsigned(size + 1) if self._is_flexible else _INT32.pack(size)
        head = self._reply.pack(
            self._fixed_bytes + len(length) + size, correlation_id, self._reply_before,
            log.high_watermark, stable, log.log_start_offset, self._reply_after,
        )  # fmt: skip
        return [head + length, records, *self._tail]

    def _at_offset(self, offset: int) -> FetchRequest:
        request, topic = self._request, self._request.topics[0]
        asked = topic.partitions[0]
        partition = FetchPartition(
            asked.partition, asked.current_leader_epoch, offset, asked.last_fetched_epoch,
            asked.log_start_offset, asked.partition_max_bytes, asked.replica_directory_id,
            asked.high_watermark,
        )  # fmt: skip
        return FetchRequest(
            max_wait_ms=request.max_wait_ms,
            min_bytes=request.min_bytes,
            max_bytes=request.max_bytes,
            isolation_level=request.isolation_level,
            session_id=NO_SESSION,
            session_epoch=FINAL_EPOCH,
            topics=[FetchTopic(topic.topic_id, topic.topic, [partition])],
        )


def _first_difference(one: bytes, other: bytes) -> int:
    return next(at for at, (left, right) in enumerate(zip(one, other, strict=True)) if left != right)
