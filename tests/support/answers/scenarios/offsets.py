"""ListOffsets, OffsetForLeaderEpoch, DeleteRecords, InitProducerId."""

from __future__ import annotations

import struct
import time
from typing import Any

import crc32c
from tests.support.answers.dialogue import Dialogue
from tests.support.answers.scenario import scenario
from tests.support.answers.scenarios.fetch import fill
from tests.support.answers.scenarios.produce import T0_MS, produce
from tests.support.batches import Batch, zigzag

from barnabas.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from barnabas.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from barnabas.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from barnabas.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from barnabas.records.compress import Codec, compress


def list_offsets(
    topic: str, *rows: tuple[int, int], isolation: int = 0, epoch: int = -1, replica: int = -1
) -> ListOffsetsRequest:
    """Rows of partition and timestamp."""
    asked = [ListOffsetsPartition(index, epoch, timestamp) for index, timestamp in rows]
    return ListOffsetsRequest(replica, isolation, [ListOffsetsTopic(topic, asked)], 1000)


@scenario
def list_offsets_by_time(d: Dialogue) -> None:
    topic = d.topic("t", 3)
    fill(d, "t")
    for timestamp in (-1, -2, -3, -4, -5, -6, -7, -100, 0):
        d.ask(f"timestamp {timestamp}", list_offsets(topic, (0, timestamp)))
        d.ask(f"timestamp {timestamp} of nothing", list_offsets(topic, (1, timestamp)))
        d.ask(
            f"timestamp {timestamp}, read committed",
            list_offsets(topic, (0, timestamp), isolation=1),
            (2, 7, 11),
        )
    for moment in (T0_MS - 1, T0_MS, T0_MS + 1, T0_MS + 1000, T0_MS + 2000, T0_MS + 2001, 2**63 - 1):
        d.ask(f"moment {moment - T0_MS if moment < 2**60 else 'max'}", list_offsets(topic, (0, moment)))
    d.ask("isolation 5", list_offsets(topic, (0, -1), isolation=5))
    for epoch in (-2, 0, 1, 9):
        d.ask(f"epoch {epoch}", list_offsets(topic, (0, -1), epoch=epoch), range(4, 12))
    d.ask("partition twice", list_offsets(topic, (0, -1), (0, -2)))
    mixed = list_offsets(topic, (0, -1), (1, -2), (0, -2))
    d.ask("partition twice and another", mixed, 7, view=_partitions_in_order)
    apart = list_offsets(topic, (0, -1))
    apart.topics = [*apart.topics, *list_offsets(topic, (1, -1), (2, -1)).topics]
    d.ask("topic twice", apart, 7, view=_partitions_in_order)
    d.ask("unknown partition", list_offsets(topic, (9, -1)))
    d.ask("negative partition", list_offsets(topic, (-1, -1)))
    d.ask("unknown topic", list_offsets(d.name("no"), (0, -1)))
    d.ask("unknown topic by time", list_offsets(d.name("no"), (0, 5)))
    d.ask("unknown topic, unknown timestamp", list_offsets(d.name("no"), (0, -50)))
    d.ask("invalid name", list_offsets("a/b", (0, -1)))
    d.ask("empty name", list_offsets("", (0, -1)))
    d.ask("no topics", ListOffsetsRequest(-1, 0, [], 100))
    d.ask("no partitions", list_offsets(topic))
    for replica in (-2, 1, 5):
        d.ask(f"replica {replica}", list_offsets(topic, (0, -1), replica=replica))
    asked = [DeleteRecordsPartition(0, 4)]
    d.ask("delete below 4", DeleteRecordsRequest([DeleteRecordsTopic(topic, asked)], 5000))
    for timestamp in (-2, -3, -4, 0, T0_MS, T0_MS + 1000):
        d.ask(f"after deletion {timestamp}", list_offsets(topic, (0, timestamp)), (1, 4, 8, 11))


def _partitions_in_order(shown: Any) -> Any:
    for topic in shown["topics"]:
        topic["partitions"].sort(key=lambda row: row.get("partition_index", 0))
    return shown


@scenario
def list_offsets_inside_batches(d: Dialogue) -> None:
    """Records of one batch with times of their own, out of order: plain, compressed, with an append time."""
    payload = records_at(0, 50, 10, 70, 70, 20)
    plain = Batch((b"",) * 6, timestamp_ms=T0_MS, payload=payload).encode()
    batch = with_max_timestamp(plain, T0_MS + 70)
    packed = Batch(
        (b"",) * 6, timestamp_ms=T0_MS, attributes=1, payload=compress(Codec.GZIP, payload)
    ).encode()
    for short, records, configs in (
        ("plain", batch, {}),
        ("packed", with_max_timestamp(packed, T0_MS + 70), {}),
        ("appended", batch, {"message_timestamp_type": "LogAppendTime"}),
    ):
        topic = d.topic(short, 1, **configs)
        for _ in range(2):
            d.peer.exchange(produce(topic, records), 9)
            time.sleep(0.005)  # two append times
        for moment in (-3, 0, T0_MS, T0_MS + 1, T0_MS + 50, T0_MS + 51, T0_MS + 70, T0_MS + 71):
            label = moment if moment <= 0 else f"T+{moment - T0_MS}"
            d.ask(f"{short}: {label}", list_offsets(topic, (0, moment)), (1, 7, 11))


def records_at(*deltas_ms: int) -> bytes:
    rows = []
    for index, delta in enumerate(deltas_ms):
        body = b"\0" + zigzag(delta) + zigzag(index) + zigzag(-1) + zigzag(1) + b"v" + zigzag(0)
        rows.append(zigzag(len(body)) + body)
    return b"".join(rows)


def with_max_timestamp(batch: bytes, timestamp_ms: int) -> bytes:
    changed = batch[:35] + struct.pack(">q", timestamp_ms) + batch[43:]
    return changed[:17] + struct.pack(">I", crc32c.crc32c(changed[21:])) + changed[21:]


@scenario
def offset_for_leader_epoch(d: Dialogue) -> None:
    topic = d.topic("t", 2)
    fill(d, "t")

    def ask(label: str, name: str, *rows: tuple[int, int, int], replica: int = -1) -> None:
        asked = [OffsetForLeaderPartition(*row) for row in rows]
        d.ask(label, OffsetForLeaderEpochRequest(replica, [OffsetForLeaderTopic(name, asked)]))

    for epoch in (-2, -1, 0, 1, 5, 2**31 - 1):
        ask(f"epoch {epoch}", topic, (0, -1, epoch))
        ask(f"epoch {epoch} of nothing", topic, (1, -1, epoch))
    for current in (-2, 0, 1, 9):
        ask(f"current epoch {current}", topic, (0, current, 0))
    ask("unknown partition", topic, (9, -1, 0))
    ask("negative partition", topic, (-1, -1, 0))
    ask("unknown topic", d.name("no"), (0, -1, 0))
    ask("invalid name", "a/b", (0, -1, 0))
    ask("no partitions", topic)
    ask("partition twice", topic, (0, -1, 0), (0, -1, 1))
    ask("debugging replica", topic, (0, -1, 0), replica=-2)
    ask("a follower that is none", topic, (0, -1, 0), replica=7)
    d.ask("no topics", OffsetForLeaderEpochRequest(-1, []))
    rows = [OffsetForLeaderPartition(0, -1, 0)]
    twice = [
        OffsetForLeaderTopic(topic, rows),
        OffsetForLeaderTopic(topic, [OffsetForLeaderPartition(1, -1, 0)]),
    ]
    d.ask("topic twice", OffsetForLeaderEpochRequest(-1, twice))


@scenario
def delete_records(d: Dialogue) -> None:
    topic = d.topic("t", 3)
    fill(d, "t")

    def ask(label: str, name: str, *rows: tuple[int, int], timeout_ms: int = 5000) -> None:
        asked = [DeleteRecordsPartition(*row) for row in rows]
        d.ask(label, DeleteRecordsRequest([DeleteRecordsTopic(name, asked)], timeout_ms))

    ask("to 0", topic, (0, 0))
    ask("to the middle of a batch", topic, (0, 1))
    ask("back to 0", topic, (0, 0))
    ask("to 4", topic, (0, 4))
    ask("beyond the end", topic, (0, 10))
    ask("to -2", topic, (0, -2))
    ask("to 2**62", topic, (0, 2**62))
    ask("all", topic, (0, -1))
    ask("all again", topic, (0, -1))
    ask("nothing there", topic, (1, -1))
    ask("nothing there, to 1", topic, (1, 1))
    ask("unknown partition", topic, (9, 0))
    ask("negative partition", topic, (-1, 0))
    ask("unknown topic", d.name("no"), (0, 0))
    ask("invalid name", "a/b", (0, 0))
    ask("no partitions", topic)
    ask("partition twice", topic, (1, 0), (1, 5))
    ask("timeout 0", topic, (1, 0), timeout_ms=0)
    ask("negative timeout", topic, (1, 0), timeout_ms=-1)
    d.ask("no topics", DeleteRecordsRequest([], 5000))
    compacted = d.topic("compacted", cleanup_policy="compact")
    ask("compacted", compacted, (0, 0))
    both = d.topic("both", cleanup_policy="compact,delete")
    ask("compacted and deleted", both, (0, 0))
    none = d.topic("none", cleanup_policy="")
    ask("neither", none, (0, 0))


@scenario
def init_producer_id(d: Dialogue) -> None:
    for _ in range(1200):  # a broker that just started has no ids yet
        answer = d.peer.exchange(InitProducerIdRequest(None, 60000), 4)
        if isinstance(answer, InitProducerIdResponse) and answer.error_code == 0:
            break
        time.sleep(0.05)
    for producer, epoch in ((-1, -1), (5, 0), (5, -1), (-1, 3), (-2, -2), (2**40, 32767)):
        request = InitProducerIdRequest(None, 60000, producer, epoch)
        d.ask(f"producer {producer} epoch {epoch}", request)
    d.ask("timeout 0", InitProducerIdRequest(None, 0))
    d.ask("negative timeout", InitProducerIdRequest(None, -1))
    d.ask("huge timeout", InitProducerIdRequest(None, 2**31 - 1))
    d.ask("empty transactional id", InitProducerIdRequest("", 60000))
    topic = d.topic("t")
    batch = Batch((b"v",), timestamp_ms=T0_MS, producer_id=123456, producer_epoch=0, base_sequence=0)
    d.ask("a producer id nobody gave", produce(topic, batch.encode()), 9)
