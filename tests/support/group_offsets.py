"""Offset requests to a group shard in memory."""

from __future__ import annotations

from typing import Any

from tests.support.coordination import FakeTicket
from tests.support.groups import Groups

from barnabas.groups.group import Caller
from barnabas.model.ids import ZERO_UUID
from barnabas.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from barnabas.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from barnabas.protocol.messages.offset_fetch import OffsetFetchRequestGroup, OffsetFetchRequestTopics
from barnabas.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

MINUTE_MS = 60_000
RETENTION_MS = 10_080 * MINUTE_MS
CHECK_MS = 600_000


class Offsets(Groups):
    """Commits to topic "t" of group "g" unless told otherwise."""

    def commit(
        self,
        offset: int,
        *,
        partition: int = 0,
        topic: str = "t",
        topic_id: bytes = ZERO_UUID,
        version: int = 9,
        leader_epoch: int = -1,
        metadata: str | None = "",
        **fields: Any,
    ) -> FakeTicket:
        row = OffsetCommitRequestPartition(partition, offset, leader_epoch, metadata)
        wanted: dict[str, Any] = {"group_id": "g", **fields}
        request = OffsetCommitRequest(topics=[OffsetCommitRequestTopic(topic_id, topic, [row])], **wanted)
        caller = Caller("app", "/127.0.0.1", version)
        return self.host.ask(lambda ticket: self.shard.commit_offsets(request, caller, ticket))

    def commit_in_transaction(
        self, offset: int, *, producer_id: int = 7, partition: int = 0, **fields: Any
    ) -> FakeTicket:
        row = TxnOffsetCommitRequestPartition(partition, offset, -1, "")
        wanted: dict[str, Any] = {"group_id": "g", "producer_id": producer_id, "producer_epoch": 0, **fields}
        request = TxnOffsetCommitRequest(topics=[TxnOffsetCommitRequestTopic("t", [row])], **wanted)
        caller = Caller("app", "/127.0.0.1", 5)
        return self.host.ask(lambda ticket: self.shard.commit_transactional_offsets(request, caller, ticket))

    def fetch(
        self, *partitions: int, topic: str = "t", topic_id: bytes = ZERO_UUID, stable: bool = False
    ) -> list[tuple[int, int]]:
        """Offset and error of each."""
        asked = [OffsetFetchRequestTopics(topic_id, topic, partitions)]
        request = OffsetFetchRequestGroup("g", topics=asked)
        ticket = self.host.ask(lambda ticket: self.shard.fetch_offsets(request, stable, ticket))
        (answered,) = ticket.response.topics
        return [(row.committed_offset, row.error_code) for row in answered.partitions]

    def fetch_all(self, *, stable: bool = False) -> dict[str, dict[int, int]]:
        request = OffsetFetchRequestGroup("g", topics=None)
        ticket = self.host.ask(lambda ticket: self.shard.fetch_offsets(request, stable, ticket))
        return {
            topic.name: {row.partition_index: row.committed_offset for row in topic.partitions}
            for topic in ticket.response.topics
        }

    def delete(self, *partitions: int, topic: str = "t") -> FakeTicket:
        rows = [OffsetDeleteRequestPartition(index) for index in partitions]
        request = OffsetDeleteRequest("g", [OffsetDeleteRequestTopic(topic, rows)])
        return self.host.ask(lambda ticket: self.shard.delete_offsets(request, ticket))

    def delete_groups(self, *group_ids: str) -> list[int]:
        """The error of each."""
        ticket = self.host.ask(lambda ticket: self.shard.delete_groups(group_ids, ticket))
        return [row.error_code for row in ticket.response]


def code_of(ticket: FakeTicket) -> int:
    """Of the request, or of its only partition."""
    if ticket.code is not None:
        return ticket.code
    (topic,) = ticket.response.topics
    (row,) = topic.partitions
    code: int = row.error_code
    return code
