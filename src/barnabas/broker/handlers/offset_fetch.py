"""OffsetFetch v1–v10: what a group has committed; all of it since v2, only what is stable since v7 (KIP-447),
many groups since v8 (KIP-709), by topic id since v10."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from barnabas.broker.coordinators.group_requests import Gathering, Part
from barnabas.broker.dispatch import Context
from barnabas.groups.offsets.fetch import NO_OFFSET
from barnabas.model.errors import ErrorCode
from barnabas.model.image import ClusterImage
from barnabas.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node

GROUP_ERROR_SINCE = 2
MANY_SINCE = 8
TOPIC_IDS_SINCE = 10


def handle(node: Node, context: Context, request: OffsetFetchRequest) -> OffsetFetchResponse | None:
    groups = request.groups if context.version >= MANY_SINCE else [_only_group(request)]
    if not groups:
        return OffsetFetchResponse()
    gathering = Gathering[OffsetFetchResponseGroup](
        len(groups), lambda answers: context.reply(_response(answers, context.version))
    )
    for part, group in enumerate(groups):
        _fetch(node, context.version, group, request.require_stable, gathering, part)
    return None


def _only_group(request: OffsetFetchRequest) -> OffsetFetchRequestGroup:
    topics = request.topics
    rows = None
    if topics is not None:
        rows = [
            OffsetFetchRequestTopics(name=row.name, partition_indexes=row.partition_indexes) for row in topics
        ]
    return OffsetFetchRequestGroup(request.group_id, topics=rows)


def _fetch(
    node: Node,
    version: int,
    group: OffsetFetchRequestGroup,
    require_stable: bool,
    gathering: Gathering[OffsetFetchResponseGroup],
    part: int,
) -> None:
    unknown = _take_out_unknown(node.image, group) if version >= TOPIC_IDS_SINCE else []

    def refused(code: ErrorCode) -> OffsetFetchResponseGroup:
        if version >= GROUP_ERROR_SINCE:
            return OffsetFetchResponseGroup(group.group_id, error_code=code)
        rows = [_all(topic, code) for topic in group.topics or ()]
        return OffsetFetchResponseGroup(group.group_id, rows)

    ticket = _FetchTicket(
        gathering, part, refused, node.image if version >= TOPIC_IDS_SINCE else None, unknown
    )
    node.groups.run(group.group_id, ticket, lambda shard: shard.fetch_offsets(group, require_stable, ticket))


def _take_out_unknown(image: ClusterImage, group: OffsetFetchRequestGroup) -> list[OffsetFetchResponseTopics]:
    if group.topics is None:
        return []
    for topic in group.topics:
        topic.name = image.topic_names.get(topic.topic_id, "")
    unknown = [_all(topic, ErrorCode.UNKNOWN_TOPIC_ID) for topic in group.topics if not topic.name]
    group.topics = [topic for topic in group.topics if topic.name]
    return unknown


def _all(topic: OffsetFetchRequestTopics, code: ErrorCode) -> OffsetFetchResponseTopics:
    rows = [
        OffsetFetchResponsePartitions(index, NO_OFFSET, error_code=code) for index in topic.partition_indexes
    ]
    return OffsetFetchResponseTopics(topic.topic_id, topic.name, rows)


def _response(groups: Sequence[OffsetFetchResponseGroup], version: int) -> OffsetFetchResponse:
    if version >= MANY_SINCE:
        return OffsetFetchResponse(groups=groups)
    (group,) = groups
    topics = [
        OffsetFetchResponseTopic(
            topic.name,
            [
                OffsetFetchResponsePartition(
                    row.partition_index,
                    row.committed_offset,
                    row.committed_leader_epoch,
                    row.metadata,
                    row.error_code,
                )
                for row in topic.partitions
            ],
        )
        for topic in group.topics
    ]
    return OffsetFetchResponse(topics=topics, error_code=group.error_code)


class _FetchTicket(Part[OffsetFetchResponseGroup]):
    """Adds the topics whose id nobody knows; with `image`, says which ids those have that were found."""

    __slots__ = ("_image", "_unknown")

    def __init__(
        self,
        gathering: Gathering[OffsetFetchResponseGroup],
        part: int,
        refusal: Callable[[ErrorCode], OffsetFetchResponseGroup],
        image: ClusterImage | None,
        unknown: list[OffsetFetchResponseTopics],
    ) -> None:
        super().__init__(gathering, part, refusal)
        self._image = image
        self._unknown = unknown

    def answer(self, response: OffsetFetchResponseGroup) -> None:
        if self._image is not None:
            response.topics = [*_with_ids(self._image, response.topics), *self._unknown]
        super().answer(response)


def _with_ids(
    image: ClusterImage, topics: Sequence[OffsetFetchResponseTopics]
) -> Iterator[OffsetFetchResponseTopics]:
    """A topic that is gone has no id to be named by."""
    for topic in topics:
        known = image.topics.get(topic.name)
        if known is not None:
            topic.topic_id = known.id
            yield topic
