"""A follower, real, and a leader that answers what a test tells it to."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from tests.support.batches import Batch

from barnabas.broker.cluster.peers import Answered, Failed
from barnabas.broker.node import Node
from barnabas.model.errors import ErrorCode
from barnabas.protocol import codec
from barnabas.protocol.messages.fetch import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from barnabas.protocol.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from barnabas.protocol.schema import Message

_HEAD = struct.Struct(">qii")


def batch(base_offset: int, *values: bytes, epoch: int = 0) -> bytes:
    """As a leader keeps it."""
    data = bytearray(Batch(values, timestamp_ms=1_700_000_000_000).encode())
    _HEAD.pack_into(data, 0, base_offset, len(data) - 12, epoch)
    return bytes(data)


class Question:
    def __init__(self, request: Message, version: int, answered: Answered, failed: Failed) -> None:
        self.request = request
        self.version = version
        self.fail = failed
        self._answered = answered

    def answer(self, response: Message) -> None:
        """Through the wire format: what a message class takes and bytes do not would be no answer."""
        data = codec.encode(response, self.version)
        self._answered(codec.decode(type(response), self.version, memoryview(bytearray(data))))

    @property
    def fetch(self) -> FetchRequest:
        assert isinstance(self.request, FetchRequest)
        return self.request

    @property
    def offsets(self) -> dict[tuple[bytes, int], int]:
        """What is asked for, and from where."""
        rows = [(topic.topic_id, row) for topic in self.fetch.topics for row in topic.partitions]
        return {(topic_id, row.partition): row.fetch_offset for topic_id, row in rows}

    @property
    def left_out(self) -> set[tuple[bytes, int]]:
        return {(each.topic_id, row) for each in self.fetch.forgotten_topics_data for row in each.partitions}


class ScriptedPeer:
    def __init__(self, broker_id: int) -> None:
        self.broker_id = broker_id
        self.questions: list[Question] = []
        self.is_closed = False

    def ask(
        self,
        request: Message,
        version: int,
        answered: Answered,
        failed: Failed,
        timeout_ms: int | None = None,
    ) -> None:
        assert not self.is_closed
        self.timeout_ms = timeout_ms
        self.questions.append(Question(request, version, answered, failed))

    def close(self) -> None:
        self.is_closed = True
        self.questions.clear()


class ScriptedPeers:
    """In the place of `node.peers`."""

    def __init__(self, node: Node) -> None:
        self.lines: list[ScriptedPeer] = []
        self._shared: dict[int, ScriptedPeer] = {}
        node.peers = self  # type: ignore[assignment]

    def open(self, broker_id: int) -> ScriptedPeer:
        line = ScriptedPeer(broker_id)
        self.lines.append(line)
        return line

    def of(self, broker_id: int) -> ScriptedPeer:
        return self._shared.setdefault(broker_id, ScriptedPeer(broker_id))

    def line(self, broker_id: int) -> ScriptedPeer:
        """The only one that is open to that broker."""
        (line,) = [line for line in self.lines if line.broker_id == broker_id and not line.is_closed]
        return line

    def question(self, broker_id: int) -> Question:
        """The fetch that waits for an answer of that broker."""
        (question,) = self.line(broker_id).questions
        self.line(broker_id).questions.clear()
        return question

    def is_asked(self, broker_id: int) -> bool:
        return any(line.questions for line in self.lines if line.broker_id == broker_id)

    def answer_offset(self, broker_id: int, timestamp: int, offset: int, error: int = 0) -> None:
        """What ListOffsets asked on the shared line."""
        question = self.of(broker_id).questions.pop(0)
        assert isinstance(question.request, ListOffsetsRequest)
        (topic,) = question.request.topics
        (row,) = topic.partitions
        assert row.timestamp == timestamp
        found = ListOffsetsPartitionResponse(row.partition_index, error, -1, offset, 0)
        question.answer(ListOffsetsResponse(topics=[ListOffsetsTopicResponse(topic.name, [found])]))


def answer(*rows: tuple[bytes, PartitionData], session_id: int = 7, error: int = 0) -> FetchResponse:
    topics = [FetchableTopicResponse(topic_id=topic_id, partitions=[data]) for topic_id, data in rows]
    return FetchResponse(error_code=error, session_id=session_id, responses=topics)


def data(
    records: bytes = b"",
    *,
    index: int = 0,
    high_watermark: int = 0,
    log_start_offset: int = 0,
    error: ErrorCode = ErrorCode.NONE,
    diverging: Sequence[int] | None = None,
) -> PartitionData:
    end = None if diverging is None else EpochEndOffset(*diverging)
    return PartitionData(
        index,
        error,
        high_watermark,
        high_watermark,
        log_start_offset,
        diverging_epoch=end,
        aborted_transactions=None,
        records=records,
    )
