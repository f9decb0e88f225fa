"""A request for several brokers is taken apart, and the answers are one answer again."""

from __future__ import annotations

from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from barnabas.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from barnabas.protocol.messages.init_producer_id import InitProducerIdRequest
from barnabas.protocol.messages.metadata import MetadataRequest
from barnabas.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from barnabas.sim.cluster import routing
from barnabas.sim.cluster.routing import Anybody, Leader, TheCoordinator, TheLeaders

_PLACES = [TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)]
_PRODUCE = ProduceRequest(
    None,
    -1,
    100,
    [
        TopicProduceData(
            name="a", partition_data=[PartitionProduceData(0, b"x"), PartitionProduceData(1, b"y")]
        ),
        TopicProduceData(name="b", partition_data=[PartitionProduceData(0, b"z")]),
    ],
)


def test_requests_are_for_leaders_coordinators_or_anybody() -> None:
    assert routing.addressee_of(_PRODUCE) == TheLeaders(tuple(_PLACES))
    assert routing.addressee_of(HeartbeatRequest("g")) == TheCoordinator("g", routing.GROUP)
    assert routing.addressee_of(InitProducerIdRequest("t")) == TheCoordinator("t", routing.TRANSACTION)
    assert routing.addressee_of(InitProducerIdRequest(None)) == Anybody()
    assert routing.addressee_of(MetadataRequest(None)) == Anybody()


def test_each_leader_gets_what_is_its() -> None:
    leaders = {_PLACES[0]: Leader(1, 5), _PLACES[1]: Leader(2, 6), _PLACES[2]: None}
    shares, orphans = routing.split(_PRODUCE, leaders, {})
    assert orphans == [_PLACES[2]]
    assert sorted(shares) == [1, 2]
    share = shares[2]
    assert isinstance(share, ProduceRequest)
    assert [(topic.name, [data.index for data in topic.partition_data]) for topic in share.topic_data] == [
        ("a", [1])
    ]


def test_a_fetch_is_shared_out_without_sessions_and_says_which_epoch_it_means() -> None:
    wishes = [FetchPartition(0, fetch_offset=3), FetchPartition(1, fetch_offset=4)]
    request = FetchRequest(session_id=7, session_epoch=2, topics=[FetchTopic(topic="a", partitions=wishes)])
    shares, _ = routing.split(request, {_PLACES[0]: Leader(1, 5), _PLACES[1]: Leader(1, 6)}, {})
    share = shares[1]
    assert isinstance(share, FetchRequest)
    assert (share.session_id, share.session_epoch) == (0, -1)
    asked = [(wish.fetch_offset, wish.current_leader_epoch) for wish in share.topics[0].partitions]
    assert asked == [(3, 5), (4, 6)]


def test_a_fetch_goes_to_the_replica_nearby_and_says_the_leaders_epoch() -> None:
    wishes = [FetchPartition(0, fetch_offset=3), FetchPartition(1, fetch_offset=4)]
    request = FetchRequest(topics=[FetchTopic(topic="a", partitions=wishes)], rack_id="here")
    leaders = {_PLACES[0]: Leader(1, 5), _PLACES[1]: Leader(1, 6)}
    shares, _ = routing.split(request, leaders, {_PLACES[1]: 3})
    assert sorted(shares) == [1, 3]
    share = shares[3]
    assert isinstance(share, FetchRequest)
    assert share.rack_id == "here"
    asked = [(wish.fetch_offset, wish.current_leader_epoch) for wish in share.topics[0].partitions]
    assert asked == [(4, 6)]


def test_answers_are_put_together_with_what_nobody_could_answer() -> None:
    one = ProduceResponse([TopicProduceResponse(name="a", partition_responses=[PartitionProduceResponse(0)])])
    orphan = routing.answer_for_orphans(_PRODUCE, [_PLACES[2]])
    whole = routing.merge([one, orphan])
    assert isinstance(whole, ProduceResponse)
    codes = [(topic.name, topic.partition_responses[0].error_code) for topic in whole.responses]
    assert codes == [("a", 0), ("b", ErrorCode.LEADER_NOT_AVAILABLE)]
    assert routing.points_elsewhere(whole)


def test_an_answer_that_names_the_wrong_broker_points_elsewhere() -> None:
    assert routing.points_elsewhere(HeartbeatResponse(error_code=ErrorCode.NOT_COORDINATOR))
    assert not routing.points_elsewhere(HeartbeatResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS))
