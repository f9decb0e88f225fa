"""The short way through Produce, for a producer that sends one batch to one partition, again and again."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.broker.producing import Pending, conclude, refusal, with_leaders
from barnabas.broker.replication.partition import Partition
from barnabas.broker.session import Foreseen, NotThisTimeError, Part, Session
from barnabas.hot import plain_batch
from barnabas.log.results import Appended
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.protocol.codec import RequestHeader, write_client_id
from barnabas.protocol.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from barnabas.protocol.varint import unsigned

if TYPE_CHECKING:
    from barnabas.broker.node import Node

# Behind the offsets of a plain reply: no record errors, no message, three times no tags, no throttle.
_REPLY_END = b"\x01\0" + b"\0\0" + b"\0\0\0\0" + b"\0"
_CORRELATION = struct.Struct(">i")


def is_plain(context: Context, request: ProduceRequest, pending: list[Pending]) -> bool:
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

    A request that starts with them needs no parsing: find the batch, append, pack one reply. Errors go
    on with the functions of `producing.py`, so both ways answer the same bytes.
    """

    __slots__ = (
        "_acks", "_constant", "_head", "_header", "_length", "_middle", "_node", "_partition", "_reply",
        "_timeout_ms", "_topic_id", "_topic_name",
    )  # fmt: skip

    def __init__(self, node: Node, context: Context, request: ProduceRequest, partition: Partition) -> None:
        self._node = node
        self._partition = partition
        self._acks = request.acks
        self._timeout_ms = request.timeout_ms
        self._header = RequestHeader(0, context.version, 0, context.client_id)
        topic = request.topic_data[0]
        # Not the request itself: its records are a view that would keep the connection's buffer alive.
        self._topic_id, self._topic_name = topic.topic_id, topic.name
        key = topic.topic_id if context.version >= 13 else _compact(topic.name)
        self._head = struct.pack(">hh", 0, context.version)
        self._middle = b"".join(
            (
                write_client_id(context.client_id) + b"\0",  # and no tags in the header
                b"\0" + struct.pack(">hi", request.acks, request.timeout_ms),  # no transactional id
                b"\x02" + key + b"\x02" + struct.pack(">i", partition.index),
            )
        )
        self._constant = b"\0\x02" + key + b"\x02" + struct.pack(">ih", partition.index, 0)
        self._reply = struct.Struct(f">ii{len(self._constant)}sqqq{len(_REPLY_END)}s")
        self._length = self._reply.size - 4

    def handle(self, session: Session, frame: memoryview) -> list[Part] | None:
        """The reply as the dispatcher gives it; raises `NotThisTimeError` when the frame is another one."""
        batch = plain_batch(frame, self._head, self._middle)
        partition = self._partition
        log = partition.log
        if batch is None or log is None:
            raise NotThisTimeError
        try:
            appended = partition.append_plain(frame, batch, self._acks, self._node.wall_ms)
        except ApiError as error:
            (correlation_id,) = _CORRELATION.unpack_from(frame, 4)
            return self._refused(session, correlation_id, refusal(partition.index, error, log))
        if appended is None:
            raise NotThisTimeError
        (correlation_id,) = _CORRELATION.unpack_from(frame, 4)
        if partition.is_committed(appended.last_offset, self._acks):
            return [self._pack(correlation_id, appended)]
        waiting = _Waiting(self, session, correlation_id, appended, partition.reign, self._acks)
        deadline_ms = self._node.now_ms + max(self._timeout_ms, 0)
        self._node.purgatory.park(session, (partition,), deadline_ms, waiting.is_decided, waiting.finish)
        return None

    def _pack(self, correlation_id: int, appended: Appended) -> bytes:
        return self._reply.pack(
            self._length,
            correlation_id,
            self._constant,
            appended.first_offset,
            appended.log_append_time_ms,
            appended.log_start_offset,
            _REPLY_END,
        )

    def after_waiting(
        self, session: Session, correlation_id: int, appended: Appended, code: ErrorCode
    ) -> list[Part]:
        if code is ErrorCode.NONE:
            return [self._pack(correlation_id, appended)]
        answer = PartitionProduceResponse(
            self._partition.index, code, -1, appended.log_append_time_ms, appended.log_start_offset
        )
        context = Context(session, self._header._replace(correlation_id=correlation_id))
        return [context.frame(with_leaders(self._node, context, self._response(answer)))]

    def foresee(self, _records: memoryview, /) -> Foreseen | None:
        return None  # nobody knows what a producer will send

    def _refused(
        self, session: Session, correlation_id: int, answer: PartitionProduceResponse
    ) -> list[Part] | None:
        context = Context(session, self._header._replace(correlation_id=correlation_id))
        response = self._response(answer)
        reply = conclude(self._node, context, self._acks, self._timeout_ms, response, [])
        return [context.frame(reply)] if isinstance(reply, ProduceResponse) else None

    def _response(self, answer: PartitionProduceResponse) -> ProduceResponse:
        return ProduceResponse([TopicProduceResponse(self._topic_id, self._topic_name, [answer])])


class _Waiting:
    """One that waits for replicas or the disk: most do with acks=all, so it is kept small."""

    __slots__ = ("_acks", "_appended", "_code", "_correlation_id", "_reign", "_session", "_template")

    def __init__(
        self,
        template: ProduceTemplate,
        session: Session,
        correlation_id: int,
        appended: Appended,
        reign: int,
        acks: int,
    ) -> None:
        self._template = template
        self._session = session
        self._correlation_id = correlation_id
        self._appended = appended
        self._reign = reign
        self._acks = acks
        self._code = ErrorCode.REQUEST_TIMED_OUT

    def is_decided(self, moved: Partition) -> bool:
        code = moved.fate(self._appended.last_offset, self._acks, self._reign)
        if code is None:
            return False
        self._code = code
        return True

    def finish(self) -> None:
        self._session.send(
            self._template.after_waiting(self._session, self._correlation_id, self._appended, self._code)
        )


def _compact(text: str) -> bytes:
    return unsigned(len(text.encode()) + 1) + text.encode()
