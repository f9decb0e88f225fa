"""The short ways through Produce and Fetch answer the same bytes as the general ones."""

from __future__ import annotations

import contextlib
import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from tests.fuzz.frames import mutate
from tests.support.batches import Batch
from tests.support.hot import BOTH
from tests.support.node import NOW_MS, General, SmallNode, frame, joined

from barnabas.broker.fetch_template import FetchTemplate
from barnabas.broker.produce_template import ProduceTemplate
from barnabas.hot import reference
from barnabas.protocol import codec
from barnabas.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from barnabas.protocol.messages.list_offsets import ListOffsetsRequest
from barnabas.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)

TOPIC = "topic"


def produced(node: SmallNode, batch: bytes, version: int = 9, acks: int = 1) -> bytes:
    topic_id = node.node.image.topics[TOPIC].id
    data = TopicProduceData(topic_id, TOPIC, [PartitionProduceData(0, batch)])
    return frame(0, version, ProduceRequest(None, acks, 1000, [data]))


@dataclass(frozen=True, slots=True)
class Fetch:
    """What stays the same from one fetch of a consumer to the next."""

    version: int = 11
    max_wait_ms: int = 0
    min_bytes: int = 1
    max_bytes: int = 1 << 20
    isolation_level: int = 0
    current_leader_epoch: int = -1

    def at(self, node: SmallNode, offset: int) -> bytes:
        asked = FetchPartition(0, self.current_leader_epoch, offset, partition_max_bytes=self.max_bytes)
        topic = FetchTopic(node.node.image.topics[TOPIC].id, TOPIC, [asked])
        request = FetchRequest(
            max_wait_ms=self.max_wait_ms,
            min_bytes=self.min_bytes,
            max_bytes=self.max_bytes,
            isolation_level=self.isolation_level,
            topics=[topic],
        )
        return frame(1, self.version, request)


def batches() -> some.SearchStrategy[Batch]:
    return some.builds(
        Batch,
        values=some.lists(some.binary(max_size=200), min_size=1, max_size=5),
        attributes=some.sampled_from((0, 0, 0, 1, 8, 0x10, 0x20, 7)),
        producer_id=some.sampled_from((-1, -1, 5)),
        producer_epoch=some.sampled_from((0, 0, 1)),
        base_sequence=some.integers(0, 4),
        timestamp_ms=some.sampled_from((NOW_MS, NOW_MS, -1, NOW_MS + 10**9)),
        magic=some.sampled_from((2, 2, 2, 1, 3)),
        length=some.sampled_from((None, None, None, 10, 200)),
        crc=some.sampled_from((None, None, None, 0)),
        last_offset_delta=some.sampled_from((None, None, None, 9)),
        record_count=some.sampled_from((None, None, None, 2, 0)),
    )


class Twins:
    """The same requests to two nodes, one of which knows no short way."""

    def __init__(self, **configs: str) -> None:
        self.nodes = (SmallNode(), SmallNode())
        for node in self.nodes:
            node.create_topic(TOPIC, **configs)
        self.short, self.short_later = self.nodes[0].session()
        self.general, self.general_later = self.nodes[1].session(General)

    def ask(self, request: bytes) -> bytes | None:
        answer = self.nodes[0].ask(self.short, request)
        assert answer == self.nodes[1].ask(self.general, request)
        return answer

    def check_what_waited(self) -> None:
        for node in self.nodes:
            node.node.set_time(100_000, NOW_MS)
            node.node.tick()
        assert self.short_later == self.general_later


@contextlib.contextmanager
def using(steps: ModuleType) -> Iterator[None]:
    """With the hot steps in this form."""
    with (
        mock.patch("barnabas.broker.produce_template.plain_batch", steps.plain_batch),
        mock.patch("barnabas.broker.fetch_template.fetch_offset", steps.fetch_offset),
        mock.patch("barnabas.broker.fetch_template.offset_behind", steps.offset_behind),
    ):
        yield


CONFIGS = some.sampled_from(
    (
        {},
        {"message_timestamp_type": "LogAppendTime"},
        {"flush_messages": "1"},
        {"max_message_bytes": "500"},
        {"segment_bytes": "1048576", "index_interval_bytes": "300"},
        {"cleanup_policy": "compact"},
    )
)


@pytest.mark.parametrize("steps", BOTH)
@settings(max_examples=100, deadline=None)
@given(
    configs=CONFIGS,
    version=some.integers(3, 13),
    acks=some.sampled_from((1, 1, -1, 0)),
    sent=some.lists(batches(), min_size=1, max_size=8),
    chance=some.randoms(use_true_random=False),
)
def test_produce_is_answered_the_same_either_way(
    steps: ModuleType,
    configs: dict[str, str],
    version: int,
    acks: int,
    sent: list[Batch],
    chance: random.Random,
) -> None:
    twins = Twins(**configs)
    usual = produced(twins.nodes[0], Batch(timestamp_ms=NOW_MS).encode(), version, acks)
    with using(steps):
        for batch in sent:
            twins.ask(usual)
            twins.ask(produced(twins.nodes[0], batch.encode(), version, acks))
            twins.ask(mutate(usual, chance))
    twins.check_what_waited()
    everything = Fetch().at(twins.nodes[0], 0)
    twins.ask(everything)


@pytest.mark.parametrize("steps", BOTH)
@settings(max_examples=100, deadline=None)
@given(
    fetch=some.builds(
        Fetch,
        version=some.integers(4, 18),
        max_wait_ms=some.sampled_from((0, 500)),
        min_bytes=some.sampled_from((0, 1, 300)),
        max_bytes=some.sampled_from((1, 100, 1 << 20)),
        isolation_level=some.sampled_from((0, 1)),
        current_leader_epoch=some.sampled_from((-1, 0, 1, 7)),
    ),
    offsets=some.lists(some.integers(-2, 14), min_size=3, max_size=12),
    chance=some.randoms(use_true_random=False),
)
def test_fetch_is_answered_the_same_either_way(
    steps: ModuleType, fetch: Fetch, offsets: list[int], chance: random.Random
) -> None:
    twins = Twins()
    writers = (twins.nodes[0].session()[0], twins.nodes[1].session(General)[0])
    for size in (1, 3, 2):
        batch = Batch(values=[b"x" * 50] * size, timestamp_ms=NOW_MS).encode()
        for node, writer in zip(twins.nodes, writers, strict=True):
            node.ask(writer, produced(node, batch))
    with using(steps):
        for offset in offsets:
            request = fetch.at(twins.nodes[0], offset)
            if twins.ask(request) is None:
                twins.check_what_waited()
            if twins.ask(mutate(request, chance)) is None:
                twins.check_what_waited()


@pytest.mark.parametrize("steps", BOTH)
@settings(max_examples=60, deadline=None)
@given(
    version=some.integers(7, 17),
    max_bytes=some.sampled_from((1, 150, 400)),
    isolation_level=some.sampled_from((0, 1)),
)
def test_what_a_reader_will_ask_next_is_foreseen_with_its_reply(
    steps: ModuleType, version: int, max_bytes: int, isolation_level: int
) -> None:
    node = SmallNode()
    node.create_topic(TOPIC)
    for size in (1, 3, 2, 1, 4):
        batch = Batch(values=[b"x" * 50] * size, timestamp_ms=NOW_MS).encode()
        node.ask(node.session()[0], produced(node, batch))
    fetch = Fetch(version, max_bytes=max_bytes, isolation_level=isolation_level)
    (reader, _), (general, _) = node.session(), node.session(General)
    for _ in range(2):
        node.ask(reader, fetch.at(node, 0))
    template, offset = reader.template, 0
    assert isinstance(template, FetchTemplate)
    with using(steps):
        records = records_of(node.ask(reader, fetch.at(node, 0)), version)
        while (foreseen := template.foresee(memoryview(records))) is not None:
            offset = reference.offset_behind(memoryview(records)) or 0
            request = fetch.at(node, offset)
            asked = struct.pack(">i", len(request)) + request
            assert foreseen.before + asked[8:12] + foreseen.after == asked
            reply = joined(foreseen.parts)
            assert reply[:4] + asked[8:12] + reply[8:] == node.ask(general, request)
            records = records_of(reply, version)
    assert offset >= 4


def records_of(reply: bytes | None, version: int) -> bytes:
    assert reply is not None
    _, response = codec.read_response(1, version, memoryview(reply)[4:])
    assert isinstance(response, FetchResponse)
    records = response.responses[0].partitions[0].records
    assert isinstance(records, memoryview)
    return bytes(records)


def test_a_producer_with_a_habit_gets_a_template() -> None:
    node = SmallNode()
    node.create_topic(TOPIC)
    session, _ = node.session()
    request = produced(node, Batch(timestamp_ms=NOW_MS).encode())
    node.ask(session, request)
    assert session.template is None
    node.ask(session, request)
    assert isinstance(session.template, ProduceTemplate)


def test_a_consumer_with_a_habit_gets_a_template_and_keeps_it() -> None:
    node = SmallNode()
    node.create_topic(TOPIC)
    session, _ = node.session()
    for offset in (0, 0):
        node.ask(session, Fetch().at(node, offset))
    template = session.template
    assert isinstance(template, FetchTemplate)
    node.ask(session, frame(2, 7, ListOffsetsRequest()))
    node.ask(session, Fetch().at(node, 0))
    assert session.template is template


def test_a_template_of_a_deleted_partition_does_not_answer_for_its_successor() -> None:
    node = SmallNode()
    node.create_topic(TOPIC)
    session, _ = node.session()
    request = produced(node, Batch(timestamp_ms=NOW_MS).encode())
    for _ in range(3):
        node.ask(session, request)
    first = node.ask(session, request)
    node.delete_topic(TOPIC)
    node.create_topic(TOPIC)
    again = node.ask(session, request)
    assert again is not None
    assert first is not None
    assert (offset_of(first), offset_of(again)) == (3, 0)


def offset_of(reply: bytes) -> int:
    _, response = codec.read_response(0, 9, memoryview(reply)[4:])
    assert isinstance(response, ProduceResponse)
    return response.responses[0].partition_responses[0].base_offset
