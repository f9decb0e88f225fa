"""Transactions through a whole node on a simulated disk: the gate, the markers, and a crash at every step."""

from __future__ import annotations

from typing import TypeVar

import pytest
from tests.support.batches import Batch

from barnabas.broker.session import Part, Session
from barnabas.coordination.outcome import Producer
from barnabas.log.log import Log
from barnabas.model.errors import ErrorCode
from barnabas.ports import FileSlice
from barnabas.protocol import codec
from barnabas.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from barnabas.protocol.messages.create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from barnabas.protocol.messages.delete_topics import (
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from barnabas.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from barnabas.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from barnabas.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from barnabas.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from barnabas.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from barnabas.protocol.schema import Message
from barnabas.records.batch import headers
from barnabas.sim.host import Host
from barnabas.sim.world import World
from barnabas.transactions.states import COMPLETE_ABORT, COMPLETE_COMMIT, EMPTY, ONGOING, TransactionState
from barnabas.transactions.transaction import Transaction

R = TypeVar("R", bound=Message)
TRANSACTIONAL = 0x10
BOTH = (0, 1)


class Dead(Exception):  # noqa: N818 - what happened to the broker, not an error of ours
    """The broker fell before it answered."""


class Desk:
    """A simulated broker with a topic of two partitions, and one connection to it."""

    def __init__(self, properties: dict[str, str] | None = None) -> None:
        self.world = World(11)
        settings = {"log.dirs": "/d", "transaction.state.log.num.partitions": "1", **(properties or {})}
        self.host = Host(self.world, settings, 11)
        self.start()
        self.ask(CreateTopicsRequest([CreatableTopic("t", 2, 1)]), 5, CreateTopicsResponse)
        self.ask(FindCoordinatorRequest("", 1, ["x"]), 4, FindCoordinatorResponse)
        self.settle()

    def start(self) -> None:
        self.host.start()
        self.world.run_until(lambda: self.host.serving, self.world.now_ms + 60_000)
        assert self.host.life is not None
        self.node = self.host.life.node
        self.replies: list[bytes] = []
        self.session = Session("PLAINTEXT", "127.0.0.1", self._replied)
        self.settle(100)

    def settle(self, duration_ms: int = 1_000) -> None:
        self.world.run_until(lambda: False, self.world.now_ms + duration_ms)

    # --- one connection ------------------------------------------------------------------------------------

    def _replied(self, parts: list[Part]) -> None:
        self.replies.append(b"".join(_bytes(part) for part in parts))

    def say(self, request: Message, version: int) -> None:
        header = codec.RequestHeader(request.API_KEY, version, 1, "test")
        frame = memoryview(bytearray(codec.write_request(header, request)))
        life = self.host.life
        if life is None:
            raise Dead

        def turn() -> None:
            parts = self.node.handle(self.session, frame)
            if parts is not None:
                self._replied(parts)

        life.enter(turn)
        frame[:] = bytes(len(frame))  # as the reactor uses its buffer again

    def ask(self, request: Message, version: int, answer: type[R]) -> R:
        self.say(request, version)
        self.world.run_until(lambda: bool(self.replies) or self.host.life is None, self.world.now_ms + 60_000)
        if not self.replies:
            raise Dead
        read = codec.read_response(request.API_KEY, version, self.replies.pop(0)[4:])[1]
        assert isinstance(read, answer)
        return read

    # --- a producer ----------------------------------------------------------------------------------------

    def owner(self) -> Producer:
        while True:
            answer = self.ask(InitProducerIdRequest("x", 60_000), 5, InitProducerIdResponse)
            if answer.error_code == 0:
                return Producer(answer.producer_id, answer.producer_epoch)
            assert answer.error_code in {
                ErrorCode.CONCURRENT_TRANSACTIONS,
                ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
            }
            self.settle(50)

    def add(self, owner: Producer) -> None:
        topics = [AddPartitionsToTxnTopic("t", list(BOTH))]
        request = AddPartitionsToTxnRequest([], "x", owner.id, owner.epoch, topics)
        answer = self.ask(request, 3, AddPartitionsToTxnResponse)
        codes = {
            row.partition_error_code for row in answer.results_by_topic_v3_and_below[0].results_by_partition
        }
        assert codes == {0}

    def write(self, owner: Producer, version: int = 12, sequence: int = 0) -> set[int]:
        answer = self.ask(written(owner, self.world.wall_ms, sequence), version, ProduceResponse)
        return {row.error_code for row in answer.responses[0].partition_responses}

    def end(self, owner: Producer, committed: bool, version: int = 5) -> EndTxnResponse:
        return self.ask(EndTxnRequest("x", owner.id, owner.epoch, committed), version, EndTxnResponse)

    # --- looking inside ------------------------------------------------------------------------------------

    @property
    def transaction(self) -> Transaction:
        return self.node.transactions.hosted("x").shard.transactions["x"]

    def log(self, index: int) -> Log:
        partition = self.node.replicas.find("t", index)
        assert partition is not None
        assert partition.log is not None
        return partition.log

    def log_ends(self) -> list[tuple[int, int]]:
        """The last stable offset and the end of each partition."""
        return [(self.log(index).last_stable_offset, self.log(index).log_end_offset) for index in BOTH]

    def visible(self) -> list[list[int]]:
        """What a reader of committed records gets of each partition."""
        return [self._visible(self.log(index)) for index in BOTH]

    def _visible(self, log: Log) -> list[int]:
        stable = log.last_stable_offset
        read = log.read(0, 1 << 20, upper_offset=stable)
        if read.slice is None:
            return []
        aborted = {one.first_offset for one in log.aborted_transactions(read, stable)}
        data = read.slice.file.read(read.slice.position, read.slice.size)
        batches = (header for _, header in headers(data, 0, len(data)) if not header.is_control)
        return [header.base_offset for header in batches if header.base_offset not in aborted]


def _bytes(part: Part) -> bytes:
    return part.file.read(part.position, part.size) if isinstance(part, FileSlice) else part


def written(owner: Producer, timestamp_ms: int, sequence: int = 0) -> ProduceRequest:
    batch = Batch(
        (b"v",),
        attributes=TRANSACTIONAL,
        producer_id=owner.id,
        producer_epoch=owner.epoch,
        base_sequence=sequence,
        timestamp_ms=timestamp_ms,
    ).encode()
    rows = [PartitionProduceData(index, batch) for index in BOTH]
    return ProduceRequest("x", -1, 5_000, [TopicProduceData(bytes(16), "t", rows)])


# --- the gate ----------------------------------------------------------------------------------------------


def test_a_first_write_adds_its_partitions() -> None:
    desk = Desk()
    owner = desk.owner()
    assert desk.write(owner) == {0}
    assert {partition.partition for partition in desk.transaction.partitions} == set(BOTH)


def test_an_older_client_must_have_added_them() -> None:
    desk = Desk()
    owner = desk.owner()
    assert desk.write(owner, version=10) == {ErrorCode.INVALID_TXN_STATE}
    assert desk.write(owner, version=11) == {ErrorCode.TRANSACTION_ABORTABLE}
    assert desk.log_ends() == [(0, 0), (0, 0)]
    desk.add(owner)
    assert desk.write(owner, version=11) == {0}


def test_without_verification_an_older_client_is_believed() -> None:
    desk = Desk({"transaction.partition.verification.enable": "false"})
    assert desk.write(desk.owner(), version=11) == {0}


def test_verification_can_be_switched_off_while_the_broker_runs() -> None:
    desk = Desk()
    owner = desk.owner()
    assert desk.write(owner, version=11) == {ErrorCode.TRANSACTION_ABORTABLE}
    config = AlterableConfig("transaction.partition.verification.enable", 0, "false")
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(4, "", [config])])
    desk.ask(request, 1, IncrementalAlterConfigsResponse)
    assert desk.write(owner, version=11) == {0}


def test_a_write_that_waits_for_its_transaction_keeps_its_bytes_and_its_place() -> None:
    desk = Desk({"log.flush.interval.messages": "1"})
    desk.host.slowness.most_ms = 400
    owner = desk.owner()
    desk.say(written(owner, desk.world.wall_ms), 12)
    assert desk.replies == []  # the coordinator's record is not on the disk yet
    assert desk.log_ends() == [(0, 0), (0, 0)]
    desk.world.run_until(lambda: bool(desk.replies), desk.world.now_ms + 60_000)
    assert [end for _, end in desk.log_ends()] == [1, 1]


def test_a_late_write_changes_nothing() -> None:
    desk = Desk()
    owner = desk.owner()
    desk.write(owner)
    after = desk.end(owner, True)
    for version in (11, 12):
        assert desk.write(owner, version, sequence=1) == {ErrorCode.INVALID_PRODUCER_EPOCH}
    assert desk.log_ends() == [(2, 2), (2, 2)]
    assert desk.write(Producer(after.producer_id, after.producer_epoch)) == {0}


def test_a_write_waits_while_the_transaction_before_is_finished() -> None:
    """The producer may go on as soon as its commit is decided; the markers are another matter."""
    desk = Desk({"log.flush.interval.messages": "1"})
    owner = desk.owner()
    desk.write(owner)
    after = desk.end(owner, True)
    assert desk.transaction.is_ending
    assert desk.write(Producer(after.producer_id, after.producer_epoch)) == {0}
    assert desk.transaction.state is ONGOING
    assert [stable for stable, _ in desk.log_ends()] == [2, 2]


# --- markers -----------------------------------------------------------------------------------------------


def test_a_deleted_topic_does_not_hold_up_the_end() -> None:
    desk = Desk()
    owner = desk.owner()
    desk.write(owner)
    desk.ask(DeleteTopicsRequest([DeleteTopicState("t")]), 6, DeleteTopicsResponse)
    desk.settle()
    assert desk.end(owner, True).error_code == 0
    desk.settle()
    assert desk.transaction.state is COMPLETE_COMMIT


def test_a_marker_that_cannot_be_written_is_written_when_it_can() -> None:
    desk = Desk()
    owner = desk.owner()
    desk.write(owner)
    partition = desk.node.replicas.find("t", 1)
    assert partition is not None
    log, partition.log = partition.log, None
    assert desk.end(owner, True).error_code == 0
    desk.settle()
    assert desk.transaction.is_ending
    partition.log = log
    desk.settle()
    assert desk.transaction.state is COMPLETE_COMMIT
    assert desk.log_ends() == [(2, 2), (2, 2)]


def test_a_transaction_out_of_time_is_aborted_and_its_producer_fenced() -> None:
    desk = Desk()
    owner = desk.owner()
    desk.write(owner)
    desk.settle(71_000)
    assert desk.transaction.state is COMPLETE_ABORT
    assert desk.visible() == [[], []]
    assert desk.write(owner, sequence=1) == {ErrorCode.INVALID_PRODUCER_EPOCH}
    assert desk.end(owner, True).error_code == ErrorCode.INVALID_TXN_STATE
    assert desk.end(owner, False).producer_epoch == owner.epoch + 1  # that much it may hear, and go on


# --- crashes -----------------------------------------------------------------------------------------------


def _live(desk: Desk, committed: bool, version: int) -> list[str]:
    """Begin, write, end; says how far it came."""
    came: list[str] = []
    owner = desk.owner()
    came.append("owned")
    if version < 5:
        desk.add(owner)
    assert desk.write(owner, 12 if version >= 5 else 11) == {0}
    came.append("written")
    assert desk.end(owner, committed, version).error_code == 0
    came.append("ended")
    desk.settle()
    return came


@pytest.mark.parametrize("version", [3, 5])
@pytest.mark.parametrize("committed", [True, False])
def test_a_crash_at_any_step_tears_nothing_and_undoes_no_acknowledged_end(
    committed: bool, version: int
) -> None:
    fallen: set[tuple[str, ...]] = set()
    for changes in range(1, 60):
        desk = Desk()
        desk.host.fall_after(changes, desk.host.kill)
        came: list[str] = []
        try:
            came = _live(desk, committed, version)
        except Dead:
            came = ["dead"]
        if desk.host.life is not None:
            break  # the script needs fewer changes than this
        desk.start()
        desk.settle()
        fallen.add(tuple(came))
        _check_whole(desk, committed, came)
    else:
        pytest.fail("the script never came to its end")
    assert fallen >= {("dead",), ("owned", "written", "ended")}


def _check_whole(desk: Desk, committed: bool, came: list[str]) -> None:
    transactions = desk.node.transactions.hosted("x").shard.transactions
    state: TransactionState | None = transactions["x"].state if "x" in transactions else None
    if "ended" in came:
        assert state is (COMPLETE_COMMIT if committed else COMPLETE_ABORT)
    assert state in {None, EMPTY, ONGOING, COMPLETE_COMMIT, COMPLETE_ABORT}  # nothing hangs half decided
    desk.owner()  # takes over, and aborts what was open
    desk.settle()
    assert all(stable == end for stable, end in desk.log_ends())
    assert desk.visible() == ([[0], [0]] if state is COMPLETE_COMMIT else [[], []])
