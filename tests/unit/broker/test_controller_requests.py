"""What the controller answers to brokers and administrators about leaders and in-sync replicas."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.node import SmallNode, frame

from barnabas.broker.cluster.controller_host import code_of
from barnabas.broker.session import PeerFaultError
from barnabas.model.errors import ErrorCode
from barnabas.model.image import BrokerChanged, BrokerImage, PartitionChanged, PartitionImage
from barnabas.ports import BadVersionError, StoreLostError
from barnabas.protocol import codec
from barnabas.protocol.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    BrokerState,
    PartitionData,
    TopicData,
)
from barnabas.protocol.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    TopicPartitions,
)
from barnabas.protocol.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from barnabas.protocol.private import ControlledShutdownRequest, ControlledShutdownResponse, ForwardRequest
from barnabas.protocol.schema import Message

ALTER_PARTITION, ELECT_LEADERS, UNREGISTER_BROKER, CONTROLLED_SHUTDOWN = 56, 43, 64, 10_002


class Controller:
    """Broker 1 is the controller and leads a partition that broker 2 follows, in sync."""

    def __init__(self) -> None:
        self.small = SmallNode()
        self.node = self.small.node
        self.small.create_topic("t")
        own = self.partition
        other = BrokerImage(2, 77, {})
        self.node.publish(
            (BrokerChanged(other), PartitionChanged("t", replace(own, replicas=(1, 2), isr=(1, 2))))
        )

    @property
    def partition(self) -> PartitionImage:
        return self.node.image.topics["t"].partitions[0]

    @property
    def epoch(self) -> int:
        return self.node.image.brokers[1].epoch

    def ask(self, key: int, version: int, request: Message) -> Message:
        session, later = self.small.session()
        answer = self.small.ask(session, frame(key, version, request))
        self.node.store.poll()
        reply = answer if answer is not None else later[0]
        return codec.read_response(key, version, memoryview(reply)[4:])[1]

    def alter(
        self, isr: list[BrokerState], version: int = 3, epoch: int | None = None
    ) -> AlterPartitionResponse:
        row = PartitionData(
            0,
            self.partition.leader_epoch,
            isr if version > 2 else (),
            [state.broker_id for state in isr] if version == 2 else (),
            partition_epoch=self.partition.partition_epoch,
        )
        topic = TopicData(self.node.image.topics["t"].id, [row])
        request = AlterPartitionRequest(1, self.epoch if epoch is None else epoch, [topic])
        answer = self.ask(ALTER_PARTITION, version, request)
        assert isinstance(answer, AlterPartitionResponse)
        return answer

    def elect(self, kind: int, rows: list[TopicPartitions] | None) -> ElectLeadersResponse:
        answer = self.ask(ELECT_LEADERS, 2, ElectLeadersRequest(kind, rows))
        assert isinstance(answer, ElectLeadersResponse)
        return answer


@pytest.fixture
def controller() -> Controller:
    return Controller()


@pytest.mark.parametrize("version", [2, 3])
def test_a_leader_is_told_what_its_proposal_became(controller: Controller, version: int) -> None:
    answer = controller.alter([BrokerState(1, controller.epoch)], version)
    row = answer.topics[0].partitions[0]
    assert (answer.error_code, row.error_code) == (ErrorCode.NONE, ErrorCode.NONE)
    assert (row.leader_id, list(row.isr), row.partition_epoch) == (1, [1], 1)
    assert controller.partition.isr == (1,)


def test_a_proposal_that_cannot_be_is_answered_for_its_partition(controller: Controller) -> None:
    answer = controller.alter([BrokerState(1, controller.epoch), BrokerState(2, 76)])
    assert answer.error_code == ErrorCode.NONE
    assert answer.topics[0].partitions[0].error_code == ErrorCode.INELIGIBLE_REPLICA


def test_an_earlier_life_is_told_so(controller: Controller) -> None:
    answer = controller.alter([BrokerState(1)], epoch=controller.epoch - 1)
    assert (answer.error_code, answer.topics) == (ErrorCode.STALE_BROKER_EPOCH, [])
    stale = controller.ask(CONTROLLED_SHUTDOWN, 0, ControlledShutdownRequest(2, 76))
    assert isinstance(stale, ControlledShutdownResponse)
    assert stale.error_code == ErrorCode.STALE_BROKER_EPOCH


def test_whoever_is_not_the_controller_says_so(controller: Controller) -> None:
    controller.node.controller.is_active = False
    assert controller.alter([BrokerState(1)]).error_code == ErrorCode.NOT_CONTROLLER
    refused = controller.ask(CONTROLLED_SHUTDOWN, 0, ControlledShutdownRequest(1, controller.epoch))
    assert isinstance(refused, ControlledShutdownResponse)
    assert refused.error_code == ErrorCode.NOT_CONTROLLER


def test_a_broker_that_leaves_hears_that_it_may_go(controller: Controller) -> None:
    answer = controller.ask(CONTROLLED_SHUTDOWN, 0, ControlledShutdownRequest(1, controller.epoch))
    assert isinstance(answer, ControlledShutdownResponse)
    assert (answer.error_code, answer.remaining) == (ErrorCode.NONE, 0)
    assert controller.partition.leader == 2


def test_elections_are_answered_by_partition(controller: Controller) -> None:
    rows = [TopicPartitions("t", [0, 9]), TopicPartitions("nope", [0])]
    answer = controller.elect(0, rows)
    found = [
        (topic.topic, row.partition_id, row.error_code)
        for topic in answer.replica_election_results
        for row in topic.partition_result
    ]
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert found == [("t", 0, ErrorCode.ELECTION_NOT_NEEDED), ("t", 9, unknown), ("nope", 0, unknown)]
    everything = controller.elect(0, None).replica_election_results
    assert (answer.error_code, [(topic.topic, topic.partition_result) for topic in everything]) == (
        ErrorCode.NONE,
        [("t", [])],
    )


def test_an_unknown_kind_of_election_is_refused(controller: Controller) -> None:
    answer = controller.elect(7, [TopicPartitions("t", [0])])
    assert answer.error_code == ErrorCode.INVALID_REQUEST
    (row,) = answer.replica_election_results[0].partition_result
    assert (row.error_code, row.error_message) == (ErrorCode.INVALID_REQUEST, "Unknown election type 7")


def test_an_election_that_the_store_lost_did_not_happen(controller: Controller) -> None:
    moved = replace(controller.partition, leader=2, partition_epoch=5)  # not what the store has
    controller.node.publish((PartitionChanged("t", moved),))
    answer = controller.elect(0, [TopicPartitions("t", [0])])
    assert answer.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert controller.partition.leader == 2


def test_what_may_have_happened_is_asked_again() -> None:
    assert code_of(StoreLostError("/brokers/topics/t")) == ErrorCode.REQUEST_TIMED_OUT
    assert code_of(BadVersionError("/brokers/topics/t")) == ErrorCode.UNKNOWN_SERVER_ERROR


@pytest.mark.parametrize(
    ("broker_id", "error", "message"),
    [
        (2, ErrorCode.NONE, ""),
        (9, ErrorCode.BROKER_ID_NOT_REGISTERED, "Broker ID 9 is not currently registered"),
    ],
)
def test_only_a_registered_broker_can_be_unregistered(
    controller: Controller, broker_id: int, error: ErrorCode, message: str
) -> None:
    answer = controller.ask(UNREGISTER_BROKER, 0, UnregisterBrokerRequest(broker_id))
    assert isinstance(answer, UnregisterBrokerResponse)
    assert (answer.error_code, answer.error_message or "") == (error, message)
    assert (2 in controller.node.image.brokers, 2 in controller.partition.isr) == (broker_id != 2,) * 2


def test_a_controller_unregisters_itself_and_is_back(controller: Controller) -> None:
    before = controller.epoch
    answer = controller.ask(UNREGISTER_BROKER, 0, UnregisterBrokerRequest(1))
    assert isinstance(answer, UnregisterBrokerResponse)
    assert answer.error_code == ErrorCode.NONE
    for _ in range(20):
        controller.node.store.poll()
        controller.node.tick()
    assert controller.epoch > before


@pytest.mark.parametrize("request_bytes", [b"", bytes(4), frame(0, 9, AlterPartitionRequest())])
def test_only_what_is_for_the_controller_is_forwarded(controller: Controller, request_bytes: bytes) -> None:
    forwarded = ForwardRequest("PLAINTEXT", "127.0.0.1", request_bytes)
    session, _ = controller.small.session()
    with pytest.raises(PeerFaultError):
        controller.node.handle(session, memoryview(bytearray(frame(ForwardRequest.API_KEY, 0, forwarded))))
