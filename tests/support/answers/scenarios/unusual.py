"""Brokers with settings that change answers: limits, and things that are switched off."""

from __future__ import annotations

import struct

from tests.support.answers.dialogue import Dialogue
from tests.support.answers.peer import Silence
from tests.support.answers.scenario import on_unusual
from tests.support.answers.scenarios.configs import BROKER, TOPIC, by_name, describe
from tests.support.answers.scenarios.fetch import at, fetch
from tests.support.answers.scenarios.produce import GOOD_BYTES, T0_MS, produce, stored
from tests.support.answers.scenarios.topics import NO_ID, create, in_any_order, without_configs
from tests.support.batches import Batch

from barnabas.protocol.messages.create_topics import CreateTopicsRequest
from barnabas.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from barnabas.protocol.messages.describe_topic_partitions import DescribeTopicPartitionsRequest, TopicRequest
from barnabas.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic


@on_unusual
def without_auto_creation(d: Dialogue) -> None:
    rows = [MetadataRequestTopic(NO_ID, d.name("no"))]
    d.ask("unknown topic", MetadataRequest(rows, True))
    d.ask("invalid name", MetadataRequest([MetadataRequestTopic(NO_ID, "a/b")], True))


@on_unusual
def without_deletion(d: Dialogue) -> None:
    topic = d.topic("t")
    named = [DeleteTopicState(topic), DeleteTopicState(d.name("no"))]
    request = DeleteTopicsRequest(named, [topic, d.name("no")], 5000)
    d.ask("by name", request, view=in_any_order("responses"))
    by_id = [DeleteTopicState(None, d.topic_id("t")), DeleteTopicState(None, b"u" * 16)]
    d.ask("by id", DeleteTopicsRequest(by_id, [], 5000), 6, view=in_any_order("responses"))
    d.ask("nothing", DeleteTopicsRequest([], [], 5000))
    d.ask("timeout 0", DeleteTopicsRequest(named[:1], [topic], 0))


@on_unusual
def topics_by_default(d: Dialogue) -> None:
    asked = [create(d.name("t"), -1, -1)]
    d.ask("created", CreateTopicsRequest(asked, 5000, True), view=without_configs)
    topic = d.topic("u", 3)
    keys = ["segment.bytes", "retention.ms", "min.insync.replicas", "max.message.bytes", "compression.type"]
    d.ask("inherited", describe((TOPIC, topic, [*keys, "message.timestamp.type"])), 4, view=by_name)
    static = ["log.retention.hours", "log.retention.ms", "log.segment.bytes", "num.partitions"]
    d.ask("static", describe((BROKER, "1", static)), 4, view=by_name)
    other = d.topic("v", 4)
    for limit in (2000, 2, 4):
        request = DescribeTopicPartitionsRequest([TopicRequest(topic), TopicRequest(other)], limit)
        d.ask(f"described, at most {limit}", request)


@on_unusual
def limits_of_the_broker(d: Dialogue) -> None:
    topic = d.topic("t", 3)
    d.ask("too large", produce(topic, Batch((b"x" * 4000,), timestamp_ms=T0_MS).encode()), (3, 9, 12))
    d.ask("large", produce(topic, Batch((b"x" * 2900,), timestamp_ms=T0_MS).encode()), 9)
    larger = d.topic("larger", max_message_bytes="10000")
    d.ask("the topic allows more", produce(larger, Batch((b"x" * 4000,), timestamp_ms=T0_MS).encode()), 9)
    for index in (1, 2):
        d.ask(f"acks=all on {index}", produce(topic, GOOD_BYTES, index=index), 9)
        for _ in range(4):
            d.peer.exchange(produce(topic, Batch((b"y" * 700,), timestamp_ms=T0_MS).encode(), index=index), 9)
    d.ask("fetch more than allowed", fetch(d, "t", at(0, 1), at(0, 2)), (4, 12, 18))
    d.ask("the first is above the limit", fetch(d, "t", at(0), at(0, 1)), (4, 12, 18))
    session = fetch(d, "t", at(0, 1), session=(0, 0))
    d.ask("no room for sessions", session, (7, 12, 18))
    d.ask("a session that cannot be", fetch(d, "t", topics=[], session=(77, 1)), (7, 12, 18))
    stored(d, "t", 1)
    d.peer.send_bytes(struct.pack(">i", 100_001))
    answer = d.peer.receive_frame(1.0)
    d.note("a frame above the limit", answer.value if isinstance(answer, Silence) else "an answer")
