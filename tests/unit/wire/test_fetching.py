"""A partition is read from whoever leads it now, or from a replica nearby that the leader names."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.unit.wire.fake_brokers import ONE, QUICK, TWO
from tests.unit.wire.fake_peer import FakeNetwork, FakePeer

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from barnabas.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from barnabas.protocol.schema import Message
from barnabas.wire import Cluster, NetworkError
from barnabas.wire.fetching import Fetcher

PARTITION = TopicPartition("t", 0)
Reply = Message | Exception


def fetched(error: ErrorCode = ErrorCode.NONE, high_watermark: int = 7, replica: int = -1) -> FetchResponse:
    row = PartitionData(0, int(error), high_watermark, preferred_read_replica=replica)
    return FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=[row])])


class Brokers:
    """Two of them, of whom the first leads until a test says otherwise."""

    def __init__(self, answer: Callable[[int, FetchRequest], Reply]) -> None:
        self.leader = 1
        self.asked: list[int] = []
        self._answer = answer
        network = FakeNetwork(
            {
                ONE: lambda: FakePeer(lambda request: self._reply(1, request)),
                TWO: lambda: FakePeer(lambda request: self._reply(2, request)),
            }
        )
        self.cluster = Cluster([ONE], QUICK, dial=network.dial)

    def _reply(self, node: int, request: Message) -> Reply:
        if isinstance(request, FetchRequest):
            self.asked.append(node)
            return self._answer(node, request)
        partition = MetadataResponsePartition(0, 0, self.leader, replica_nodes=[1, 2])
        return MetadataResponse(
            brokers=[MetadataResponseBroker(1, "one", 1), MetadataResponseBroker(2, "two", 2)],
            topics=[MetadataResponseTopic(0, "t", partitions=[partition])],
        )


def read(fetcher: Fetcher, times: int) -> list[int]:
    ends = []
    for _ in range(times):
        fetcher.ask(0)
        ends.append(fetcher.answer().readable_end)
    return ends


def test_a_leader_that_moved_is_found() -> None:
    def answer(node: int, _: FetchRequest) -> Reply:
        if node == brokers.leader:
            return fetched(high_watermark=node)
        return fetched(ErrorCode.NOT_LEADER_OR_FOLLOWER)

    brokers = Brokers(answer)
    fetcher = Fetcher(brokers.cluster, PARTITION)
    assert read(fetcher, 2) == [1, 1]
    brokers.leader = 2
    assert read(fetcher, 2) == [2, 2]
    assert brokers.asked == [1, 1, 1, 2, 2]


def test_a_connection_that_breaks_is_made_again() -> None:
    def answer(_: int, __: FetchRequest) -> Reply:
        return NetworkError("gone") if len(brokers.asked) in (1, 3) else fetched()

    brokers = Brokers(answer)
    assert read(Fetcher(brokers.cluster, PARTITION), 2) == [7, 7]
    assert len(brokers.asked) == 4


def test_a_refusal_is_the_answer() -> None:
    brokers = Brokers(lambda *_: fetched(ErrorCode.TOPIC_AUTHORIZATION_FAILED))
    fetcher = Fetcher(brokers.cluster, PARTITION)
    for _ in range(2):
        fetcher.ask(0)
        with pytest.raises(ApiError) as caught:
            fetcher.answer()
        assert caught.value.code is ErrorCode.TOPIC_AUTHORIZATION_FAILED


def test_a_replica_nearby_is_read_when_the_leader_names_it() -> None:
    def answer(node: int, request: FetchRequest) -> Reply:
        return fetched(replica=2 if request.rack_id == "here" and node == 1 else -1, high_watermark=node)

    near = Brokers(answer)
    assert read(Fetcher(near.cluster, PARTITION, rack_id="here"), 2) == [2, 2]
    assert near.asked == [1, 2, 2]
    far = Brokers(answer)
    assert read(Fetcher(far.cluster, PARTITION), 2) == [1, 1]


@pytest.mark.parametrize("trouble", [ErrorCode.OFFSET_OUT_OF_RANGE, ErrorCode.REPLICA_NOT_AVAILABLE])
def test_a_replica_that_fails_is_left_for_the_leader(trouble: ErrorCode) -> None:
    def answer(node: int, request: FetchRequest) -> Reply:
        if node == 2:
            return fetched(trouble)
        return fetched(replica=2 if request.rack_id else -1, high_watermark=node)

    brokers = Brokers(answer)
    assert read(Fetcher(brokers.cluster, PARTITION, rack_id="here"), 2) == [1, 1]
    assert brokers.asked == [1, 2, 1, 1]
