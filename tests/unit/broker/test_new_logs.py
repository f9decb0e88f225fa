"""The logs of a large new topic come a few at a time, and others get their turn between."""

from __future__ import annotations

from itertools import pairwise

import pytest
from tests.support.node import NOW_MS, SmallNode, frame

from barnabas.broker.replication.partition import Partition
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from barnabas.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest

COUNT = 50
CREATE = frame(19, 7, CreateTopicsRequest([CreatableTopic("t", COUNT, 1)], timeout_ms=1000))


def ask(small: SmallNode, request: bytes) -> list[bytes]:
    """Until the image has it; where the answer will be."""
    session, later = small.session()
    before = small.node.image
    assert small.ask(session, request) is None
    while small.node.image is before and not later:
        small.node.store.poll()
    return later


def turn(small: SmallNode) -> None:
    small.node.set_time(small.node.now_ms + 1, NOW_MS)
    small.node.tick()


def opened(small: SmallNode) -> int:
    return sum(partition.log is not None for partition in small.node.replicas.of_topic("t"))


def test_a_large_topic_is_answered_when_all_of_it_is_there() -> None:
    small = SmallNode()
    answer = ask(small, CREATE)
    counts = [opened(small)]
    while not answer:
        turn(small)
        counts.append(opened(small))
        assert len(counts) < 100
    assert 0 < counts[0] < COUNT
    assert max(after - before for before, after in pairwise(counts)) < COUNT / 4
    assert counts[-1] == COUNT


def test_who_asks_for_one_that_is_not_there_yet_is_told_to_ask_again() -> None:
    small = SmallNode()
    ask(small, CREATE)
    assert small.node.replicas.get("t", 0).log is not None
    with pytest.raises(ApiError) as refused:
        small.node.replicas.get("t", COUNT - 1)
    assert refused.value.code is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_those_to_come_are_followed_from_when_they_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    small = SmallNode()
    told: list[Partition] = []
    monkeypatch.setattr(small.node.fetchers, "opened", told.append)
    answer = ask(small, CREATE)
    at_once = opened(small)
    while not answer:
        turn(small)
    assert [partition.index for partition in told] == list(range(at_once, COUNT))


def test_a_topic_that_goes_before_it_is_whole_leaves_nothing() -> None:
    small = SmallNode()
    answer = ask(small, CREATE)
    small.delete_topic("t")
    while not answer:
        turn(small)
    assert not any(place.topic == "t" for place in small.node.logs.logs)
    assert opened(small) == 0


def test_a_topic_that_grows_while_it_is_opened_is_opened_whole() -> None:
    small = SmallNode()
    ask(small, CREATE)
    more = CreatePartitionsRequest([CreatePartitionsTopic("t", 2 * COUNT, None)], timeout_ms=1000)
    answer = ask(small, frame(37, 3, more))
    while not answer:
        turn(small)
    assert opened(small) == 2 * COUNT
