"""The loads on the coordinators ask what they claim to ask."""

from __future__ import annotations

import socket

import pytest
from bench.coordinators.ask import version_of
from bench.coordinators.members import ClassicMember
from bench.coordinators.script import Pause, Script, Stage, Step
from bench.coordinators.topics import Topic
from bench.coordinators.transactions import TransactionalProducer

from barnabas.protocol import codec
from barnabas.protocol.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from barnabas.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from barnabas.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from barnabas.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from barnabas.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse, JoinGroupResponseMember
from barnabas.protocol.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from barnabas.protocol.messages.sync_group import SyncGroupRequest
from barnabas.protocol.schema import Message
from barnabas.records.batch import check_crc, read_header

TOPIC = Topic("words", bytes(16), 7)


def _request(step: Step) -> Message:
    assert not isinstance(step, Pause)
    header, position = codec.read_header(step, 4)
    return codec.decode(codec.request_class(header.api_key), header.version, step, position)


def _answer(message: Message, request: type[Message]) -> bytearray:
    head = codec.response_head(request.API_KEY, version_of(request), 1)
    return bytearray(head + codec.encode(message, version_of(request)))


def _produced(error_code: int, partitions: int) -> ProduceResponse:
    answers = [PartitionProduceResponse(index, error_code) for index in range(partitions)]
    return ProduceResponse([TopicProduceResponse(name="words", partition_responses=answers)])


def _begin(producer: TransactionalProducer) -> tuple[Script, Step]:
    """The script and its first Produce."""
    script = producer.script()
    assert isinstance(_request(next(script)), FindCoordinatorRequest)
    asked = _request(script.send(_answer(FindCoordinatorResponse(), FindCoordinatorRequest)))
    assert isinstance(asked, InitProducerIdRequest)
    given = InitProducerIdResponse(producer_id=77, producer_epoch=3)
    return script, script.send(_answer(given, InitProducerIdRequest))


def _check_batches(step: Step, partitions: int, producer_id: int, epoch: int) -> None:
    request = _request(step)
    assert isinstance(request, ProduceRequest)
    assert request.transactional_id == "tx"
    data = request.topic_data[0].partition_data
    assert [each.index for each in data] == list(range(partitions))
    for each in data:
        assert isinstance(each.records, (bytes, bytearray, memoryview))
        header = read_header(each.records)
        check_crc(memoryview(each.records), 0, header)
        assert (header.producer_id, header.producer_epoch, header.base_sequence) == (producer_id, epoch, 0)
        assert header.count == 100 // partitions


@pytest.mark.parametrize("partitions", [1, 10])
def test_every_transaction_carries_the_epoch_of_the_last_answer_under_a_valid_checksum(
    partitions: int,
) -> None:
    script, produce = _begin(TransactionalProducer("tx", "words", partitions))
    _check_batches(produce, partitions, producer_id=77, epoch=3)
    end = _request(script.send(_answer(_produced(0, partitions), ProduceRequest)))
    assert isinstance(end, EndTxnRequest)
    assert end.committed
    answer = EndTxnResponse(producer_id=78, producer_epoch=0)
    _check_batches(script.send(_answer(answer, EndTxnRequest)), partitions, producer_id=78, epoch=0)


def test_a_produce_that_comes_before_the_markers_are_written_is_sent_again() -> None:
    producer = TransactionalProducer("tx", "words", 1)
    script, produce = _begin(producer)
    assert not isinstance(produce, Pause)
    sent = bytes(produce)
    concurrent_transactions = 51
    assert isinstance(script.send(_answer(_produced(concurrent_transactions, 1), ProduceRequest)), Pause)
    assert script.send(None) == sent
    assert producer.retries == 1


def test_every_tenth_transaction_is_aborted_when_asked_for() -> None:
    script, _ = _begin(TransactionalProducer("tx", "words", 1, abort_every=10, transactions_max=20))
    committed = []
    for number in range(20):
        end = _request(script.send(_answer(_produced(0, 1), ProduceRequest)))
        assert isinstance(end, EndTxnRequest)
        committed.append(end.committed)
        if number < 19:
            script.send(_answer(EndTxnResponse(producer_id=77, producer_epoch=number), EndTxnRequest))
    assert [number for number, outcome in enumerate(committed) if not outcome] == [9, 19]


@pytest.mark.parametrize("members", [1, 3, 7, 9])
def test_a_leader_gives_every_partition_to_exactly_one_member(members: int) -> None:
    script = ClassicMember("group", TOPIC, heartbeat_s=1.0).script()
    next(script)
    names = [f"member-{number}" for number in range(members)]
    joined = JoinGroupResponse(
        generation_id=1,
        leader="",
        member_id="",
        members=[JoinGroupResponseMember(name) for name in names],
    )
    sync = _request(script.send(_answer(joined, JoinGroupRequest)))
    assert isinstance(sync, SyncGroupRequest)
    assert [each.member_id for each in sync.assignments] == names
    given = [
        partition
        for each in sync.assignments
        for topic in codec.decode(ConsumerProtocolAssignment, 0, each.assignment, 2).assigned_partitions
        for partition in topic.partitions
    ]
    assert sorted(given) == list(range(TOPIC.partitions))


def test_a_pause_that_was_cut_short_does_not_end_twice() -> None:
    steps = []

    def script() -> Script:
        yield Pause(0.01)
        steps.append("woken")
        yield Pause(30)
        steps.append("too early")

    with socket.create_server(("127.0.0.1", 0)) as server, Stage(server.getsockname()[1]) as stage:
        (task,) = stage.start_all([script()])
        task.wake()
        stage.run_for(0.05)
    assert steps == ["woken"]


def test_who_is_woken_while_it_awaits_an_answer_skips_its_next_pause() -> None:
    steps = []

    def script() -> Script:
        yield b"anything"
        yield Pause(30)
        steps.append("at once")
        yield Pause(30)
        steps.append("too early")

    with socket.create_server(("127.0.0.1", 0)) as server, Stage(server.getsockname()[1]) as stage:
        (task,) = stage.start_all([script()])
        task.wake()
        with server.accept()[0] as accepted:
            accepted.sendall(bytes(4))
            stage.run_until(lambda: bool(steps), "the end of the pause", timeout_s=20)
            stage.run_for(0.05)
    assert steps == ["at once"]


def test_a_broker_that_goes_away_is_an_error_and_not_a_wait() -> None:
    def script() -> Script:
        yield b"anything"

    with socket.create_server(("127.0.0.1", 0)) as server, Stage(server.getsockname()[1]) as stage:
        (task,) = stage.start_all([script()])
        server.accept()[0].close()
        with pytest.raises(RuntimeError, match="closed the connection"):
            stage.run_until(lambda: task.is_finished, "an answer", timeout_s=30)
