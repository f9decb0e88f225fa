"""Produce requests with more than one thing wrong: what is said first, and to whom."""

from __future__ import annotations

import dataclasses
from typing import Any

from tests.support.answers.dialogue import Dialogue
from tests.support.answers.owner import TRANSACTIONAL, Owner
from tests.support.answers.scenario import scenario
from tests.support.answers.scenarios.odd_rows import in_any_order
from tests.support.answers.scenarios.produce import GOOD, GOOD_BYTES

from barnabas.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from barnabas.records.batch import HEADER_SIZE, LOG_APPEND_TIME_MASK
from barnabas.records.compress import Codec, compress

INTERNAL = "__transaction_state"
LENGTH_ZERO = bytes(12)
MAGIC_3 = dataclasses.replace(GOOD, magic=3).encode()
TWO_BATCHES = GOOD_BYTES + GOOD_BYTES
BY_NAME = range(3, 13)
BEFORE_ZSTD = range(3, 7)


def transactional(producer_id: int, attributes: int = 0) -> bytes:
    """A batch of a producer that nobody knows."""
    batch = dataclasses.replace(
        GOOD,
        attributes=TRANSACTIONAL | attributes,
        producer_id=producer_id,
        producer_epoch=0,
        base_sequence=0,
    )
    if attributes == Codec.ZSTD:
        batch = dataclasses.replace(batch, payload=compress(Codec.ZSTD, b""))
    return batch.encode()


class _Asker:
    def __init__(self, d: Dialogue, transactional_id: str) -> None:
        self._d = d
        self._transactional_id = transactional_id
        self._topic, self._other = d.topic("t", 2), d.name("no")

    def __call__(
        self, label: str, *rows: tuple[str, int, bytes], acks: int = -1, plain: bool = False, **more: Any
    ) -> None:
        """Rows name "t", "no" (which does not exist) or an internal topic."""
        names = {"t": self._topic, "no": self._other}
        topics = [
            TopicProduceData(bytes(16), names.get(name, name), [PartitionProduceData(index, records)])
            for name, index, records in rows
        ]
        request = ProduceRequest(None if plain else self._transactional_id, acks, 5000, topics)
        self._d.ask(label, request, more.get("versions", BY_NAME), view=in_any_order)


@scenario
def produce_bytes_come_first(d: Dialogue) -> None:
    Owner(d, "y").ready()  # so that the internal topic is there
    ask = _Asker(d, d.name("x"))
    good = ("t", 0, GOOD_BYTES)
    ask("no length, and a good one", good, ("t", 1, LENGTH_ZERO), plain=True)
    ask("magic 3, then the same partition", ("t", 0, MAGIC_3), good, plain=True)
    ask("magic 3 of an unknown topic", good, ("no", 0, MAGIC_3), plain=True)
    ask("acks 2, two batches", ("t", 0, TWO_BATCHES), acks=2, plain=True)
    ask("internal, acks 2", (INTERNAL, 0, GOOD_BYTES), acks=2, plain=True)
    ask("internal, two batches", (INTERNAL, 0, TWO_BATCHES), plain=True)
    ask("internal", (INTERNAL, 0, GOOD_BYTES), plain=True)


@scenario
def produce_in_transactions_is_judged_late(d: Dialogue) -> None:
    Owner(d, "y").ready()
    ask = _Asker(d, d.name("x"))
    one, another = transactional(4242), transactional(4243)
    ask("zstd too early", ("t", 0, transactional(4242, Codec.ZSTD)), versions=BEFORE_ZSTD)
    ask("zstd too early, acks 2", ("t", 0, transactional(4242, Codec.ZSTD)), acks=2, versions=BEFORE_ZSTD)
    ask("two batches", ("t", 0, one + one))
    ask("two producers", ("t", 0, one), ("t", 1, another))
    ask("two producers, one to nowhere", ("t", 0, one), ("no", 0, another))
    ask("two producers, one with two batches", ("t", 0, one), ("t", 1, another + another))
    ask("magic 3 behind a transactional batch", ("t", 0, one), ("t", 1, MAGIC_3))
    ask("magic 3 behind it, to nowhere", ("t", 0, one), ("no", 0, MAGIC_3))
    ask("magic 3 in front of it", ("t", 0, MAGIC_3), ("t", 1, one))
    ask("acks 2", ("t", 0, one), acks=2)


@scenario
def produce_claims_the_time_of_the_log(d: Dialogue) -> None:
    for short, settings in {
        "plain": {},
        "dated-by-log": {"message_timestamp_type": "LogAppendTime"},
        "unpacked": {"compression_type": "uncompressed"},
        "packed": {"compression_type": "gzip"},
    }.items():
        topic = d.topic(short, 1, **settings)
        for codec in (Codec.NONE, Codec.GZIP, Codec.LZ4):
            batch = dataclasses.replace(GOOD, key=None, attributes=LOG_APPEND_TIME_MASK | codec)
            if codec is not Codec.NONE:
                payload = dataclasses.replace(GOOD, key=None).encode()[HEADER_SIZE:]
                batch = dataclasses.replace(batch, payload=compress(codec, payload))
            rows = [PartitionProduceData(0, batch.encode())]
            request = ProduceRequest(None, -1, 5000, [TopicProduceData(bytes(16), topic, rows)])
            d.ask(f"{codec.name} to {short}", request, (7, 8, 12))
