"""Batches that must be opened: a worker does it, others go on, and the answer is the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.support.node import NOW_MS, SmallNode, frame

from barnabas.broker.session import Session
from barnabas.model.errors import ErrorCode
from barnabas.model.image import PartitionChanged
from barnabas.protocol import codec
from barnabas.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from barnabas.records.batch import headers
from barnabas.records.build import build_batch
from barnabas.records.compress import Codec
from barnabas.records.walk import Record

PRODUCE, VERSION = 0, 9


class Patient:
    """Workers that do nothing until they are told to."""

    def __init__(self) -> None:
        self.jobs: list[Callable[[], None]] = []

    def submit(
        self, work: Callable[[], object], done: Callable[[object, BaseException | None], None]
    ) -> None:
        def run() -> None:
            try:
                result = work()
            except ZeroDivisionError as error:
                done(None, error)
            else:
                done(result, None)

        self.jobs.append(run)

    def go(self) -> None:
        jobs, self.jobs = self.jobs, []
        for job in jobs:
            job()


class Desk:
    def __init__(self, **configs: str) -> None:
        self.small = SmallNode()
        self.small.create_topic("t", **configs)
        self.workers = Patient()
        self.small.node.workers = self.workers
        self.session, self._later = self.small.session()

    def produce(
        self, records: bytes | bytearray, acks: int = 1, session: Session | None = None
    ) -> bytes | None:
        data = PartitionProduceData(0, bytes(records))
        request = ProduceRequest(
            acks=acks, timeout_ms=1000, topic_data=[TopicProduceData(name="t", partition_data=[data])]
        )
        return self.small.ask(session or self.session, frame(PRODUCE, VERSION, request))

    def answer(self, reply: bytes | None = None) -> PartitionProduceResponse:
        found = codec.read_response(PRODUCE, VERSION, memoryview(reply or self._later.pop())[4:])[1]
        assert isinstance(found, ProduceResponse)
        return found.responses[0].partition_responses[0]

    def stored(self) -> list[tuple[int, int]]:
        """(codec, count) of each batch."""
        log = self.small.node.logs.logs[next(iter(self.small.node.logs.logs))]
        data = log.active.file.read(0, log.active.size)
        return [(header.codec, header.count) for _, header in headers(memoryview(data), 0, len(data))]


def batch(count: int, codec_id: Codec = Codec.LZ4, key: bytes | None = b"k", size: int = 10) -> bytearray:
    records = [Record(index, NOW_MS, key, b"v" * size) for index in range(count)]
    return build_batch(records, codec=codec_id)


def test_others_write_while_a_batch_is_opened_and_repacked() -> None:
    desk = Desk(compression_type="zstd")
    assert desk.produce(batch(3)) is None
    other, _ = desk.small.session()
    assert desk.answer(desk.produce(batch(1, Codec.ZSTD), session=other)).base_offset == 0
    desk.workers.go()
    found = desk.answer()
    assert (found.error_code, found.base_offset) == (0, 1)
    assert desk.stored() == [(Codec.ZSTD, 1), (Codec.ZSTD, 3)]


def test_a_large_batch_of_a_compacted_topic_is_not_opened_on_the_loop() -> None:
    desk = Desk(cleanup_policy="compact")
    assert desk.produce(batch(100, Codec.NONE, size=1000)) is None
    desk.workers.go()
    assert desk.answer().error_code == 0
    assert desk.stored() == [(Codec.NONE, 100)]


@pytest.mark.parametrize(
    "records", [batch(3, Codec.NONE), batch(3, Codec.ZSTD)], ids=["small", "compressed already"]
)
def test_what_is_done_soon_is_done_at_once(records: bytearray) -> None:
    desk = Desk(compression_type="zstd")
    assert desk.answer(desk.produce(records)).base_offset == 0


def test_a_record_that_is_refused_is_named() -> None:
    desk = Desk(cleanup_policy="compact")
    assert desk.produce(batch(2, key=None)) is None
    desk.workers.go()
    found = desk.answer()
    assert found.error_code == ErrorCode.INVALID_RECORD
    assert [row.batch_index for row in found.record_errors] == [0, 1]
    assert desk.stored() == []


def test_a_wrong_checksum_is_found_before_anything_is_opened() -> None:
    desk = Desk(cleanup_policy="compact")
    damaged = batch(2)
    damaged[-1] ^= 1
    assert desk.produce(damaged) is None
    desk.workers.go()
    assert desk.answer().error_code == ErrorCode.CORRUPT_MESSAGE


def test_whoever_leads_no_longer_when_it_is_opened_appends_nothing() -> None:
    desk = Desk(cleanup_policy="compact")
    node = desk.small.node
    assert desk.produce(batch(2)) is None
    before = node.image.topics["t"].partitions[0]
    node.publish((PartitionChanged("t", replace(before, leader=2, leader_epoch=before.leader_epoch + 1)),))
    desk.workers.go()
    assert desk.answer().error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert desk.stored() == []


def test_an_error_without_acknowledgements_still_closes_the_connection() -> None:
    desk = Desk(cleanup_policy="compact")
    reason = desk.produce(batch(2, key=None), acks=0)
    assert reason is not None
    assert b"acks=0 produce" in reason


def test_a_fault_of_our_own_costs_one_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(cleanup_policy="compact")
    assert desk.produce(batch(2)) is None

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("barnabas.log.inspection.sound_batches", fail)
    desk.workers.go()
    assert desk.answer().error_code == ErrorCode.UNKNOWN_SERVER_ERROR
