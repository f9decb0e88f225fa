from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.unit.wire.fake_peer import FakeNetwork, FakePeer

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.create_topics import (
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from barnabas.protocol.messages.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from barnabas.protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from barnabas.protocol.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from barnabas.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from barnabas.protocol.schema import Message
from barnabas.wire import CONTROLLER, Cluster, DeadlineError, NetworkError, Settings, SettingsError
from barnabas.wire.address import Address
from barnabas.wire.admin import groups, offsets, topics
from barnabas.wire.errors import UnresolvedError

ONE, TWO = Address("one", 1), Address("two", 2)
QUICK = Settings(retry_backoff_ms=1, retry_backoff_max_ms=5)
IMPATIENT = Settings(default_api_timeout_ms=100, retry_backoff_ms=1, retry_backoff_max_ms=5)


def _metadata(controller_id: int = 2, leader_error: int = 0) -> MetadataResponse:
    partitions = [
        MetadataResponsePartition(0, 0, 1, replica_nodes=[1]),
        MetadataResponsePartition(leader_error, 1, -1 if leader_error else 2, replica_nodes=[2]),
    ]
    return MetadataResponse(
        brokers=[MetadataResponseBroker(1, "one", 1), MetadataResponseBroker(2, "two", 2)],
        controller_id=controller_id,
        topics=[MetadataResponseTopic(0, "t", partitions=partitions)],
    )


def _cluster(
    answer: Callable[[int, Message], Message | Exception],
    bootstrap: tuple[Address, ...] = (ONE,),
    settings: Settings = QUICK,
) -> tuple[Cluster, FakeNetwork]:
    """Two brokers that answer with `answer(node, request)`."""
    network = FakeNetwork(
        {
            ONE: lambda: FakePeer(lambda request: answer(1, request)),
            TWO: lambda: FakePeer(lambda request: answer(2, request)),
        }
    )
    return Cluster(list(bootstrap), settings, dial=network.dial), network


def test_the_controller_is_asked_for_what_only_it_may_do() -> None:
    asked: list[int] = []

    def answer(node: int, request: Message) -> Message:
        if isinstance(request, CreateTopicsRequest):
            asked.append(node)
            return CreateTopicsResponse(topics=[CreatableTopicResult("x", num_partitions=1)])
        return _metadata()

    cluster, _ = _cluster(answer)
    assert topics.create(cluster, "x").num_partitions == 1
    assert asked == [2]


def test_a_controller_that_has_moved_is_found_again() -> None:
    asked: list[int] = []

    def answer(node: int, request: Message) -> Message:
        if isinstance(request, CreateTopicsRequest):
            asked.append(node)
            code = ErrorCode.NOT_CONTROLLER if node == 2 else ErrorCode.NONE
            return CreateTopicsResponse(topics=[CreatableTopicResult("x", error_code=code)])
        return _metadata(controller_id=1 if asked else 2)

    cluster, _ = _cluster(answer)
    topics.create(cluster, "x")
    assert asked == [2, 1]


def test_a_refusal_is_not_repeated() -> None:
    asked: list[int] = []

    def answer(node: int, request: Message) -> Message:
        if isinstance(request, CreateTopicsRequest):
            asked.append(node)
            return CreateTopicsResponse(
                topics=[CreatableTopicResult("x", error_code=36, error_message="Topic 'x' already exists.")]
            )
        return _metadata()

    cluster, _ = _cluster(answer)
    with pytest.raises(ApiError, match="Topic 'x' already exists") as caught:
        topics.create(cluster, "x")
    assert caught.value.code == ErrorCode.TOPIC_ALREADY_EXISTS
    assert len(asked) == 1


def test_a_topic_that_does_not_exist_is_said_at_once() -> None:
    asked: list[int] = []

    def answer(node: int, request: Message) -> Message:
        if isinstance(request, DeleteTopicsRequest):
            asked.append(node)
            return DeleteTopicsResponse(responses=[DeletableTopicResult("x", error_code=3)])
        return _metadata()

    cluster, _ = _cluster(answer)
    with pytest.raises(ApiError) as caught:
        topics.delete(cluster, ["x"])
    assert caught.value.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert len(asked) == 1


def test_a_broken_connection_is_opened_anew() -> None:
    broken = [True]

    def answer(node: int, request: Message) -> Message | Exception:
        return NetworkError("gone") if broken and broken.pop() else _metadata()

    cluster, network = _cluster(answer)
    assert len(cluster.brokers()) == 2
    assert network.dialled == [ONE, ONE]


def test_whoever_interrupts_a_question_does_not_get_its_answer_for_the_next_one() -> None:
    interrupted = [True]

    def answer(node: int, request: Message) -> Message:
        if interrupted and interrupted.pop():
            raise KeyboardInterrupt
        return _metadata()

    cluster, network = _cluster(answer)
    with pytest.raises(KeyboardInterrupt):
        cluster.metadata()
    assert len(cluster.brokers()) == 2
    assert network.dialled == [ONE, ONE]


def test_the_next_bootstrap_address_is_tried_when_one_is_down() -> None:
    cluster, network = _cluster(lambda node, request: _metadata(), (Address("down", 9), TWO))
    assert cluster.metadata().controller_id == 2
    assert network.dialled == [Address("down", 9), TWO]


def test_retries_end_with_what_the_last_one_met_and_warn_of_each() -> None:
    warnings: list[str] = []
    cluster = Cluster([ONE], IMPATIENT, warnings.append, FakeNetwork({}).dial)
    with pytest.raises(DeadlineError, match="Connection to node -1") as caught:
        cluster.brokers()
    assert isinstance(caught.value.last, NetworkError)
    assert warnings
    assert all("could not be established" in warning for warning in warnings)


def test_a_name_that_does_not_exist_is_not_waited_for() -> None:
    dialled: list[Address] = []

    def dial(address: Address, timeout_s: float) -> FakePeer:
        dialled.append(address)
        raise UnresolvedError("no such host")

    with pytest.raises(SettingsError, match="No resolvable bootstrap urls"):
        Cluster([ONE, TWO], QUICK, dial=dial).brokers()
    assert dialled == [ONE, TWO]


def test_no_controller_is_an_answer_not_a_hang() -> None:
    cluster, _ = _cluster(lambda node, request: _metadata(controller_id=-1), settings=IMPATIENT)
    with pytest.raises(ApiError) as caught:
        cluster.call(CreateTopicsRequest(), CreateTopicsResponse, CONTROLLER)
    assert caught.value.code == ErrorCode.NOT_CONTROLLER


def test_leaders_are_asked_for_their_own_partitions_and_failures_stay_apart() -> None:
    def answer(node: int, request: Message) -> Message:
        if isinstance(request, DeleteRecordsRequest):
            (topic,) = request.topics
            assert [row.partition_index for row in topic.partitions] == [node - 1]
            code = ErrorCode.OFFSET_OUT_OF_RANGE if node == 2 else ErrorCode.NONE
            row = DeleteRecordsPartitionResult(node - 1, 5, code)
            return DeleteRecordsResponse(topics=[DeleteRecordsTopicResult("t", [row])])
        return _metadata()

    cluster, _ = _cluster(answer)
    first, second = TopicPartition("t", 0), TopicPartition("t", 1)
    answers = offsets.delete_records(cluster, {first: 5, second: 99})
    assert answers[first] == 5
    refused = answers[second]
    assert isinstance(refused, ApiError)
    assert refused.code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_partition_without_leader_fails_alone_when_the_time_is_over() -> None:
    def answer(node: int, request: Message) -> Message:
        if isinstance(request, DeleteRecordsRequest):
            row = DeleteRecordsPartitionResult(0, 7)
            return DeleteRecordsResponse(topics=[DeleteRecordsTopicResult("t", [row])])
        return _metadata(leader_error=ErrorCode.LEADER_NOT_AVAILABLE)

    cluster, _ = _cluster(answer, settings=IMPATIENT)
    first, second = TopicPartition("t", 0), TopicPartition("t", 1)
    answers = offsets.delete_records(cluster, {first: 7, second: 7})
    assert answers[first] == 7
    waiting = answers[second]
    assert isinstance(waiting, ApiError)
    assert waiting.code == ErrorCode.LEADER_NOT_AVAILABLE


def _groups_of(node: int, request: Message) -> Message:
    if isinstance(request, ListGroupsRequest):
        return ListGroupsResponse(groups=[ListedGroup(f"of-{node}", "consumer")])
    return _metadata()


def test_groups_are_listed_by_all_brokers_together() -> None:
    cluster, _ = _cluster(_groups_of)
    assert [row.group_id for row in groups.list_groups(cluster)] == ["of-1", "of-2"]


def test_a_broker_that_leaves_meanwhile_is_not_asked_for_its_groups_again() -> None:
    gone = False

    def answer(node: int, request: Message) -> Message | Exception:
        nonlocal gone
        if isinstance(request, ListGroupsRequest) and node == 2:
            gone = True
            return NetworkError("it is dead")
        answered = _groups_of(node, request)
        if gone and isinstance(answered, MetadataResponse):
            answered.brokers = [MetadataResponseBroker(1, "one", 1)]
        return answered

    cluster, _ = _cluster(answer)
    assert [row.group_id for row in groups.list_groups(cluster)] == ["of-1"]


def test_brokers_that_metadata_named_stand_in_for_a_bootstrap_address_that_is_down() -> None:
    network = FakeNetwork(
        {
            ONE: lambda: FakePeer(lambda _: _metadata()),
            TWO: lambda: FakePeer(lambda _: _metadata()),
        }
    )
    cluster = Cluster([ONE], QUICK, dial=network.dial)
    cluster.brokers()
    cluster.close()
    del network.peers[ONE]
    assert [broker.node_id for broker in cluster.brokers()] == [1, 2]
