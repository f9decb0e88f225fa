"""The coordinator of a transaction, that of a group, and the leaders of partitions are different brokers."""

from __future__ import annotations

import pytest
from tests.support.batches import Batch
from tests.support.cluster_desk import ClusterDesk

from barnabas.coordination.outcome import Producer
from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from barnabas.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from barnabas.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from barnabas.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from barnabas.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
)
from barnabas.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from barnabas.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from barnabas.records.batch import headers
from barnabas.transactions.states import COMPLETE_ABORT, COMPLETE_COMMIT, ONGOING

TRANSACTIONAL = 0x10
GROUP, TRANSACTION = 0, 1
ADDS, ASKS = 12, 11  # versions of Produce


class Desk(ClusterDesk):
    """Three brokers; `t-0` on 1, `t-1` on 2, `t-2` on 3. A transactional id and a group that are not
    coordinated where `t-0` is led, nor by the same broker."""

    def __init__(self) -> None:
        super().__init__(
            transaction_state_log_replication_factor="1",
            transaction_state_log_min_isr="1",
            transaction_state_log_num_partitions="3",
            offsets_topic_replication_factor="1",
            offsets_topic_num_partitions="3",
        )
        self.create_topic("t", [[1], [2], [3]])
        self.transactional_id, self.coordinator = self.somebody_on({2, 3}, TRANSACTION)
        self.group, self.group_coordinator = self.somebody_on({1, 2, 3} - {self.coordinator}, GROUP)

    def somebody_on(self, brokers: set[int], kind: int) -> tuple[str, int]:
        keys = [f"key-{number}" for number in range(30)]
        self.ask(1, FindCoordinatorRequest("", kind, keys), 4, FindCoordinatorResponse)
        answer = self.ask(1, FindCoordinatorRequest("", kind, keys), 4, FindCoordinatorResponse)
        assert {row.error_code for row in answer.coordinators} == {0}
        self.settle(1_000)
        return next((row.key, row.node_id) for row in answer.coordinators if row.node_id in brokers)

    def owner(self) -> Producer:
        request = InitProducerIdRequest(self.transactional_id, 60_000)
        answer = self.ask(self.coordinator, request, 5, InitProducerIdResponse)
        assert answer.error_code == 0
        return Producer(answer.producer_id, answer.producer_epoch)

    def write(self, owner: Producer, index: int, version: int = ADDS, sequence: int = 0) -> int:
        batch = Batch(
            [b"x"],
            attributes=TRANSACTIONAL,
            producer_id=owner.id,
            producer_epoch=owner.epoch,
            base_sequence=sequence,
            timestamp_ms=self.world.wall_ms,
        ).encode()
        data = TopicProduceData(name="t", partition_data=[PartitionProduceData(index, batch)])
        request = ProduceRequest(self.transactional_id, -1, 30_000, [data])
        answer = self.ask(index + 1, request, version, ProduceResponse)
        return answer.responses[0].partition_responses[0].error_code

    def end(self, owner: Producer, *, commit: bool) -> EndTxnResponse:
        request = EndTxnRequest(self.transactional_id, owner.id, owner.epoch, commit)
        return self.ask(self.coordinator, request, 5, EndTxnResponse)

    def state(self) -> object:
        hosted = self.node(self.coordinator).transactions.hosted(self.transactional_id)
        return hosted.shard.transactions[self.transactional_id].state

    def partitions(self) -> frozenset[TopicPartition]:
        hosted = self.node(self.coordinator).transactions.hosted(self.transactional_id)
        return hosted.shard.transactions[self.transactional_id].partitions

    def controls(self, topic: str, index: int, leader: int) -> int:
        """How many markers stand in the partition."""
        partition = self.node(leader).replicas.find(topic, index)
        assert partition is not None
        assert partition.log is not None
        found = partition.log.read(0, 1 << 20, upper_offset=partition.log.log_end_offset).slice
        if found is None:
            return 0
        data = found.file.read(found.position, found.size)
        return sum(header.is_control for _, header in headers(data, 0, len(data)))

    def stable(self, index: int) -> bool:
        partition = self.node(index + 1).replicas.find("t", index)
        assert partition is not None
        assert partition.log is not None
        return partition.log.last_stable_offset == partition.log.log_end_offset


@pytest.mark.parametrize(("commit", "state"), [(True, COMPLETE_COMMIT), (False, COMPLETE_ABORT)])
def test_markers_reach_partitions_that_others_lead(commit: bool, state: object) -> None:
    desk = Desk()
    owner = desk.owner()
    assert [desk.write(owner, index) for index in range(3)] == [0, 0, 0]
    assert desk.end(owner, commit=commit).error_code == 0
    desk.until(lambda: desk.state() is state)
    assert [desk.controls("t", index, index + 1) for index in range(3)] == [1, 1, 1]
    assert all(desk.stable(index) for index in range(3))


def test_a_marker_waits_for_a_leader_that_is_away() -> None:
    desk = Desk()
    owner = desk.owner()
    desk.write(owner, 0)
    desk.cluster.machines[1].kill()
    assert desk.end(owner, commit=True).error_code == 0
    desk.settle(3_000)
    assert desk.state() is not COMPLETE_COMMIT
    desk.cluster.machines[1].start()
    desk.until(lambda: desk.state() is COMPLETE_COMMIT)
    assert desk.controls("t", 0, 1) == 1


def test_a_coordinator_that_returns_finishes_what_it_had_decided() -> None:
    desk = Desk()
    owner = desk.owner()
    desk.write(owner, 0)
    desk.cluster.machines[1].kill()
    desk.end(owner, commit=True)
    desk.cluster.machines[desk.coordinator].kill()
    for broker_id in (1, desk.coordinator):
        desk.cluster.machines[broker_id].start()
    desk.until(lambda: desk.cluster.machines[1].serving and desk.stable(0))
    assert desk.controls("t", 0, 1) == 1


def test_a_produce_adds_its_partition_with_a_coordinator_elsewhere() -> None:
    desk = Desk()
    assert desk.write(desk.owner(), 0) == ErrorCode.NONE
    assert desk.state() is ONGOING
    assert desk.partitions() == {TopicPartition("t", 0)}


def test_a_partition_that_was_not_added_is_refused_by_a_coordinator_elsewhere() -> None:
    desk = Desk()
    assert desk.write(desk.owner(), 0, ASKS) == ErrorCode.TRANSACTION_ABORTABLE


def test_a_fenced_producer_is_refused_by_a_coordinator_elsewhere() -> None:
    desk = Desk()
    first = desk.owner()
    desk.owner()
    assert desk.write(first, 0) == ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_produce_is_tried_again_by_its_client_while_the_coordinator_is_dead() -> None:
    desk = Desk()
    owner = desk.owner()
    desk.cluster.machines[desk.coordinator].kill()
    assert desk.write(owner, 0) == ErrorCode.NOT_ENOUGH_REPLICAS
    desk.cluster.machines[desk.coordinator].start()
    desk.until(lambda: desk.write(owner, 0) == ErrorCode.NONE)


@pytest.mark.parametrize("version", [4, 5])
def test_offsets_of_a_group_elsewhere_count_when_the_transaction_is_committed(version: int) -> None:
    desk = Desk()
    owner = desk.owner()
    if version == 4:
        added = AddOffsetsToTxnRequest(desk.transactional_id, owner.id, owner.epoch, desk.group)
        assert desk.ask(desk.coordinator, added, 4, AddOffsetsToTxnResponse).error_code == 0
    row = TxnOffsetCommitRequestPartition(0, 42, committed_metadata="")
    commit = TxnOffsetCommitRequest(
        desk.transactional_id,
        desk.group,
        owner.id,
        owner.epoch,
        topics=[TxnOffsetCommitRequestTopic("t", [row])],
    )
    answer = desk.ask(desk.group_coordinator, commit, version, TxnOffsetCommitResponse)
    assert answer.topics[0].partitions[0].error_code == 0
    assert committed(desk) == -1
    desk.end(owner, commit=True)
    desk.until(lambda: committed(desk) == 42)


def committed(desk: Desk) -> int:
    request = OffsetFetchRequest([OffsetFetchRequestGroup(desk.group, topics=None)])
    answer = desk.ask(desk.group_coordinator, request, 8, OffsetFetchResponse)
    offsets = [row.committed_offset for topic in answer.groups[0].topics for row in topic.partitions]
    return offsets[0] if offsets else -1
