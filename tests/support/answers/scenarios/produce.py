"""Produce: what is refused, with which code, and what is stored."""

from __future__ import annotations

import dataclasses
import struct

from tests.support.answers.dialogue import Dialogue
from tests.support.answers.peer import SILENT_S
from tests.support.answers.scenario import scenario
from tests.support.batches import Batch

from barnabas.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from barnabas.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from barnabas.records.compress import Codec, compress

T0_MS = 1_700_000_000_000
GOOD = Batch((b"one", b"two", b"three"), key=b"k", timestamp_ms=T0_MS)
GOOD_BYTES = GOOD.encode()
LATEST = 13


def produce(
    topic: str, records: bytes | None, *, index: int = 0, acks: int = -1, topic_id: bytes = bytes(16)
) -> ProduceRequest:
    return ProduceRequest(
        None, acks, 5000, [TopicProduceData(topic_id, topic, [PartitionProduceData(index, records)])]
    )


def stored(d: Dialogue, short: str, index: int = 0) -> None:
    """What a reader gets: offsets, epoch, attributes and times as the broker wrote them."""
    asked = FetchTopic(d.topic_id(short), d.name(short), [FetchPartition(index, -1, 0, -1, -1, 1 << 20)])
    request = FetchRequest(None, None, -1, 0, 0, 1 << 20, 0, 0, -1, [asked], [], "")
    d.ask(f"stored in {short}-{index}", request, 12)


@scenario
def produce_normal(d: Dialogue) -> None:
    topic, topic_id = d.topic("t"), None
    topic_id = d.topic_id("t")
    for acks in (-1, 1):
        d.ask(f"acks={acks}", produce(topic, GOOD_BYTES, acks=acks, topic_id=topic_id))
    for acks in (2, -2, 100):
        d.ask(f"acks={acks}", produce(topic, GOOD_BYTES, acks=acks, topic_id=topic_id))
    d.ask("unknown topic", produce(d.name("no"), GOOD_BYTES, topic_id=b"u" * 16))
    d.ask("unknown partition", produce(topic, GOOD_BYTES, index=1, topic_id=topic_id))
    d.ask("negative partition", produce(topic, GOOD_BYTES, index=-1, topic_id=topic_id))
    d.ask("zero topic id", produce("", GOOD_BYTES))
    d.ask("invalid name", produce("a/b", GOOD_BYTES), range(3, 13))
    d.ask("no topics", ProduceRequest(None, -1, 5000, []))
    d.ask("no topics, acks=2", ProduceRequest(None, 2, 5000, []))
    d.ask("no partitions", ProduceRequest(None, -1, 5000, [TopicProduceData(topic_id, topic, [])]))
    d.ask("null records", produce(topic, None, topic_id=topic_id), LATEST, timeout_s=SILENT_S)
    d.ask("empty records", produce(topic, b"", topic_id=topic_id), (9, LATEST))
    d.ask(
        "negative timeout",
        ProduceRequest(None, -1, -5, produce(topic, GOOD_BYTES, topic_id=topic_id).topic_data),
    )
    d.ask(
        "transactional id, plain batch",
        ProduceRequest("tx", -1, 5, produce(topic, GOOD_BYTES, topic_id=topic_id).topic_data),
    )


@scenario
def produce_several_partitions(d: Dialogue) -> None:
    topic = d.topic("t", 3)
    other = d.topic("other", 1)
    ids = (d.topic_id("t"), d.topic_id("other"))
    rows = [PartitionProduceData(index, GOOD_BYTES) for index in (2, 0, 7, 1)]
    d.ask(
        "good and bad",
        ProduceRequest(
            None,
            -1,
            5000,
            [
                TopicProduceData(ids[0], topic, rows),
                TopicProduceData(b"u" * 16, d.name("no"), rows[:1]),
                TopicProduceData(ids[1], other, rows[1:2]),
            ],
        ),
        view=_sorted,
    )
    twice = [
        PartitionProduceData(0, GOOD_BYTES),
        PartitionProduceData(0, Batch((b"x",), timestamp_ms=T0_MS).encode()),
    ]
    d.ask(
        "a partition twice",
        ProduceRequest(None, -1, 5000, [TopicProduceData(ids[0], topic, twice)]),
        view=_sorted,
    )
    apart = [TopicProduceData(ids[0], topic, twice[:1]), TopicProduceData(ids[0], topic, rows[:1])]
    d.ask("a topic twice", ProduceRequest(None, -1, 5000, apart), view=_sorted)


def _sorted(shown: dict[str, object]) -> object:
    """The order of topics and partitions is that of a hash map."""
    topics = shown.get("responses", [])
    assert isinstance(topics, list)
    for topic in topics:
        topic.get("partition_responses", []).sort(key=lambda row: row.get("index", 0))
    topics.sort(key=lambda topic: (topic.get("name", ""), topic.get("topic_id", "")))
    return shown


def bad_batches() -> dict[str, bytes]:
    change = dataclasses.replace
    good = GOOD_BYTES
    return {
        "wrong checksum": change(GOOD, crc=1).encode(),
        "magic 0": change(GOOD, magic=0).encode(),
        "magic 1": change(GOOD, magic=1).encode(),
        "magic 3": change(GOOD, magic=3).encode(),
        "magic -1": change(GOOD, magic=-1).encode(),
        "length too short": change(GOOD, length=20).encode(),
        "length too long": change(GOOD, length=len(good)).encode(),
        "length negative": change(GOOD, length=-1).encode(),
        "length huge": change(GOOD, length=2**31 - 1).encode(),
        "length cuts the records": change(GOOD, length=len(good) - 15).encode(),
        "count too large": change(GOOD, record_count=4).encode(),
        "count too small": change(GOOD, record_count=2).encode(),
        "count zero": change(GOOD, record_count=0).encode(),
        "count negative": change(GOOD, record_count=-1).encode(),
        "count and delta too large": change(GOOD, record_count=4, last_offset_delta=3).encode(),
        "count and delta too small": change(GOOD, record_count=2, last_offset_delta=1).encode(),
        "delta too large": change(GOOD, last_offset_delta=5).encode(),
        "delta negative": change(GOOD, last_offset_delta=-1).encode(),
        "delta huge": change(GOOD, last_offset_delta=2**31 - 1).encode(),
        "no records": change(GOOD, values=()).encode(),
        "no records, delta 0, count 1": change(GOOD, values=(), record_count=1, last_offset_delta=0).encode(),
        "garbage payload": change(GOOD, payload=b"\xff" * 30).encode(),
        "payload with bytes left": change(GOOD, payload=GOOD._records() + b"\0\0\0").encode(),
        "control batch": change(GOOD, attributes=0x20).encode(),
        "transactional batch": change(
            GOOD, attributes=0x10, producer_id=77, producer_epoch=0, base_sequence=0
        ).encode(),
        "transactional batch without producer": change(GOOD, attributes=0x10).encode(),
        "log append time": change(GOOD, attributes=0x08).encode(),
        "delete horizon": change(GOOD, attributes=0x40).encode(),
        "unknown codec 5": change(GOOD, attributes=5).encode(),
        "unknown codec 7": change(GOOD, attributes=7).encode(),
        "says gzip, is not": change(GOOD, attributes=1).encode(),
        "says snappy, is not": change(GOOD, attributes=2).encode(),
        "says lz4, is not": change(GOOD, attributes=3).encode(),
        "says zstd, is not": change(GOOD, attributes=4).encode(),
        "two batches": good + good,
        "a batch and a half": good + good[:30],
        "a batch and some zeros": good + bytes(20),
        "half a batch": good[:40],
        "sixty bytes": good[:60],
        "only a length": good[:12],
        "three bytes": good[:3],
        "base offset not zero": struct.pack(">q", 5) + good[8:],
        "base offset negative": struct.pack(">q", -1) + good[8:],
        "leader epoch set": good[:12] + struct.pack(">i", 9) + good[16:],
        "producer without sequence": change(GOOD, producer_id=5, producer_epoch=0).encode(),
        "producer without epoch": change(GOOD, producer_id=5, base_sequence=0).encode(),
        "sequence without producer": change(GOOD, base_sequence=5).encode(),
        "timestamp -1": change(GOOD, timestamp_ms=-1).encode(),
        "timestamp -5": change(GOOD, timestamp_ms=-5).encode(),
        "timestamp in a year": change(GOOD, timestamp_ms=T0_MS * 2).encode(),
    }  # fmt: skip


@scenario
def produce_bad_batches(d: Dialogue) -> None:
    """A partition for each, so that a batch that one broker takes does not move the others' offsets."""
    batches = bad_batches()
    topic = d.topic("t", len(batches))
    for index, (label, records) in enumerate(batches.items()):
        d.ask(label, produce(topic, records, index=index, topic_id=d.topic_id("t")), (3, 7, 9, LATEST))


@scenario
def produce_bad_batches_to_compacted(d: Dialogue) -> None:
    batches = bad_batches()
    topic = d.topic("t", len(batches), cleanup_policy="compact")
    for index, (label, records) in enumerate(batches.items()):
        d.ask(label, produce(topic, records, index=index, topic_id=d.topic_id("t")), LATEST)
    for label, keyless in {"no key": Batch((b"a", b"b", b"c", b"d", b"e"), timestamp_ms=T0_MS)}.items():
        d.ask(label, produce(topic, keyless.encode(), topic_id=d.topic_id("t")))


@scenario
def produce_codecs(d: Dialogue) -> None:
    topic = d.topic("t")
    for codec in Codec:
        payload = GOOD._records() if codec is Codec.NONE else bytes(compress(codec, GOOD._records()))
        records = dataclasses.replace(GOOD, attributes=codec.value, payload=payload).encode()
        d.ask(codec.name, produce(topic, records, topic_id=d.topic_id("t")))
    plain = d.topic("plain", compression_type="uncompressed")
    for codec in Codec:
        payload = GOOD._records() if codec is Codec.NONE else bytes(compress(codec, GOOD._records()))
        records = dataclasses.replace(GOOD, attributes=codec.value, payload=payload).encode()
        d.ask(f"{codec.name}, stored plain", produce(plain, records, topic_id=d.topic_id("plain")), LATEST)
    stored(d, "plain")


@scenario
def produce_timestamps(d: Dialogue) -> None:
    limits = {"message_timestamp_before_max_ms": "100000", "message_timestamp_after_max_ms": "1000"}
    strict = d.topic("strict", 1, **limits)
    d.ask("too old", produce(strict, GOOD_BYTES, topic_id=d.topic_id("strict")))
    late = dataclasses.replace(GOOD, timestamp_ms=T0_MS * 2).encode()
    d.ask("too new", produce(strict, late, topic_id=d.topic_id("strict")))
    appended = d.topic("appended", message_timestamp_type="LogAppendTime")
    d.ask("log append time", produce(appended, GOOD_BYTES, topic_id=d.topic_id("appended")))
    d.ask("log append time, too new", produce(appended, late, topic_id=d.topic_id("appended")), LATEST)
    marked = dataclasses.replace(GOOD, attributes=8).encode()
    d.ask("already marked", produce(appended, marked, topic_id=d.topic_id("appended")), LATEST)
    stored(d, "appended")
    small = d.topic("small", max_message_bytes="100")
    d.ask(
        "too large",
        produce(small, Batch((b"x" * 200,), timestamp_ms=T0_MS).encode(), topic_id=d.topic_id("small")),
    )
    d.ask(
        "just fits",
        produce(small, Batch((b"x" * 31,), timestamp_ms=T0_MS).encode(), topic_id=d.topic_id("small")),
    )
    d.ask(
        "one more",
        produce(small, Batch((b"x" * 32,), timestamp_ms=T0_MS).encode(), topic_id=d.topic_id("small")),
    )
    two = d.topic("two", min_insync_replicas="2")
    d.ask("not enough replicas", produce(two, GOOD_BYTES, topic_id=d.topic_id("two")))
    d.ask("acks=1 does not care", produce(two, GOOD_BYTES, acks=1, topic_id=d.topic_id("two")))


@scenario
def produce_without_acks(d: Dialogue) -> None:
    """acks=0: no answer when it went well, the connection closed when not."""
    from barnabas.protocol.messages.api_versions import ApiVersionsRequest

    topic = d.topic("t")
    cases = {
        "good": produce(topic, GOOD_BYTES, acks=0, topic_id=d.topic_id("t")),
        "unknown topic": produce(d.name("no"), GOOD_BYTES, acks=0, topic_id=b"u" * 16),
        "unknown partition": produce(topic, GOOD_BYTES, acks=0, index=5, topic_id=d.topic_id("t")),
        "bad batch": produce(
            topic, dataclasses.replace(GOOD, crc=1).encode(), acks=0, topic_id=d.topic_id("t")
        ),
        "no topics": ProduceRequest(None, 0, 5000, []),
    }
    for version in (3, 8, 9, 12, 13):
        for label, request in cases.items():
            d.peer.send(request, version)
            d.peer.send(ApiVersionsRequest("a", "1"), 0)
            answer = d.peer.receive(18, 0)
            d.note(
                f"{label}, v{version}",
                "the next request is answered" if not hasattr(answer, "value") else answer.value,
            )


@scenario
def produce_idempotent(d: Dialogue) -> None:
    topic = d.topic("t", 12)
    topic_id = d.topic_id("t")

    def batch(sequence: int, epoch: int = 0, count: int = 1, producer: int = 901) -> bytes:
        return Batch(
            (b"v",) * count,
            timestamp_ms=T0_MS,
            producer_id=producer,
            producer_epoch=epoch,
            base_sequence=sequence,
        ).encode()

    def say(label: str, index: int, *steps: tuple[int, int, int]) -> None:
        for number, (sequence, epoch, count) in enumerate(steps):
            d.ask(
                f"{label} #{number}: sequence {sequence} epoch {epoch} count {count}",
                produce(topic, batch(sequence, epoch, count), index=index, topic_id=topic_id),
                LATEST,
            )

    say("in order", 0, (0, 0, 1), (1, 0, 3), (4, 0, 1))
    say("duplicate of the last", 0, (4, 0, 1), (1, 0, 3))
    say("duplicate with another count", 0, (4, 0, 2), (1, 0, 2))
    say("gap", 0, (6, 0, 1), (5, 0, 1))
    say("beyond the window", 1, *[(n, 0, 1) for n in range(7)])
    say("beyond the window, again", 1, (0, 0, 1), (1, 0, 1), (2, 0, 1), (6, 0, 1), (7, 0, 1))
    say("first sequence is not zero", 2, (5, 0, 1), (6, 0, 1), (5, 0, 1), (0, 0, 1))
    say("newer epoch", 3, (0, 0, 1), (1, 1, 1), (0, 1, 1), (1, 1, 1), (0, 0, 1), (2, 0, 1))
    say("epoch jump", 4, (0, 3, 1), (0, 7, 1), (1, 6, 1), (0, 7, 1))
    say("wrap", 5, (2**31 - 2, 0, 2), (0, 0, 1), (1, 0, 1), (2**31 - 2, 0, 2))
    say("wrap inside a batch", 6, (2**31 - 2, 0, 4), (2, 0, 1), (2**31 - 2, 0, 4))
    d.ask("another producer", produce(topic, batch(0, producer=902), index=0, topic_id=topic_id), LATEST)
    d.ask("epoch -1", produce(topic, batch(0, epoch=-1, producer=903), index=7, topic_id=topic_id), LATEST)
    d.ask("producer id -2", produce(topic, batch(0, producer=-2), index=8, topic_id=topic_id), LATEST)
    for index in (0, 3, 5, 6):
        stored(d, "t", index)
    for version in range(3, 14):
        d.ask(f"gap in v{version}", produce(topic, batch(50), index=0, topic_id=topic_id), version)
    from barnabas.protocol.messages.describe_producers import DescribeProducersRequest, TopicRequest

    d.ask("who writes", DescribeProducersRequest([TopicRequest(topic, [0, 1, 3, 5, 6, 9, 77])]))
    d.ask("unknown topic", DescribeProducersRequest([TopicRequest(d.name("no"), [0])]))
    d.ask("no partitions", DescribeProducersRequest([TopicRequest(topic, [])]))
    d.ask("no topics", DescribeProducersRequest([]))
    d.ask("invalid name", DescribeProducersRequest([TopicRequest("a/b", [0])]))
    d.ask("partition twice", DescribeProducersRequest([TopicRequest(topic, [9, 9])]))
