"""A producer's side of a transaction: take the id, add partitions and offsets, end it.

Only versions that every Kafka since 2.5 has: partitions and offsets are added by asking (AddPartitionsToTxn,
AddOffsetsToTxn), never implied by a newer Produce. Clusters with transaction.version 2 serve these as well,
and who takes the id anew for every transaction has a new epoch each time anyway.

All questions may be repeated without harm, so a lost answer is asked for again. What a coordinator refuses is
`ApiError`. The values here pickle: a transaction begun in one process is joined by others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages import add_partitions_to_txn, offset_fetch, txn_offset_commit
from barnabas.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from barnabas.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from barnabas.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from barnabas.protocol.schema import Message
from barnabas.wire.cluster import ANY, Cluster
from barnabas.wire.codes import known
from barnabas.wire.coordinators import Coordinator, KeyType, find
from barnabas.wire.errors import NetworkError, VersionError

R = TypeVar("R", bound=Message)

_OFFSET_FETCH = 9
_STABLE_SINCE = 7
_GROUPS_SINCE = 8
# Newer versions name topics by id, are for brokers, or imply what we ask for.
_VERSION_MAX = {_OFFSET_FETCH: 9, 24: 3, 26: 4, 28: 4}
_NO_OFFSET = -1


class Producer(NamedTuple):
    """Who holds a transactional id. `transactional_id` is None for one that is idempotent only."""

    transactional_id: str | None
    producer_id: int
    producer_epoch: int


class LedgerRow(NamedTuple):
    offset: int
    metadata: str


class Coordinated:
    """Questions to the coordinator of one group or transactional id, which is looked up once and again when
    it may have moved."""

    def __init__(self, cluster: Cluster, key: str, kind: KeyType) -> None:
        self._cluster = cluster
        self._key = key
        self._kind = kind
        self._node_id = ANY

    def ask(self, request: Message, answer: type[R], codes: Callable[[R], Iterable[int]]) -> R:
        """Raise the first error code that waiting does not cure."""

        def attempt() -> R:
            try:
                version_max = _VERSION_MAX.get(request.API_KEY)
                got = self._cluster.call_once(request, answer, self.node_id(), version_max=version_max)
                for code in codes(got):
                    if code:
                        raise ApiError(known(code))
            except (ApiError, NetworkError):
                self._node_id = ANY
                raise
            return got

        return self._cluster.retrying(attempt)

    def node_id(self) -> int:
        if self._node_id == ANY:
            found = find(self._cluster, [self._key], self._kind)[self._key]
            if isinstance(found, ApiError):
                raise found
            assert isinstance(found, Coordinator)
            self._node_id = found.node_id
        return self._node_id


class Transactions:
    """The transactions of one transactional id."""

    def __init__(self, cluster: Cluster, transactional_id: str) -> None:
        self._cluster = cluster
        self._id = transactional_id
        self._coordinator = Coordinated(cluster, transactional_id, KeyType.TRANSACTION)

    def take(self, timeout_ms: int) -> Producer:
        """Fence whoever held the id; what they left open is aborted before this returns."""
        request = InitProducerIdRequest(self._id, timeout_ms)
        answer = self._coordinator.ask(request, InitProducerIdResponse, lambda got: (got.error_code,))
        return Producer(self._id, answer.producer_id, answer.producer_epoch)

    def add(self, producer: Producer, partitions: Iterable[TopicPartition]) -> None:
        """The transaction begins with the first of these."""
        by_topic: dict[str, list[int]] = {}
        for partition in partitions:
            by_topic.setdefault(partition.topic, []).append(partition.partition)
        request = add_partitions_to_txn.AddPartitionsToTxnRequest(
            (),
            self._id,
            producer.producer_id,
            producer.producer_epoch,
            [add_partitions_to_txn.AddPartitionsToTxnTopic(*row) for row in by_topic.items()],
        )
        self._coordinator.ask(request, add_partitions_to_txn.AddPartitionsToTxnResponse, _added)

    def commit_offset(
        self, producer: Producer, group_id: str, partition: TopicPartition, row: LedgerRow
    ) -> None:
        """Becomes the group's when the transaction commits."""
        asked = AddOffsetsToTxnRequest(self._id, producer.producer_id, producer.producer_epoch, group_id)
        self._coordinator.ask(asked, AddOffsetsToTxnResponse, lambda got: (got.error_code,))
        offset = txn_offset_commit.TxnOffsetCommitRequestPartition(
            partition.partition, row.offset, committed_metadata=row.metadata
        )
        request = txn_offset_commit.TxnOffsetCommitRequest(
            self._id,
            group_id,
            producer.producer_id,
            producer.producer_epoch,
            topics=[txn_offset_commit.TxnOffsetCommitRequestTopic(partition.topic, [offset])],
        )
        Coordinated(self._cluster, group_id, KeyType.GROUP).ask(
            request,
            txn_offset_commit.TxnOffsetCommitResponse,
            lambda got: (row.error_code for topic in got.topics for row in topic.partitions),
        )

    def end(self, producer: Producer, *, commit: bool) -> None:
        request = EndTxnRequest(self._id, producer.producer_id, producer.producer_epoch, commit)
        self._coordinator.ask(request, EndTxnResponse, lambda got: (got.error_code,))


def idempotent_producer(cluster: Cluster) -> Producer:
    """A producer id of its own, from any broker."""

    def attempt() -> Producer:
        answer = cluster.call_once(InitProducerIdRequest(None, 0), InitProducerIdResponse)
        if answer.error_code:
            raise ApiError(known(answer.error_code))
        return Producer(None, answer.producer_id, answer.producer_epoch)

    return cluster.retrying(attempt)


def stable_offsets(cluster: Cluster, group_id: str) -> dict[TopicPartition, LedgerRow]:
    """Every offset of the group, after the end of the transactions that are about to change them. Brokers do
    not say so of the first offset of a partition: whoever must know takes the transactional id before, which
    waits for that end as well."""
    coordinator = Coordinated(cluster, group_id, KeyType.GROUP)
    version = cluster.retrying(lambda: cluster.connection(coordinator.node_id()).version_of(_OFFSET_FETCH))
    if version < _STABLE_SINCE:
        raise VersionError(
            "The brokers are older than Kafka 2.5 and cannot say which offsets of a group are settled"
        )
    if version < _GROUPS_SINCE:
        request = offset_fetch.OffsetFetchRequest(group_id=group_id, topics=None, require_stable=True)
    else:
        groups = [offset_fetch.OffsetFetchRequestGroup(group_id, topics=None)]
        request = offset_fetch.OffsetFetchRequest(groups, require_stable=True)
    answer = coordinator.ask(request, offset_fetch.OffsetFetchResponse, _fetched)
    topics: list[offset_fetch.OffsetFetchResponseTopic | offset_fetch.OffsetFetchResponseTopics]
    topics = [*answer.topics, *(topic for group in answer.groups for topic in group.topics)]
    return {
        TopicPartition(topic.name, row.partition_index): LedgerRow(row.committed_offset, row.metadata or "")
        for topic in topics
        for row in topic.partitions
        if row.committed_offset != _NO_OFFSET
    }


def _added(answer: add_partitions_to_txn.AddPartitionsToTxnResponse) -> Iterable[int]:
    """A refused partition makes the others "not attempted": its own code says why."""
    codes = [
        row.partition_error_code
        for topic in answer.results_by_topic_v3_and_below
        for row in topic.results_by_partition
    ]
    return sorted(codes, key=lambda code: code == ErrorCode.OPERATION_NOT_ATTEMPTED)


def _fetched(answer: offset_fetch.OffsetFetchResponse) -> Iterable[int]:
    yield answer.error_code
    for topic in answer.topics:
        yield from (row.error_code for row in topic.partitions)
    for group in answer.groups:
        yield group.error_code
        for named in group.topics:
            yield from (row.error_code for row in named.partitions)
