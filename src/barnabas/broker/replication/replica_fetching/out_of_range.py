"""Where to go on when the leader has nothing at our log's end.

Its log may end before ours, after an unclean election: then ours is cut there. Or it begins behind our end,
since retention went on without us: then ours starts over where the leader's begins. Both are asked with
ListOffsets, on the line for short questions: a fetch may be waiting at the other end of our own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from barnabas.broker.replication.replica_fetching.followed import Followed
from barnabas.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from barnabas.protocol.schema import Message

if TYPE_CHECKING:
    from barnabas.broker.node import Node

_VERSION = 9
_LATEST, _EARLIEST = -1, -2


class RangeSearch:
    """`found(leader's first offset, leader's end offset)`, or `failed` and why."""

    def __init__(
        self,
        node: Node,
        leader_id: int,
        followed: Followed,
        found: Callable[[int, int], None],
        failed: Callable[[str], None],
    ) -> None:
        self._node = node
        self._leader_id = leader_id
        self._followed = followed
        self._found = found
        self._failed = failed

    def begin(self) -> None:
        self._ask(_LATEST, self._has_end)

    def _has_end(self, end_offset: int) -> None:
        self._ask(_EARLIEST, lambda start_offset: self._found(start_offset, end_offset))

    def _ask(self, timestamp: int, then: Callable[[int], None]) -> None:
        partition = self._followed.partition
        asked = ListOffsetsPartition(partition.index, self._followed.leader_epoch, timestamp)
        topic = ListOffsetsTopic(partition.topic, [asked])
        request = ListOffsetsRequest(replica_id=self._node.broker_id, topics=[topic])

        def answered(answer: Message) -> None:
            assert isinstance(answer, ListOffsetsResponse)
            rows = [row for topic in answer.topics for row in topic.partitions]
            if len(rows) == 1 and rows[0].error_code == 0 and rows[0].offset >= 0:
                then(rows[0].offset)
            else:
                self._failed(f"the leader does not say which offsets it has: {[r.error_code for r in rows]}")

        peer = self._node.peers.of(self._leader_id)
        peer.ask(request, _VERSION, answered, lambda: self._failed("the leader does not answer"))
