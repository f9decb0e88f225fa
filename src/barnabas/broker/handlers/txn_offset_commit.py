"""TxnOffsetCommit v0–v5 (KIP-98, KIP-447, KIP-890): a group's offsets as part of a transaction. From v5 on
the request itself adds the group's partition to the transaction; before, that must have happened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from barnabas.broker.coordinators.group_requests import caller_of
from barnabas.broker.coordinators.hosted_shard import meaning_of
from barnabas.broker.coordinators.ticket import Later
from barnabas.broker.coordinators.transaction_gate import Admissions, Entrance, Gate
from barnabas.broker.dispatch import Context
from barnabas.coordination.outcome import Producer
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node

_LOADING_SINCE: Final = 2
_ABORTABLE_SINCE: Final = 4
_ADD_SINCE: Final = 5
_NO_SEQUENCE: Final = -1

Rows: TypeAlias = dict[str, list[TxnOffsetCommitResponsePartition]]


def handle(node: Node, context: Context, request: TxnOffsetCommitRequest) -> TxnOffsetCommitResponse | None:
    refused: Rows = {}
    known = _known_topics(node, request, refused)
    if not known:
        return _response(refused, ())
    _Commit(node, context, request, known, refused).begin()
    return None


def _known_topics(
    node: Node, request: TxnOffsetCommitRequest, refused: Rows
) -> list[TxnOffsetCommitRequestTopic]:
    """What exists; the rest is refused already, and a topic that does not exist even without partitions."""
    known = []
    for topic in request.topics:
        partitions = []
        if topic.name not in node.image.topics:
            refused.setdefault(topic.name, [])
        for row in topic.partitions:
            if node.image.partition(topic.name, row.partition_index) is None:
                code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                refused.setdefault(topic.name, []).append(_row(row.partition_index, code))
            else:
                partitions.append(row)
        if partitions:
            known.append(TxnOffsetCommitRequestTopic(topic.name, partitions))
    return known


def _row(index: int, code: int) -> TxnOffsetCommitResponsePartition:
    return TxnOffsetCommitResponsePartition(index, code)


def _response(refused: Rows, topics: Sequence[TxnOffsetCommitResponseTopic]) -> TxnOffsetCommitResponse:
    """As in Kafka, what does not exist comes first, and only beside that each topic stands once."""
    if refused:
        for topic in topics:
            refused.setdefault(topic.name, []).extend(topic.partitions)
        topics = [TxnOffsetCommitResponseTopic(name, rows) for name, rows in refused.items()]
    return TxnOffsetCommitResponse(topics=topics)


class _Commit:
    def __init__(
        self,
        node: Node,
        context: Context,
        request: TxnOffsetCommitRequest,
        known: list[TxnOffsetCommitRequestTopic],
        refused: Rows,
    ) -> None:
        self._node = node
        self._context = context
        self._request = request
        self._known = known
        self._before = refused
        self._ticket = Later(self._answered, self._refused)

    def begin(self) -> None:
        request = self._request
        if not request.group_id:
            self._refused(ErrorCode.INVALID_GROUP_ID)
            return
        try:
            partition = self._node.groups.hosted(request.group_id).partition
        except ApiError as error:
            self._refused(error.code)
            return
        producer = Producer(request.producer_id, request.producer_epoch)
        gate = Gate(self._node, request.transactional_id, producer, self._entrance(), self._admitted)
        gate.open({partition: _NO_SEQUENCE})

    def _entrance(self) -> Entrance:
        version = self._context.version
        if version >= _ADD_SINCE:
            return Entrance.ADD
        return Entrance.VERIFY_ABORTABLE if version >= _ABORTABLE_SINCE else Entrance.VERIFY

    def _admitted(self, admissions: Admissions) -> None:
        for code in admissions.refused.values():
            self._refused(meaning_of(code))
            return
        guard = next(iter(admissions.guards.values()), None)
        request, ticket = self._request, self._ticket
        request_of_known = TxnOffsetCommitRequest(
            request.transactional_id,
            request.group_id,
            request.producer_id,
            request.producer_epoch,
            request.generation_id,
            request.member_id,
            request.group_instance_id,
            self._known,
        )
        self._node.groups.run(
            request.group_id,
            ticket,
            lambda shard: shard.commit_transactional_offsets(
                request_of_known, caller_of(self._context), ticket
            ),
            guard,
        )

    def _answered(self, response: object) -> None:
        assert isinstance(response, TxnOffsetCommitResponse)
        self._context.reply(_response(self._before, response.topics))

    def _refused(self, code: ErrorCode) -> None:
        if code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS and self._context.version < _LOADING_SINCE:
            code = ErrorCode.COORDINATOR_NOT_AVAILABLE  # clients that old fail when they hear of loading
        topics = [
            TxnOffsetCommitResponseTopic(
                topic.name, [_row(row.partition_index, code) for row in topic.partitions]
            )
            for topic in self._known
        ]
        self._context.reply(_response(self._before, topics))
