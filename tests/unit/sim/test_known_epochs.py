"""A client of the simulation believes nobody who has not heard of a leader that it knows of."""

from __future__ import annotations

from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from barnabas.protocol.messages.offset_fetch import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from barnabas.sim.cluster.epochs import KnownEpochs
from barnabas.sim.cluster.routing import Leader

HERE = TopicPartition("trucks", 0)
TRUCKS, TRUCKS_AGAIN = b"1" * 16, b"2" * 16


def told(epoch: int, topic_id: bytes = TRUCKS) -> MetadataResponse:
    partition = MetadataResponsePartition(partition_index=0, leader_epoch=epoch)
    return MetadataResponse(
        topics=[MetadataResponseTopic(name="trucks", topic_id=topic_id, partitions=[partition])]
    )


def committed(epoch: int) -> OffsetFetchResponse:
    partition = OffsetFetchResponsePartitions(0, committed_offset=9, committed_leader_epoch=epoch)
    topic = OffsetFetchResponseTopics(name="trucks", partitions=[partition])
    return OffsetFetchResponse(groups=[OffsetFetchResponseGroup("drivers", topics=[topic])])


def test_who_tells_of_an_older_leader_is_not_believed() -> None:
    epochs = KnownEpochs()
    assert [epochs.is_old(told(epoch)) for epoch in (3, 3, 5, 4, 5)] == [False, False, False, True, False]


def test_a_topic_that_was_made_again_begins_anew() -> None:
    epochs = KnownEpochs()
    assert not epochs.is_old(told(7))
    assert not epochs.is_old(told(0, TRUCKS_AGAIN))


def test_a_committed_offset_tells_of_the_leader_that_wrote_what_is_before_it() -> None:
    epochs = KnownEpochs()
    assert not epochs.is_old(told(3))
    assert not epochs.is_news(committed(3), {HERE: Leader(1, 3)})
    assert epochs.is_news(committed(4), {HERE: Leader(1, 3)})
    assert epochs.is_old(told(3))
    assert not epochs.is_old(told(4))


def test_a_commit_without_an_epoch_tells_nothing() -> None:
    epochs = KnownEpochs()
    assert not epochs.is_news(committed(-1), {HERE: Leader(1, 0), TopicPartition("trucks", 1): None})
    assert not epochs.is_old(told(0))
