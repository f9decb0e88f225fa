"""The short way through Produce, for a producer that sends one batch to one partition, again and again."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.broker.partition import Partition
from barnabas.broker.producing import Pending, conclude, refusal
from barnabas.broker.session import Foreseen, NotThisTimeError, Part, Session
from barnabas.hot import plain_batch
from barnabas.model.errors import ApiError
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

    A request that starts with them needs no parsing: find the batch, append, pack one reply. Errors and waits
    go on with the functions of `producing.py`, so both ways answer the same bytes.
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
            return self._general(session, frame, refusal(partition.index, error, log), [])
        if appended is None:
            raise NotThisTimeError
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
        return self._general(session, frame, answer, [Pending(partition, appended.last_offset, answer)])

    def foresee(self, _records: memoryview, /) -> Foreseen | None:
        return None  # nobody knows what a producer will send

    def _general(
        self,
        session: Session,
        frame: memoryview,
        answer: PartitionProduceResponse,
        pending: list[Pending],
    ) -> list[Part] | None:
        (correlation_id,) = _CORRELATION.unpack_from(frame, 4)
        context = Context(session, self._header._replace(correlation_id=correlation_id))
        topic = TopicProduceResponse(self._topic_id, self._topic_name, [answer])
        response = ProduceResponse([topic])
        reply = conclude(self._node, context, self._acks, self._timeout_ms, response, pending)
        return [context.frame(reply)] if isinstance(reply, ProduceResponse) else None


def _compact(text: str) -> bytes:
    return unsigned(len(text.encode()) + 1) + text.encode()
