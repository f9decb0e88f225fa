"""OffsetDelete v0 (KIP-496): forget offsets of topics to which nobody in the group is subscribed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from barnabas.broker.coordinators.ticket import RequestTicket
from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.model.image import ClusterImage
from barnabas.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from barnabas.protocol.schema import Message

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(node: Node, context: Context, request: OffsetDeleteRequest) -> OffsetDeleteResponse | None:
    if not request.group_id:
        return OffsetDeleteResponse(error_code=ErrorCode.INVALID_GROUP_ID)
    unknown = _take_out_unknown(node.image, request)
    ticket = _DeleteTicket(context, unknown)
    node.groups.run(request.group_id, ticket, lambda shard: shard.delete_offsets(request, ticket))
    return None


def _take_out_unknown(image: ClusterImage, request: OffsetDeleteRequest) -> dict[str, list[int]]:
    unknown: dict[str, list[int]] = {}
    known: list[OffsetDeleteRequestTopic] = []
    for topic in request.topics:
        exists = [row for row in topic.partitions if image.partition(topic.name, row.partition_index)]
        if len(exists) < len(topic.partitions) or topic.name not in image.topics:
            unknown.setdefault(topic.name, []).extend(
                row.partition_index
                for row in topic.partitions
                if image.partition(topic.name, row.partition_index) is None
            )
        if exists:
            known.append(OffsetDeleteRequestTopic(topic.name, exists))
    request.topics = known
    return unknown


class _DeleteTicket(RequestTicket):
    """Adds what was refused before the coordinator was asked, unless that refuses all."""

    __slots__ = ("_unknown",)

    def __init__(self, context: Context, unknown: dict[str, list[int]]) -> None:
        super().__init__(context, lambda code: OffsetDeleteResponse(error_code=code))
        self._unknown = unknown

    def answer(self, response: Message) -> None:
        assert isinstance(response, OffsetDeleteResponse)
        if self._unknown:
            response.topics = self._beside_unknown(response.topics)
        super().answer(response)

    def _beside_unknown(self, known: Sequence[OffsetDeleteResponseTopic]) -> list[OffsetDeleteResponseTopic]:
        """What does not exist comes first, and only beside that each topic stands once."""
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        topics = {
            name: [OffsetDeleteResponsePartition(index, code) for index in indexes]
            for name, indexes in self._unknown.items()
        }
        for topic in known:
            topics.setdefault(topic.name, []).extend(topic.partitions)
        return [OffsetDeleteResponseTopic(name, rows) for name, rows in topics.items()]
