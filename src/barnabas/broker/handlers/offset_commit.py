"""OffsetCommit v2–v10: by topic name, since v10 by topic id. What does not exist is refused partition by
partition, the rest is the coordinator's to accept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from barnabas.broker.coordinators.group_requests import caller_of
from barnabas.broker.coordinators.ticket import RequestTicket
from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.model.image import ClusterImage
from barnabas.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from barnabas.protocol.schema import Message

if TYPE_CHECKING:
    from barnabas.broker.node import Node

TOPIC_IDS_SINCE = 10


def handle(node: Node, context: Context, request: OffsetCommitRequest) -> OffsetCommitResponse | None:
    refused = _take_out_unknown(node.image, request, context.version)
    if not request.topics:
        return OffsetCommitResponse(topics=refused)
    ticket = _CommitTicket(context, request.topics, refused)
    caller = caller_of(context)
    node.groups.run(request.group_id, ticket, lambda shard: shard.commit_offsets(request, caller, ticket))
    return None


def _take_out_unknown(
    image: ClusterImage, request: OffsetCommitRequest, version: int
) -> list[OffsetCommitResponseTopic]:
    """Nearly always there is nothing to take out."""
    refused: list[OffsetCommitResponseTopic] = []
    known: list[OffsetCommitRequestTopic] = []
    for topic in request.topics:
        if version >= TOPIC_IDS_SINCE:
            topic.name = image.topic_names.get(topic.topic_id, "")
        found = image.topics.get(topic.name)
        if found is None:
            missing = (
                ErrorCode.UNKNOWN_TOPIC_ID
                if version >= TOPIC_IDS_SINCE
                else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            )
            refused.append(_all(topic, missing))
            continue
        topic.topic_id = found.id
        count = len(found.partitions)
        if not all(0 <= row.partition_index < count for row in topic.partitions):
            rows = topic.partitions
            topic.partitions = [row for row in rows if 0 <= row.partition_index < count]
            others = [row for row in rows if not 0 <= row.partition_index < count]
            unknown = OffsetCommitRequestTopic(topic.topic_id, topic.name, others)
            refused.append(_all(unknown, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
        if topic.partitions:
            known.append(topic)
    request.topics = known
    return merged((), refused) if refused else refused


def _all(topic: OffsetCommitRequestTopic, code: ErrorCode) -> OffsetCommitResponseTopic:
    rows = [OffsetCommitResponsePartition(row.partition_index, code) for row in topic.partitions]
    return OffsetCommitResponseTopic(topic.topic_id, topic.name, rows)


class _CommitTicket(RequestTicket):
    """Adds what was refused before the coordinator was asked."""

    __slots__ = ("_refused",)

    def __init__(
        self,
        context: Context,
        asked: Sequence[OffsetCommitRequestTopic],
        refused: list[OffsetCommitResponseTopic],
    ) -> None:
        super().__init__(
            context, lambda code: OffsetCommitResponse(topics=[_all(row, code) for row in asked])
        )
        self._refused = refused

    def answer(self, response: Message) -> None:
        assert isinstance(response, OffsetCommitResponse)
        if self._refused:
            response.topics = merged(self._refused, response.topics)
        super().answer(response)

    def refuse(self, code: ErrorCode) -> None:
        self.answer(self._refusal(code))


def merged(
    first: Sequence[OffsetCommitResponseTopic], second: Sequence[OffsetCommitResponseTopic]
) -> list[OffsetCommitResponseTopic]:
    """A topic appears once, with its partitions from both."""
    topics = {(topic.name, topic.topic_id): topic for topic in first}
    for topic in second:
        known = topics.setdefault((topic.name, topic.topic_id), topic)
        if known is not topic:
            known.partitions = [*known.partitions, *topic.partitions]
    return list(topics.values())
