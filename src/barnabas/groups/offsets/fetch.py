"""OffsetFetch for one group: some partitions, or all it has offsets for."""

from __future__ import annotations

from barnabas.groups.group import Group
from barnabas.groups.offsets.store import ByPartition, Committed, Offsets
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.offset_fetch import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)

NO_OFFSET = -1


class Fetch:
    """Of a group that does not exist nothing is committed: no error, offset -1."""

    def __init__(
        self,
        offsets: Offsets,
        group: Group | None,
        request: OffsetFetchRequestGroup,
        require_stable: bool,
    ) -> None:
        if group is not None:
            group.check_offset_fetch(request.member_id, request.member_epoch)
        self._offsets = offsets
        self._request = request
        self._group_id = request.group_id
        self._topics = offsets.of_group(request.group_id) if group is not None else {}
        self._require_stable = require_stable

    def answer(self) -> OffsetFetchResponseGroup:
        asked = self._request.topics
        rows = self._all() if asked is None else [self._topic(topic) for topic in asked]
        return OffsetFetchResponseGroup(self._group_id, rows)

    def _all(self) -> list[OffsetFetchResponseTopics]:
        return [
            OffsetFetchResponseTopics(
                name=topic,
                partitions=[
                    self._partition(topic, index, committed) for index, committed in partitions.items()
                ],
            )
            for topic, partitions in self._topics.items()
        ]

    def _topic(self, topic: OffsetFetchRequestTopics) -> OffsetFetchResponseTopics:
        known = self._topics.get(topic.name, {})
        rows = [
            self._partition(topic.name, index, _of_this_topic(known, index, topic.topic_id))
            for index in topic.partition_indexes
        ]
        return OffsetFetchResponseTopics(topic.topic_id, topic.name, rows)

    def _partition(
        self, topic: str, index: int, committed: Committed | None
    ) -> OffsetFetchResponsePartitions:
        if self._require_stable and self._offsets.is_pending(self._group_id, topic, index):
            return OffsetFetchResponsePartitions(
                index, NO_OFFSET, error_code=ErrorCode.UNSTABLE_OFFSET_COMMIT
            )
        if committed is None:
            return OffsetFetchResponsePartitions(index, NO_OFFSET)
        value = committed.value
        return OffsetFetchResponsePartitions(index, value.offset, value.leader_epoch, value.metadata)


def _of_this_topic(known: ByPartition, index: int, topic_id: bytes) -> Committed | None:
    """An offset of a topic's namesake, deleted since, is none."""
    committed = known.get(index)
    if committed is None:
        return None
    stored_id = committed.value.topic_id
    is_namesake = any(stored_id) and any(topic_id) and stored_id != topic_id
    return None if is_namesake else committed
